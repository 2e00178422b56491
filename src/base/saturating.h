// Sums and products of sizes that may be absurd: a result that does not fit into int64 becomes kSaturated, and stays
// it. Whoever shows or uses a figure asks once, at the end. For numbers that are not negative.
#pragma once

#include <cstdint>
#include <limits>

namespace vitro {

inline constexpr int64_t kSaturated = std::numeric_limits<int64_t>::max();

constexpr int64_t sat_add(int64_t a, int64_t b) {
  int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? kSaturated : out;
}

constexpr int64_t sat_mul(int64_t a, int64_t b) {
  int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? kSaturated : out;
}

template <class... More>
constexpr int64_t sat_mul(int64_t a, int64_t b, More... more) {
  return sat_mul(sat_mul(a, b), more...);
}

/// n / d rounded up; d > 0. What does not fit stays so.
constexpr int64_t sat_ceil_div(int64_t n, int64_t d) {
  return n == kSaturated ? kSaturated : n / d + (n % d != 0 ? 1 : 0);
}

}  // namespace vitro
