#pragma once

#include <cstdint>

namespace vitro {

/// A hash of 64 bits: two odd factors, so that every bit of x reaches both ends of the word.
constexpr uint64_t mix_bits(uint64_t x) {
  x *= 0x9E3779B97F4A7C15ULL;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93ULL;
  return x ^ (x >> 32);
}
/// Of an ordered pair.
constexpr uint64_t mix_bits(uint32_t first, uint32_t second) { return mix_bits((uint64_t{first} << 32) | second); }

}  // namespace vitro
