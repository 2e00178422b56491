#include "base/human.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include "base/letters.h"

namespace vitro {
namespace {

struct Unit {
  std::string_view name;  ///< in small letters
  int64_t value;
};

constexpr std::array kByteUnits = {Unit{"", 1},
                                   Unit{"b", 1},
                                   Unit{"kb", 1'000},
                                   Unit{"mb", 1'000'000},
                                   Unit{"gb", 1'000'000'000},
                                   Unit{"tb", 1'000'000'000'000},
                                   Unit{"pb", 1'000'000'000'000'000},
                                   Unit{"kib", int64_t{1} << 10},
                                   Unit{"mib", int64_t{1} << 20},
                                   Unit{"gib", int64_t{1} << 30},
                                   Unit{"tib", int64_t{1} << 40},
                                   Unit{"pib", int64_t{1} << 50}};
constexpr std::array kPositionUnits = {Unit{"", 1}, Unit{"k", int64_t{1} << 10}, Unit{"m", int64_t{1} << 20}};
constexpr std::array kAmountUnits = {Unit{"", 1},
                                     Unit{"k", 1'000},
                                     Unit{"m", 1'000'000},
                                     Unit{"b", 1'000'000'000},
                                     Unit{"g", 1'000'000'000},
                                     Unit{"t", 1'000'000'000'000}};

std::string_view without_blanks(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Digits with a point or none, times the unit, rounded down; nothing for what is no number or 2^63 and more. Whole
// numbers are exact; doubles are not above 2^53.
std::optional<int64_t> scaled(std::string_view number, int64_t unit) {
  const char* end = number.data() + number.size();
  int64_t whole = 0;
  if (const auto [rest, error] = std::from_chars(number.data(), end, whole); error == std::errc() && rest == end) {
    int64_t product = 0;
    return __builtin_mul_overflow(whole, unit, &product) ? std::nullopt : std::optional<int64_t>(product);
  }
  double value = 0;
  const auto [rest, error] = std::from_chars(number.data(), end, value, std::chars_format::fixed);
  if (error != std::errc() || rest != end) return std::nullopt;
  value *= static_cast<double>(unit);
  return value < 0x1p63 ? std::optional<int64_t>(static_cast<int64_t>(value)) : std::nullopt;
}

Result<int64_t> parse_size(std::string_view text, std::span<const Unit> units, std::string_view expected) {
  const std::string_view trimmed = without_blanks(text);
  const size_t n_digits = std::min(trimmed.find_first_not_of("0123456789."), trimmed.size());
  const std::string name = lower_case(without_blanks(trimmed.substr(n_digits)));
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    if (const auto value = scaled(trimmed.substr(0, n_digits), unit.value)) return *value;
  }
  return fail(ErrorCode::kInvalidArgument, "'{}' is no size below 2^63; write {}", text, expected);
}

}  // namespace

Result<int64_t> parse_bytes(std::string_view text) {
  return parse_size(text, kByteUnits, "24GiB (2^30 bytes each), 24GB (10^9 bytes each), or a number of bytes");
}

Result<int64_t> parse_positions(std::string_view text) {
  return parse_size(text, kPositionUnits, "a number such as 4096 or 32k (32 x 1,024)");
}

Result<int64_t> parse_amount(std::string_view text) {
  return parse_size(text, kAmountUnits, "a number such as 64, 300B (10^9 each) or 2T (10^12 each)");
}

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
