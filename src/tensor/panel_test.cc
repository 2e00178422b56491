// Panels: packing is lossless, partly filled panels are zeros, unpacking equals de-quantising the file row.
#include "tensor/panel.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <set>
#include <string_view>
#include <vector>

#include "base/checked_math.h"
#include "tensor/quant_block.h"

namespace vitro {
namespace {

std::vector<int64_t> column_counts(DType dtype) {
  const int64_t block = dtype_info(dtype).block_elements;
  if (block == 1) return {1, 3, 16, 33, 255, 256, 257, 600};
  return {block, 2 * block, 3 * block, 512, 768};
}

/// A row of random bits; floats among them may be anything, so comparisons are of bytes.
std::vector<std::byte> random_bytes(size_t n, uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<std::byte> bytes(n);
  for (std::byte& b : bytes) b = static_cast<std::byte>(engine() & 0xFFU);
  return bytes;
}

/// n_rows file rows and their panel.
struct Packed {
  DType dtype;
  int64_t n_cols;
  std::vector<std::vector<std::byte>> rows;
  std::vector<std::byte> panel;

  Packed(DType dtype_in, int64_t n_cols_in, int64_t n_rows) : dtype(dtype_in), n_cols(n_cols_in) {
    std::array<const std::byte*, kRowsPerPanel> pointers = {};
    for (int64_t r = 0; r < n_rows; ++r) {
      rows.push_back(
          random_bytes(row_bytes(dtype, static_cast<uint64_t>(n_cols)).value(), static_cast<uint32_t>(r + n_cols)));
    }
    for (int64_t r = 0; r < n_rows; ++r) pointers[static_cast<size_t>(r)] = rows[static_cast<size_t>(r)].data();
    panel.resize(static_cast<size_t>(panel_bytes(dtype, n_cols)), std::byte{0xAA});
    pack_panel(dtype, pointers, n_cols, panel.data());
  }
};

template <class Check>
void for_all_panels(Check check) {
  for (const DType dtype : kPanelTypes) {
    for (const int64_t n_cols : column_counts(dtype)) {
      for (const int64_t n_rows : {1, 7, 15, 16}) check(Packed(dtype, n_cols, n_rows));
    }
  }
}

bool same_bytes(const std::vector<float>& a, const std::vector<float>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(Panel, KeepsTheBitsOfTheFile) {
  for (const DType dtype : kPanelTypes) {
    ASSERT_TRUE(has_panel_layout(dtype));
    for (const int64_t n_cols : column_counts(dtype)) {
      const auto file_bytes =
          static_cast<int64_t>(row_bytes(dtype, static_cast<uint64_t>(n_cols)).value()) * kRowsPerPanel;
      EXPECT_EQ(panel_bytes(dtype, n_cols), round_up(file_bytes, 64)) << dtype_info(dtype).name << " " << n_cols;
    }
  }
}

TEST(Panel, TypesThatHaveThem) {
  std::set<std::string_view> names;
  for (const DType dtype : kAllDTypes) {
    if (has_panel_layout(dtype)) names.insert(dtype_info(dtype).name);
  }
  EXPECT_EQ(names, (std::set<std::string_view>{"F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K",
                                               "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4"}));
  EXPECT_EQ(kPanelTypes.size(), names.size());
}

TEST(Panel, UnpackingEqualsDequantisingTheRow) {
  for_all_panels([](const Packed& packed) {
    std::vector<float> expected(static_cast<size_t>(packed.n_cols)), actual(expected.size());
    for (size_t r = 0; r < packed.rows.size(); ++r) {
      dequantize_row(packed.dtype, packed.rows[r].data(), packed.n_cols, expected.data());
      unpack_panel_row(packed.dtype, packed.panel.data(), static_cast<int64_t>(r), packed.n_cols, actual.data());
      ASSERT_TRUE(same_bytes(actual, expected))
          << dtype_info(packed.dtype).name << " row " << r << " of " << packed.n_cols;
    }
  });
}

TEST(Panel, AbsentRowsAreZero) {
  for_all_panels([](const Packed& packed) {
    std::vector<float> out(static_cast<size_t>(packed.n_cols));
    for (auto lane = static_cast<int64_t>(packed.rows.size()); lane < kRowsPerPanel; ++lane) {
      std::fill(out.begin(), out.end(), 1.0F);
      unpack_panel_row(packed.dtype, packed.panel.data(), lane, packed.n_cols, out.data());
      for (const float value : out) ASSERT_EQ(value, 0.0F) << dtype_info(packed.dtype).name;
    }
  });
}

TEST(Panel, UnpacksRangesOfColumns) {
  for (const DType dtype : kPanelTypes) {
    const int64_t block = dtype_info(dtype).block_elements, n_cols = 768;
    const Packed packed(dtype, n_cols, 16);
    std::vector<float> whole(n_cols), part(n_cols);
    unpack_panel_row(dtype, packed.panel.data(), 5, n_cols, whole.data());
    for (const ColumnRange columns : {ColumnRange{0, block}, {block, 2 * block}, {n_cols - block, block}, {256, 512}}) {
      unpack_panel_columns(dtype, packed.panel.data(), 5, columns, part.data());
      const size_t n_bytes = static_cast<size_t>(columns.count) * sizeof(float);
      EXPECT_EQ(std::memcmp(part.data(), whole.data() + columns.first, n_bytes), 0) << dtype_info(dtype).name;
    }
  }
}

/// Bit r of byte i is column 32 r + i: four words for each half of eight r, columns 16-31 above columns 0-15.
TEST(QuantBlock, HighBitsOfKTypesComeTogether) {
  for (uint32_t r = 0; r < 8; ++r) {
    for (uint32_t i = 0; i < 32; ++i) {
      std::array<uint32_t, 8> words = {};
      words[i / 4] = 1U << (8 * (i % 4) + r);
      const std::array<uint32_t, 8> before = words;
      exchange_nibbles(words);
      EXPECT_EQ(words[r / 4 * 4 + i / 4 % 4], 1U << (8 * (i % 4) + r % 4 + i / 16 * 4)) << r << ' ' << i;
      exchange_nibbles(words);
      EXPECT_EQ(words, before);
    }
  }
}

TEST(QuantBlock, HighBitsOfQ5GoThereAndBack) {
  for (int column = 0; column < 32; ++column) {
    const uint32_t spread = spread_high_bits(1U << column);
    EXPECT_EQ(spread, 1U << (8 * (column % 4) + column / 4));
    EXPECT_EQ(gather_high_bits(spread), 1U << column);
  }
}

}  // namespace
}  // namespace vitro
