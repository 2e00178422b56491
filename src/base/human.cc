#include "base/human.h"

#include <fmt/core.h>

#include <array>

namespace vitro {

std::string human_bytes(uint64_t n_bytes) {
  constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  if (n_bytes < 1024) return fmt::format("{} B", n_bytes);
  double value = static_cast<double>(n_bytes);
  size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, value < 100 ? 1 : 0, kUnits[unit]);
}

std::string human_count(int64_t n) {
  std::string digits = fmt::format("{}", n);
  const size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

}  // namespace vitro
