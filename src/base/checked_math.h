// Integer arithmetic on untrusted numbers: sizes and offsets out of files go through these until they are validated.
#pragma once

#include <cstdint>
#include <optional>

namespace vitro {

/// a * b, or nothing if it does not fit into 64 bits.
inline std::optional<uint64_t> checked_mul(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

/// a + b, or nothing if it does not fit into 64 bits.
inline std::optional<uint64_t> checked_add(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

/// n / d rounded up; d > 0.
constexpr int64_t ceil_div(int64_t n, int64_t d) { return (n + d - 1) / d; }

/// n rounded up to a multiple of m; m > 0.
constexpr int64_t round_up(int64_t n, int64_t m) { return ceil_div(n, m) * m; }

}  // namespace vitro
