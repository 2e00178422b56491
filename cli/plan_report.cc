#include "cli/plan_report.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/human.h"

namespace vitro {

PlanCell text_cell(std::string text) {
  Value value(text);
  return {std::move(text), std::move(value)};
}

PlanCell count_cell(int64_t n) { return {human_count(n), Value(n)}; }

PlanCell bytes_cell(int64_t n_bytes) { return {decimal_text(static_cast<double>(n_bytes), "B"), Value(n_bytes)}; }

PlanCell binary_cell(int64_t n_bytes) { return {human_bytes(static_cast<uint64_t>(n_bytes)), Value(n_bytes)}; }

PlanCell flops_cell(int64_t n) { return {decimal_text(static_cast<double>(n), ""), Value(n)}; }

PlanCell real_cell(double value, int n_digits) { return {fmt::format("{:.{}f}", value, n_digits), Value(value)}; }

PlanCell seconds_cell(double seconds) {
  if (seconds >= 99.95) return {fmt::format("{:.0f} s", seconds), Value(seconds)};
  if (seconds >= 0.9995) return {fmt::format("{:.3g} s", seconds), Value(seconds)};
  if (seconds >= 0.9995e-3) return {fmt::format("{:.3g} ms", 1e3 * seconds), Value(seconds)};
  return {fmt::format("{:.3g} µs", 1e6 * seconds), Value(seconds)};
}

PlanCell no_cell() { return {"—", Value()}; }

DecimalScale decimal_scale(double largest, PlanUnit unit) {
  constexpr std::array<const char*, 8> kPrefixes = {"", "k", "M", "G", "T", "P", "E", "Z"};
  DecimalScale scale;
  for (size_t i = 0; i + 1 < kPrefixes.size(); ++i) {
    // Memory is compared in GB: 1,342 GB say more beside 80 GB than 1.34 TB.
    const double most = unit == PlanUnit::kBytes && scale.divisor == 1e9 ? 9999.5 : 999.5;
    if (largest / scale.divisor < most) break;
    scale.divisor *= 1000;
    scale.prefix = kPrefixes[i + 1];
  }
  return scale;
}

std::string decimal_text(double value, std::string_view unit) {
  const DecimalScale scale = decimal_scale(std::abs(value), unit == "B" ? PlanUnit::kBytes : PlanUnit::kFlops);
  const double scaled = value / scale.divisor;
  const int n_digits = scale.divisor == 1 ? 0 : std::abs(scaled) < 99.995 ? 2 : 1;
  std::string text = fmt::format("{:.{}f} {}{}", scaled, n_digits, scale.prefix, unit);
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string plural(int64_t n, std::string_view one) {
  return fmt::format("{} {}{}", human_count(n), one, n == 1 ? "" : "s");
}

std::string_view unit_name(PlanUnit unit) {
  switch (unit) {
    case PlanUnit::kBytes:
      return "B";
    case PlanUnit::kFlops:
      return "FLOP";
    case PlanUnit::kParameters:
      break;
  }
  return "parameters";
}

}  // namespace vitro
