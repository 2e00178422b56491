// Filters that make or round numbers.
#include <charconv>
#include <cmath>

#include "text/jinja/filters.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/py_chars.h"

namespace vitro::jinja {
namespace {

using Args = const std::vector<Val>&;

tl::unexpected<Error> raise_wide() {
  return fail(ErrorCode::kInvalidArgument, "integers of more than 64 bits are not supported");
}

/// The text without white space around it and single underscores between its digits; nothing if it cannot be a number.
std::optional<std::string> number_text(std::string_view text) {
  text.remove_prefix(leading_space(text));
  text.remove_suffix(trailing_space(text));
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
      continue;
    }
    const bool is_between = i > 0 && i + 1 < text.size() &&
                            std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0 &&
                            std::isalnum(static_cast<unsigned char>(text[i + 1])) != 0;
    if (!is_between) return std::nullopt;
  }
  return out;
}

/// int(text, base): nothing if the text is no such number.
Result<std::optional<int64_t>> parse_int(std::string_view text, int64_t base) {
  if (base != 0 && (base < 2 || base > 36)) return std::nullopt;
  const std::optional<std::string> number = number_text(text);
  if (!number || number->empty()) return std::nullopt;
  std::string_view digits = *number;
  const bool is_negative = digits[0] == '-';
  if (digits[0] == '-' || digits[0] == '+') digits.remove_prefix(1);
  const char prefix = digits.size() > 1 && digits[0] == '0' ? static_cast<char>(digits[1] | 0x20) : '\0';
  const int named = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 0;
  if (named != 0 && (base == 0 || base == named)) {
    digits.remove_prefix(2);
    base = named;
  } else if (base == 0) {
    if (digits.size() > 1 && digits[0] == '0' && digits.find_first_not_of('0') != std::string_view::npos) {
      return std::nullopt;
    }
    base = 10;
  }
  if (digits.empty() || std::isalnum(static_cast<unsigned char>(digits[0])) == 0) return std::nullopt;
  const std::string signed_digits = (is_negative ? "-" : "") + std::string(digits);
  int64_t value = 0;
  const char* end = signed_digits.data() + signed_digits.size();
  const auto result = std::from_chars(signed_digits.data(), end, value, static_cast<int>(base));
  if (result.ptr != end) return std::nullopt;
  if (result.ec == std::errc::result_out_of_range) return raise_wide();
  return value;
}

/// float(text): nothing if the text is no number.
std::optional<double> parse_float(std::string_view text) {
  const std::optional<std::string> number = number_text(text);
  if (!number || number->empty()) return std::nullopt;
  std::string_view digits = *number;
  const bool is_negative = digits[0] == '-';
  if (digits[0] == '-' || digits[0] == '+') digits.remove_prefix(1);
  if (digits.empty() || digits[0] == '-' || digits[0] == '+') return std::nullopt;
  double value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ptr != digits.data() + digits.size()) return std::nullopt;
  // Of nan, Python takes no payload.
  if (digits.find('(') != std::string_view::npos) return std::nullopt;
  if (result.ec == std::errc::result_out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);
  return is_negative ? -value : value;
}

/// int(x) of a float; nothing for what is no number.
Result<std::optional<int64_t>> truncated(double x) {
  if (!std::isfinite(x)) return std::nullopt;
  if (std::fabs(x) >= 9.2233720368547758e18) return raise_wide();
  return static_cast<int64_t>(x);
}

Result<Val> to_int(Runtime&, const Val& value, Args args) {
  const Val otherwise = args[0].is_missing() ? Val::integer(0) : args[0];
  VITRO_TRY_ASSIGN(const int64_t base, int_argument(args[1], 10));
  if (value.is_integral()) return Val::integer(value.as_int());
  std::optional<double> real;
  if (value.is(Kind::kFloat)) {
    real = value.as_real();
    if (std::isinf(*real)) return raise("cannot convert float infinity to integer");
  } else if (value.is_string()) {
    VITRO_TRY_ASSIGN(const std::optional<int64_t> whole, parse_int(value.as_string().text(), base));
    if (whole) return Val::integer(*whole);
    real = parse_float(value.as_string().text());
  } else if (value.is(Kind::kUndefined)) {
    return raise_undefined(value);
  }
  if (!real) return otherwise;
  VITRO_TRY_ASSIGN(const std::optional<int64_t> whole, truncated(*real));
  return whole ? Val::integer(*whole) : otherwise;
}

Result<Val> to_float(Runtime&, const Val& value, Args args) {
  const Val otherwise = args[0].is_missing() ? Val::real(0) : args[0];
  if (value.is_number()) return Val::real(value.as_real());
  if (value.is(Kind::kUndefined)) return raise_undefined(value);
  const std::optional<double> real = value.is_string() ? parse_float(value.as_string().text()) : std::nullopt;
  return real ? Val::real(*real) : otherwise;
}

