#include "formats/quick_real.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace vitro {
namespace {

constexpr int kLargestPower = 308;  // of ten, that a double holds
constexpr int kMaxExponent = 1 << 20;

double power_of_ten(int n) {
  const std::string digits = "1e" + std::to_string(n);
  double out = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return out;
}

/// What stands before the exponent: significand * 10^exponent.
struct Decimal {
  uint64_t significand = 0;
  int exponent = 0;
};

Decimal read_digits(std::string_view digits) {
  Decimal out;
  bool is_after_point = false;
  bool is_full = false;
  for (const char c : digits) {
    if (c == '.') {
      is_after_point = true;
      is_full = false;
      continue;
    }
    const auto digit = static_cast<uint64_t>(c - '0');
    is_full = is_full || out.significand > (UINT64_MAX - digit) / 10;
    if (is_full) {
      out.exponent += is_after_point ? 0 : 1;
    } else {
      out.significand = out.significand * 10 + digit;
      out.exponent -= is_after_point ? 1 : 0;
    }
  }
  return out;
}

double scaled(Decimal decimal) {
  auto out = static_cast<double>(decimal.significand);
  for (; decimal.exponent < -kLargestPower && out != 0; decimal.exponent += kLargestPower)
    out /= power_of_ten(kLargestPower);
  if (out == 0) return 0;
  if (decimal.exponent < 0) return out / power_of_ten(-decimal.exponent);
  return out * power_of_ten(std::min(decimal.exponent, kLargestPower));
}

}  // namespace

double quick_real(std::string_view number) {
  const bool is_negative = number.starts_with('-');
  if (is_negative) number.remove_prefix(1);
  const size_t mark = std::min(number.find_first_of("eE"), number.size());
  Decimal decimal = read_digits(number.substr(0, mark));
  if (mark < number.size()) {
    const long exponent = std::strtol(std::string(number.substr(mark + 1)).c_str(), nullptr, 10);
    decimal.exponent += static_cast<int>(std::clamp<long>(exponent, -kMaxExponent, kMaxExponent));
  }
  return is_negative ? -scaled(decimal) : scaled(decimal);
}

}  // namespace vitro
