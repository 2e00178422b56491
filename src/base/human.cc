#include "base/human.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

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

std::string human_seconds(double seconds) {
  constexpr int kMinute = 60, kHour = 3600;
  if (!(seconds < 99.0 * kHour)) return "over 99 h";
  const int n = static_cast<int>(std::lround(std::max(seconds, 0.0)));
  if (n < kMinute) return fmt::format("{} s", n);
  if (n < kHour) return fmt::format("{} min {} s", n / kMinute, n % kMinute);
  return fmt::format("{} h {} min", n / kHour, n % kHour / kMinute);
}

}  // namespace vitro
