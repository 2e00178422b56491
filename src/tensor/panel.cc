#include "tensor/panel.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/checked_math.h"
#include "tensor/quant_block.h"

namespace vitro {
namespace {

constexpr int64_t kPanelAlignment = 64;
/// Columns that unpacking takes back to file order at a time; a multiple of every block.
constexpr int64_t kUnpackColumns = 256;

template <class T>
T load_as(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}
template <class T>
void store_as(T value, std::byte* p) {
  std::memcpy(p, &value, sizeof(T));
}

template <DType kType>
using Words = std::array<uint32_t, block_layout(kType).n_words>;

/// Byte offset of word `idx` of a file block among the words of a panel block.
template <DType kType>
int64_t panel_word_at(size_t idx, int64_t lane) {
  return (panel_word_idx(kType, static_cast<int>(idx)) * kRowsPerPanel + lane) * 4;
}

/// One file block of one row into its lane of a panel block.
template <DType kType>
void scatter_block(const std::byte* block, int64_t lane, std::byte* panel_block) {
  constexpr BlockLayout kLayout = block_layout(kType);
  std::byte* out = panel_block;
  for (int i = 0; i < kLayout.n_exponents; ++i, out += kRowsPerPanel) out[lane] = block[i];
  for (int i = 0; i < kLayout.n_halves; ++i, out += 2 * kRowsPerPanel) {
    store_as(load_as<uint16_t>(block + kLayout.halves_at + 2 * i), out + 2 * lane);
  }
  Words<kType> words;
  for (size_t i = 0; i < words.size(); ++i) words[i] = load_as<uint32_t>(block + kLayout.words_at + 4 * i);
  to_panel_words<kType>(words);
  for (size_t i = 0; i < words.size(); ++i) store_as(words[i], out + panel_word_at<kType>(i, lane));
}

/// The inverse of scatter_block.
template <DType kType>
void gather_block(const std::byte* panel_block, int64_t lane, std::byte* block) {
  constexpr BlockLayout kLayout = block_layout(kType);
  const std::byte* in = panel_block;
  for (int i = 0; i < kLayout.n_exponents; ++i, in += kRowsPerPanel) block[i] = in[lane];
  for (int i = 0; i < kLayout.n_halves; ++i, in += 2 * kRowsPerPanel) {
    store_as(load_as<uint16_t>(in + 2 * lane), block + kLayout.halves_at + 2 * i);
  }
  Words<kType> words;
  for (size_t i = 0; i < words.size(); ++i) words[i] = load_as<uint32_t>(in + panel_word_at<kType>(i, lane));
  to_file_words<kType>(words);
  for (size_t i = 0; i < words.size(); ++i) store_as(words[i], block + kLayout.words_at + 4 * i);
}

template <DType kType>
void pack_rows(const std::array<const std::byte*, kRowsPerPanel>& rows, int64_t n_cols, std::byte* panel) {
  constexpr BlockLayout kLayout = block_layout(kType);
  static constexpr std::byte kZeros[kLayout.bytes()] = {};
  const int64_t n_blocks = n_cols / kLayout.columns;
  for (int64_t i = 0; i < n_blocks; ++i, panel += kRowsPerPanel * kLayout.bytes()) {
    for (int64_t lane = 0; lane < kRowsPerPanel; ++lane) {
      const std::byte* row = rows[static_cast<size_t>(lane)];
      scatter_block<kType>(row == nullptr ? kZeros : row + i * kLayout.bytes(), lane, panel);
    }
  }
}

/// Bytes of a panel without the alignment at its end.
int64_t panel_payload(DType dtype, int64_t n_cols) {
  const BlockLayout layout = block_layout(dtype);
  VITRO_CHECK(layout.columns > 0);
  return n_cols / layout.columns * layout.bytes() * kRowsPerPanel;
}

}  // namespace

bool has_panel_layout(DType dtype) { return block_layout(dtype).columns > 0; }

int64_t panel_bytes(DType dtype, int64_t n_cols) { return round_up(panel_payload(dtype, n_cols), kPanelAlignment); }

void pack_panel(DType dtype, const std::array<const std::byte*, kRowsPerPanel>& rows, int64_t n_cols,
                std::byte* panel) {
  const bool is_known = visit_panel_type(dtype, [&]<DType kType>() { pack_rows<kType>(rows, n_cols, panel); });
  VITRO_CHECK(is_known);
  const int64_t payload = panel_payload(dtype, n_cols);
  std::memset(panel + payload, 0, static_cast<size_t>(panel_bytes(dtype, n_cols) - payload));
}

void unpack_panel_columns(DType dtype, const std::byte* panel, int64_t lane, ColumnRange columns, float* out) {
  const bool is_known = visit_panel_type(dtype, [&]<DType kType>() {
    constexpr BlockLayout kLayout = block_layout(kType);
    constexpr int64_t kPanelBlockBytes = kRowsPerPanel * kLayout.bytes();
    VITRO_DCHECK(columns.first % kLayout.columns == 0 && columns.count % kLayout.columns == 0);
    std::byte row[kUnpackColumns / kLayout.columns * kLayout.bytes()];
    const std::byte* in = panel + columns.first / kLayout.columns * kPanelBlockBytes;
    for (int64_t done = 0; done < columns.count; done += kUnpackColumns) {
      const int64_t count = std::min(columns.count - done, kUnpackColumns);
      for (int64_t i = 0; i < count / kLayout.columns; ++i, in += kPanelBlockBytes) {
        gather_block<kType>(in, lane, row + i * kLayout.bytes());
      }
      dequantize_row(kType, row, count, out + done);
    }
  });
  VITRO_CHECK(is_known);
}

void unpack_panel_row(DType dtype, const std::byte* panel, int64_t lane, int64_t n_cols, float* out) {
  unpack_panel_columns(dtype, panel, lane, {0, n_cols}, out);
}

}  // namespace vitro