Result<Val> absolute(Runtime& rt, const Val& value, Args) {
  if (value.is(Kind::kFloat)) return Val::real(std::fabs(value.as_real()));
  if (value.is_integral()) return value.as_int() < 0 ? negate(rt, value) : Val::integer(value.as_int());
  if (value.is(Kind::kUndefined)) return raise("bad operand type for abs(): 'Undefined'");
  return raise("bad operand type for abs(): '{}'", type_name(value));
}

/// round(x, places) of Python: correctly rounded decimal digits, ties to even.
double round_to(double x, int64_t places) {
  if (!std::isfinite(x) || places > 323) return x;
  if (places < -308) return std::copysign(0.0, x);
  if (places >= 0) return std::strtod(fmt::format("{:.{}f}", x, places).c_str(), nullptr);
  const double unit = std::pow(10.0, static_cast<double>(-places));
  return std::nearbyint(x / unit) * unit;
}

Result<Val> round_int(int64_t value, int64_t places) {
  if (places >= 0) return Val::integer(value);
  if (places < -18) return Val::integer(0);
  int64_t unit = 1;
  for (int64_t i = 0; i < -places; ++i) unit *= 10;
  const int64_t rest = ((value % unit) + unit) % unit;
  const int64_t low = value - rest;
  const bool is_up = rest > unit - rest || (rest == unit - rest && (low / unit) % 2 != 0);
  int64_t out = low;
  if (is_up && __builtin_add_overflow(low, unit, &out)) return raise_wide();
  return Val::integer(out);
}

Result<Val> round(Runtime& rt, const Val& value, Args args) {
  VITRO_TRY_ASSIGN(const int64_t places, int_argument(args[0]));
  std::string method = "common";
  if (args[1].is_string()) method = args[1].as_string().text();
  if (method != "common" && method != "ceil" && method != "floor") {
    return raise("method must be common, ceil or floor");
  }
  if (value.is(Kind::kUndefined)) return raise("type Undefined doesn't define __round__ method");
  if (!value.is_number()) return raise("type {} doesn't define __round__ method", type_name(value));
  if (method == "common") {
    if (value.is_integral()) return round_int(value.as_int(), places);
    return Val::real(round_to(value.as_real(), places));
  }
  VITRO_TRY_ASSIGN(const Val unit, binary(rt, BinaryOp::kPow, Val::integer(10), Val::integer(places)));
  VITRO_TRY_ASSIGN(const Val scaled, binary(rt, BinaryOp::kMul, value, unit));
  if (!std::isfinite(scaled.as_real())) return raise("cannot convert float infinity or NaN to integer");
  Val whole = scaled;
  if (!scaled.is_integral()) {
    const double x = method == "ceil" ? std::ceil(scaled.as_real()) : std::floor(scaled.as_real());
    VITRO_TRY_ASSIGN(const std::optional<int64_t> n, truncated(x));
    whole = Val::integer(n.value_or(0));
  }
  return binary(rt, BinaryOp::kDiv, whole, unit);
}

Result<Val> filesizeformat(Runtime& rt, const Val& value, Args args) {
  std::optional<double> size;
  if (value.is_number()) size = value.as_real();
  if (value.is_string()) size = parse_float(value.as_string().text());
  if (!size) return raise("could not convert string to float: {}", repr_text(rt, value, 100));
  const bool is_binary = !args[0].is_missing() && is_true(args[0]);
  const double base = is_binary ? 1024 : 1000;
  if (*size == 1) return rt.string("1 Byte");
  if (*size < base) {
    VITRO_TRY_ASSIGN(const std::optional<int64_t> whole, truncated(*size));
    if (!whole) return raise("cannot convert float infinity or NaN to integer");
    return rt.string(fmt::format("{} Bytes", *whole));
  }
  if (std::isnan(*size)) return rt.string(is_binary ? "nan YiB" : "nan YB");
  constexpr std::string_view kPrefixes = "kMGTPEZY";
  double unit = base;
  size_t i = 0;
  do {
    unit *= base;
  } while (*size >= unit && ++i < kPrefixes.size());
  i = std::min(i, kPrefixes.size() - 1);
  const char prefix = is_binary && i == 0 ? 'K' : kPrefixes[i];
  return rt.string(fmt::format("{:.1f} {}{}", base * *size / unit, prefix, is_binary ? "iB" : "B"));
}

constexpr FilterEntry kFilters[] = {{"int", "default? base?", to_int},
                                    {"float", "default?", to_float},
                                    {"abs", "/", absolute},
                                    {"round", "precision? method?", round},
                                    {"filesizeformat", "binary?", filesizeformat}};

}  // namespace

std::span<const FilterEntry> number_filters() { return kFilters; }

}  // namespace vitro::jinja
