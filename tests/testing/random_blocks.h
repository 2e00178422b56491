// Random blocks of the quantised types: any bits but for the scales, which are told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tensor/quant_block.h"

namespace vitro::testing {

/// Byte offsets of the float16 scales of a block. (The second float16 of IQ4_XS is a set of bits.)
inline std::vector<size_t> half_scales_at(DType dtype) {
  const BlockLayout layout = block_layout(dtype);
  std::vector<size_t> offsets;
  for (int i = 0; i < (dtype == DType::kIQ4_XS ? 1 : layout.n_halves); ++i) {
    offsets.push_back(static_cast<size_t>(layout.halves_at + 2 * i));
  }
  return offsets;
}

/// Fills a block with byte(), its scales with half() and exponent().
template <class Byte, class Half, class Exponent>
void fill_block(DType dtype, std::byte* block, Byte byte, Half half, Exponent exponent) {
  const BlockLayout layout = block_layout(dtype);
  for (int i = 0; i < layout.bytes(); ++i) block[i] = static_cast<std::byte>(byte());
  for (const size_t at : half_scales_at(dtype)) {
    const uint16_t scale = half();
    std::memcpy(block + at, &scale, sizeof scale);
  }
  for (int i = 0; i < layout.n_exponents; ++i) block[i] = static_cast<std::byte>(exponent());
}

}  // namespace vitro::testing
