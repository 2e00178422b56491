// The float formats of 16 and 8 bits. Every value of them is exactly a float32, so only the way down rounds: to
// nearest, ties to even.
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

/// FP8 E4M3 (Micikevicius et al. 2022, arXiv 2209.05433): sign 1, exponent 4 (bias 7), fraction 3 bits; no infinities,
/// the largest number is 448, a magnitude of all ones is NaN.
constexpr float e4m3_to_f32(uint8_t bits) {
  const uint32_t sign = (bits & 0x80U) << 24;
  const uint32_t magnitude = bits & 0x7FU;
  if (magnitude == 0x7FU) return std::bit_cast<float>(sign | 0x7FC00000U);
  if (magnitude < 8) {  // zero and subnormal: a multiple of 2^-9
    return std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-9F) | sign);
  }
  return std::bit_cast<float>(sign | ((magnitude << 20) + (120U << 23)));
}

/// The bits of a float32, n_dropped low ones rounded away to nearest even. A carry moves the exponent, as it should.
constexpr uint32_t round_off(uint32_t bits, int n_dropped) {
  const uint32_t is_odd = (bits >> n_dropped) & 1U;
  return (bits + (1U << (n_dropped - 1)) - 1U + is_odd) >> n_dropped;
}

/// Magnitudes from 65520 on become infinity; NaN stays, quiet, with the upper bits of its payload.
constexpr uint16_t f32_to_f16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = (bits >> 16) & 0x8000U, magnitude = bits & 0x7FFFFFFFU;
  const float positive = std::bit_cast<float>(magnitude);
  uint32_t half = 0;
  if (magnitude > 0x7F800000U) {
    half = 0x7E00U | ((magnitude >> 13) & 0x01FFU);
  } else if (positive >= 65520.0F) {
    half = 0x7C00U;
  } else if (positive < 0x1p-14F) {  // the last place of 0.5 is 2^-24: the sum rounds to a multiple of it
    half = std::bit_cast<uint32_t>(positive + 0.5F) - std::bit_cast<uint32_t>(0.5F);
  } else {
    half = round_off(magnitude - (112U << 23), 13);
  }
  return static_cast<uint16_t>(sign | half);
}

/// NaN stays, quiet, with the upper bits of its payload.
constexpr uint16_t f32_to_bf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  return static_cast<uint16_t>(is_nan ? (bits >> 16) | 0x0040U : round_off(bits, 16));
}

/// Magnitudes above 448 become 448, infinity too; NaN stays.
constexpr uint8_t f32_to_e4m3(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = (bits >> 24) & 0x80U, magnitude = bits & 0x7FFFFFFFU;
  const float positive = std::bit_cast<float>(magnitude);
  uint32_t code = 0;
  if (magnitude > 0x7F800000U) {
    code = 0x7FU;
  } else if (positive >= 448.0F) {
    code = 0x7EU;
  } else if (positive < 0x1p-6F) {  // the last place of 2^14 is 2^-9
    code = std::bit_cast<uint32_t>(positive + 0x1p14F) - std::bit_cast<uint32_t>(0x1p14F);
  } else {
    code = round_off(magnitude - (120U << 23), 20);
  }
  return static_cast<uint8_t>(sign | code);
}

}  // namespace vitro
