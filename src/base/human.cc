#include "base/human.h"

#include <fmt/core.h>

#include <array>
#include <cctype>
#include <charconv>

namespace vitro {
namespace {

struct ByteUnit {
  std::string_view name;
  double n_bytes;
};
constexpr std::array<ByteUnit, 12> kByteUnits = {{{"", 1},
                                                  {"b", 1},
                                                  {"kb", 1e3},
                                                  {"mb", 1e6},
                                                  {"gb", 1e9},
                                                  {"tb", 1e12},
                                                  {"pb", 1e15},
                                                  {"kib", 0x1p10},
                                                  {"mib", 0x1p20},
                                                  {"gib", 0x1p30},
                                                  {"tib", 0x1p40},
                                                  {"pib", 0x1p50}}};

std::string_view without_blanks(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

Result<int64_t> parse_bytes(std::string_view text) {
  const auto wrong = [&] {
    return fail(ErrorCode::kInvalidArgument,
                "'{}' is no size; write 24GiB (2^30 bytes each), 24GB (10^9 bytes each), or a number of bytes", text);
  };
  const std::string_view trimmed = without_blanks(text);
  int64_t whole = 0;
  const char* end = trimmed.data() + trimmed.size();
  // Whole numbers of bytes are exact; doubles are not above 2^53.
  if (const auto [rest, error] = std::from_chars(trimmed.data(), end, whole); error == std::errc() && rest == end)
    return whole < 0 ? Result<int64_t>(wrong()) : Result<int64_t>(whole);
  double value = 0;
  const auto [rest, error] = std::from_chars(trimmed.data(), end, value, std::chars_format::fixed);
  if (error != std::errc()) return wrong();
  const std::string unit = lower_case(without_blanks({rest, static_cast<size_t>(end - rest)}));
  for (const ByteUnit& known : kByteUnits) {
    if (known.name != unit) continue;
    const double n_bytes = value * known.n_bytes;
    if (!(n_bytes >= 0) || n_bytes >= 0x1p63) return wrong();  // NaN is refused too
    return static_cast<int64_t>(n_bytes);
  }
  return wrong();
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

}  // namespace vitro
