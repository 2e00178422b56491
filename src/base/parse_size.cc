#include "base/parse_size.h"

#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <string>

#include "base/saturating.h"

namespace vitro {
namespace {

struct Unit {
  std::string_view name;  ///< in small letters
  int64_t value;
};

constexpr std::array kPositionUnits = {Unit{"", 1}, Unit{"k", int64_t{1} << 10}, Unit{"m", int64_t{1} << 20}};
constexpr std::array kAmountUnits = {Unit{"", 1},
                                     Unit{"k", 1'000},
                                     Unit{"m", 1'000'000},
                                     Unit{"b", 1'000'000'000},
                                     Unit{"g", 1'000'000'000},
                                     Unit{"t", 1'000'000'000'000}};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// Digits, one point at most, then the unit. Whole numbers are read as such, so that no byte is lost.
Result<int64_t> parse_scaled(std::string_view text, std::span<const Unit> units, std::string_view expected) {
  const auto wrong = [&](std::string_view why) {
    return fail(ErrorCode::kInvalidArgument, "'{}' {}; expected {}", text, why, expected);
  };
  const size_t n_digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, n_digits);
  if (number.empty() || number == ".") return wrong("does not start with a number");
  std::string_view name = text.substr(n_digits);
  if (name.starts_with(' ')) name.remove_prefix(1);
  for (const Unit& unit : units) {
    if (unit.name != lower(name)) continue;
    int64_t whole = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), whole);
    if (error == std::errc::result_out_of_range) return wrong("does not fit into 64 bits");
    if (end == number.data() + number.size()) {
      const int64_t value = sat_mul(whole, unit.value);
      return value == kSaturated ? Result<int64_t>(wrong("does not fit into 64 bits")) : value;
    }
    double real = 0;
    const auto [real_end, real_error] = std::from_chars(number.data(), number.data() + number.size(), real);
    if (real_error != std::errc() || real_end != number.data() + number.size()) return wrong("is no number");
    real = std::floor(real * static_cast<double>(unit.value));
    return real < 9.2e18 ? Result<int64_t>(static_cast<int64_t>(real)) : wrong("does not fit into 64 bits");
  }
  return wrong(name.empty() ? "has no unit" : "has an unknown unit");
}

}  // namespace

Result<int64_t> parse_positions(std::string_view text) {
  return parse_scaled(text, kPositionUnits, "a number such as 4096 or 32k (32 x 1024)");
}

Result<int64_t> parse_amount(std::string_view text) {
  return parse_scaled(text, kAmountUnits, "a number such as 64, 300B (10^9) or 2T (10^12)");
}

}  // namespace vitro
