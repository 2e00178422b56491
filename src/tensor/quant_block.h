// The block formats of weights, as files have them and as panels have them.
//
// In files (ggml's layouts; d, dmin, m are float16, q is the code of a column, products and sums are float32):
//   Q8_0   32 columns: d, int8 q[32]                                           w = d q
//   Q4_1   32 columns: d, m, 16 bytes of q[i] and, on top, q[i + 16]           w = d q + m
//   Q5_0   32 columns: d, 32 high bits of q, 16 bytes of low nibbles as Q4_1   w = d (q - 16)
//   Q4_K  256 columns: d, dmin, six-bit sc and mn for each 32 columns,         w = (d sc) q - dmin mn
//                      32 bytes for each 64 columns: q[i] and q[i + 32]
//   Q6_K  256 columns: 64 bytes of low nibbles and 32 of high bit pairs for    w = (d sc) (q - 32)
//                      each 128 columns, int8 sc for each 16 columns, d
// A block is thus a few float16 and a few 32-bit words, and a panel block is sixteen file blocks with these transposed:
// first the float16, then the words, sixteen lanes each. F32, F16 and BF16 are blocks of one column. Some words change
// on the way, reversibly: those of Q6_K their order, so that kernels read one stream (panel_word_idx); those of Q8_0
// and the high bits of Q5_0 change within, so that kernels find unsigned codes in bytes (panel_word).
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace vitro {

/// Where the 16-bit and the 32-bit parts of a file block are.
struct BlockLayout {
  int columns = 0;  ///< 0: the type has no panels
  int n_halves = 0;
  int halves_at = 0;  ///< byte offset in the file block
  int n_words = 0;
  int words_at = 0;

  constexpr int bytes() const { return 2 * n_halves + 4 * n_words; }
};

constexpr BlockLayout block_layout(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return {1, 0, 0, 1, 0};
    case DType::kF16:
    case DType::kBF16:
      return {1, 1, 0, 0, 0};
    case DType::kQ8_0:
      return {32, 1, 0, 8, 2};
    case DType::kQ4_1:
      return {32, 2, 0, 4, 4};
    case DType::kQ5_0:
      return {32, 1, 0, 5, 2};
    case DType::kQ4_K:
      return {256, 2, 0, 35, 4};
    case DType::kQ6_K:
      return {256, 1, 208, 52, 0};
    default:
      return {};
  }
}

#define VITRO_X(name, text, elements, n_bytes, gguf)      \
  static_assert(block_layout(DType::name).columns == 0 || \
                (block_layout(DType::name).columns == (elements) && block_layout(DType::name).bytes() == (n_bytes)));
VITRO_DTYPES(VITRO_X)
#undef VITRO_X

/// Bit 4 j + c of the high bits of Q5_0 (column 4 j + c) moves to bit 8 c + j: a shift by j then brings the bits of
/// columns 4 j .. 4 j + 3 into the four bytes of a word.
constexpr uint32_t spread_high_bits(uint32_t bits) {
  uint32_t spread = 0;
  for (int j = 0; j < 8; ++j) {
    const uint32_t four = (bits >> (4 * j)) & 0xFU;
    spread |= ((four * 0x00204081U) & 0x01010101U) << j;
  }
  return spread;
}

/// The inverse of spread_high_bits.
constexpr uint32_t gather_high_bits(uint32_t spread) {
  uint32_t bits = 0;
  for (int j = 0; j < 8; ++j) {
    const uint32_t four = (spread >> j) & 0x01010101U;
    bits |= ((four * 0x10204080U) >> 28) << (4 * j);
  }
  return bits;
}
static_assert(gather_high_bits(spread_high_bits(0x8F13A27CU)) == 0x8F13A27CU);

/// Where word `idx` of a file block stands in a panel block. Q6_K: the scales first, then for each half of 128 columns
/// and each i of 0..7 low word i, low word i + 8 and high word i side by side.
constexpr int panel_word_idx(DType dtype, int idx) {
  if (dtype != DType::kQ6_K) return idx;
  if (idx >= 48) return idx - 48;
  if (idx >= 32) return 4 + 24 * ((idx - 32) / 8) + 3 * (idx % 8) + 2;
  return 4 + 24 * (idx / 16) + 3 * (idx % 8) + idx % 16 / 8;
}

/// Word `idx` of a file block as panels have it: codes of Q8_0 are q + 128, the high bits of Q5_0 are spread to bytes.
template <DType kType>
constexpr uint32_t panel_word(int idx, uint32_t file_word) {
  if constexpr (kType == DType::kQ8_0) return file_word ^ 0x80808080U;
  if constexpr (kType == DType::kQ5_0) return idx == 0 ? spread_high_bits(file_word) : file_word;
  return file_word;
}

/// The inverse of panel_word.
template <DType kType>
constexpr uint32_t file_word(int idx, uint32_t panel_word) {
  if constexpr (kType == DType::kQ8_0) return panel_word ^ 0x80808080U;
  if constexpr (kType == DType::kQ5_0) return idx == 0 ? gather_high_bits(panel_word) : panel_word;
  return panel_word;
}

/// Calls fn.template operator()<kType>() for the panel type that `dtype` is; false, without a call, if it is none.
template <class Fn>
bool visit_panel_type(DType dtype, Fn fn) {
  switch (dtype) {
#define VITRO_X(name, text, elements, n_bytes, gguf)                                            \
  case DType::name:                                                                             \
    if constexpr (block_layout(DType::name).columns > 0) fn.template operator()<DType::name>(); \
    return block_layout(DType::name).columns > 0;
    VITRO_DTYPES(VITRO_X)
#undef VITRO_X
  }
  return false;
}

}  // namespace vitro
