// The two 16-bit float formats as float32. Every value of both is exactly a float32, so nothing here rounds.
#pragma once

#include <bit>
#include <cstdint>

namespace vitro {

/// IEEE 754 binary16: sign 1, exponent 5 (bias 15), fraction 10 bits.
constexpr float f16_to_f32(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000U) << 16;
  const uint32_t magnitude = bits & 0x7FFFU;
  if (magnitude < 0x0400U) {  // zero and subnormal: a multiple of 2^-24
    return std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24F) | sign);
  }
  const uint32_t bias = magnitude >= 0x7C00U ? 224U : 112U;  // infinity and NaN keep an exponent of ones
  return std::bit_cast<float>(sign | ((magnitude << 13) + (bias << 23)));
}

/// bfloat16: the upper half of a float32.
constexpr float bf16_to_f32(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

/// Rounded to nearest, ties to even; NaN stays NaN.
constexpr uint16_t f32_to_bf16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<uint16_t>((bits >> 16) | 0x40U);
  return static_cast<uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

}  // namespace vitro
