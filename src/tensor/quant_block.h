// The block formats of weights, as files have them and as panels have them.
//
// In files (ggml's layouts; d, dmin, m are float16, q is the code of a column, products and sums are float32):
//   Q8_0   32 columns: d, int8 q[32]                                           w = d q
//   Q4_0   32 columns: d, 16 bytes of q[i] and, on top, q[i + 16]              w = d (q - 8)
//   Q4_1   32 columns: d, m, nibbles as Q4_0                                   w = d q + m
//   Q5_0   32 columns: d, 32 high bits of q, low nibbles as Q4_0               w = d (q - 16)
//   Q5_1   32 columns: d, m, high bits and nibbles as Q5_0                     w = d q + m
//   IQ4_NL 32 columns: d, nibbles as Q4_0                                      w = d kIq4Values[q]
//   MXFP4  32 columns: a byte e, nibbles as Q4_0                               w = 2^(e - 128) kE2m1Values[q]
//   Q2_K  256 columns: a byte of sc and, on top, mn for each 16 columns,       w = (d sc) q - dmin mn
//                      32 bytes for each 128 columns: bit pairs q[i], q[i + 32], q[i + 64], q[i + 96]; d, dmin
//   Q3_K  256 columns: 32 bytes of high bits: bit r of byte i for q[32 r + i], w = (d (sc - 32)) (q - 4)
//                      low bit pairs as Q2_K, six-bit sc for each 16 columns, d
//   Q4_K  256 columns: d, dmin, six-bit sc and mn for each 32 columns,         w = (d sc) q - dmin mn
//                      32 bytes for each 64 columns: q[i] and q[i + 32]
//   Q5_K  256 columns: as Q4_K, with high bits as Q3_K before the nibbles      w = (d sc) q - dmin mn
//   Q6_K  256 columns: 64 bytes of low nibbles and 32 of high bit pairs for    w = (d sc) (q - 32)
//                      each 128 columns, int8 sc for each 16 columns, d
//   IQ4_XS 256 columns: d, the high bit pairs and then the low nibbles of a    w = (d (sc - 32)) kIq4Values[q]
//                      six-bit sc for each 32 columns, nibbles as IQ4_NL for each 32 columns
// A block is thus a few bytes, float16 and 32-bit words, and a panel block is sixteen file blocks with these
// transposed: first the bytes, then the float16, then the words, sixteen lanes each. F32, F16 and BF16 are blocks of
// one column. Some words change on the way, reversibly: those of Q6_K their order, so that kernels read one stream
// (panel_word_idx); others within, so that kernels find codes or their high bits in bytes (to_panel_words).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace vitro {

/// Weights of IQ4_NL and IQ4_XS before scaling (ggml's table).
inline constexpr int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
/// Twice the values of E2M1, the four-bit floats of MXFP4 (OCP Microscaling Formats 1.0, section 5.3.3).
inline constexpr int8_t kE2m1Values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// Where the 8-bit, the 16-bit and the 32-bit parts of a file block are.
struct BlockLayout {
  int columns = 0;  ///< 0: the type has no panels
  int n_halves = 0;
  int halves_at = 0;  ///< byte offset in the file block
  int n_words = 0;
  int words_at = 0;
  int n_exponents = 0;  ///< bytes, at offset 0

  constexpr int bytes() const { return n_exponents + 2 * n_halves + 4 * n_words; }
};

/// The one list of the types that matrices can have: a type with a layout here has panels, kernels and a place in
/// models, one without is refused by name.
constexpr BlockLayout block_layout(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return {1, 0, 0, 1, 0};
    case DType::kF16:
    case DType::kBF16:
      return {1, 1, 0, 0, 0};
    case DType::kQ8_0:
      return {32, 1, 0, 8, 2};
    case DType::kQ4_0:
    case DType::kIQ4_NL:
      return {32, 1, 0, 4, 2};
    case DType::kQ4_1:
      return {32, 2, 0, 4, 4};
    case DType::kQ5_0:
      return {32, 1, 0, 5, 2};
    case DType::kQ5_1:
      return {32, 2, 0, 5, 4};
    case DType::kMXFP4:
      return {32, 0, 0, 4, 1, 1};
    case DType::kQ2_K:
      return {256, 2, 80, 20, 0};
    case DType::kQ3_K:
      return {256, 1, 108, 27, 0};
    case DType::kQ4_K:
      return {256, 2, 0, 35, 4};
    case DType::kQ5_K:
      return {256, 2, 0, 43, 4};
    case DType::kQ6_K:
      return {256, 1, 208, 52, 0};
    case DType::kIQ4_XS:
      return {256, 2, 0, 33, 4};
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

/// The high nibbles (of all bytes) of the first four of eight words change places with the low nibbles of the last
/// four. Of the high bits of Q3_K and Q5_K (bit r of byte i for column 32 r + i), four words then have those of the
/// first 128 columns, four those of the last: low nibbles for i < 16, high nibbles for i >= 16. Its own inverse.
constexpr void exchange_nibbles(std::span<uint32_t, 8> words) {
  for (size_t j = 0; j < 4; ++j) {
    const uint32_t difference = ((words[j] >> 4) ^ words[j + 4]) & 0x0F0F0F0FU;
    words[j] ^= difference << 4;
    words[j + 4] ^= difference;
  }
}

/// Where word `idx` of a file block stands in a panel block. Q6_K: the scales first, then for each half of 128 columns
/// and each i of 0..7 low word i, low word i + 8 and high word i side by side.
constexpr int panel_word_idx(DType dtype, int idx) {
  if (dtype != DType::kQ6_K) return idx;
  if (idx >= 48) return idx - 48;
  if (idx >= 32) return 4 + 24 * ((idx - 32) / 8) + 3 * (idx % 8) + 2;
  return 4 + 24 * (idx / 16) + 3 * (idx % 8) + idx % 16 / 8;
}

/// The changes within words that are their own inverse: codes of Q8_0 become q + 128, high bits of Q3_K and Q5_K are
/// brought together.
template <DType kType>
constexpr void toggle_words(std::span<uint32_t, block_layout(kType).n_words> words) {
  if constexpr (kType == DType::kQ8_0) {
    for (uint32_t& word : words) word ^= 0x80808080U;
  }
  if constexpr (kType == DType::kQ3_K) exchange_nibbles(words.template first<8>());
  if constexpr (kType == DType::kQ5_K) exchange_nibbles(words.template subspan<3, 8>());
}
template <DType kType>
inline constexpr bool kHasHighBitsWord = kType == DType::kQ5_0 || kType == DType::kQ5_1;

/// The words of a file block as panels have them.
template <DType kType>
constexpr void to_panel_words(std::span<uint32_t, block_layout(kType).n_words> words) {
  toggle_words<kType>(words);
  if constexpr (kHasHighBitsWord<kType>) words[0] = spread_high_bits(words[0]);
}

/// The inverse of to_panel_words.
template <DType kType>
constexpr void to_file_words(std::span<uint32_t, block_layout(kType).n_words> words) {
  toggle_words<kType>(words);
  if constexpr (kHasHighBitsWord<kType>) words[0] = gather_high_bits(words[0]);
}

/// All types that matrices can have.
inline constexpr auto kPanelTypes = [] {
  constexpr auto kIsPanelType = [](DType dtype) { return block_layout(dtype).columns > 0; };
  std::array<DType, std::ranges::count_if(kAllDTypes, kIsPanelType)> types = {};
  std::ranges::copy_if(kAllDTypes, types.begin(), kIsPanelType);
  return types;
}();

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
