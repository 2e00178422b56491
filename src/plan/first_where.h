// The search behind "from how many on?".
#pragma once

#include <cstdint>
#include <optional>

namespace vitro {

/// The least n of 1 .. most (a power of two) for which is_passed(n) holds; nothing: none. It must go on holding. About
/// 2 log2(n) calls.
template <class Passed>
std::optional<int64_t> first_where(const Passed& is_passed, int64_t most) {
  int64_t above = 1;
  while (!is_passed(above)) {
    if (above >= most) return std::nullopt;
    above *= 2;
  }
  int64_t below = above / 2;  // not passed, or 0
  while (above - below > 1) {
    const int64_t middle = below + (above - below) / 2;
    (is_passed(middle) ? above : below) = middle;
  }
  return above;
}

}  // namespace vitro
