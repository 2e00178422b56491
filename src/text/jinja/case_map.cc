#include "text/jinja/case_map.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

namespace vitro::jinja {
namespace {

/// Code points first, first + step, ..., last, each mapped delta further.
struct CaseRun {
  uint32_t first, last;
  int32_t delta;
  uint32_t step;
};
struct CaseSpecial {
  uint32_t code;
  Mapped mapped;
};
struct CaseRange {
  uint32_t first, last;
};

#include "text/jinja/case_tables.inc"

Mapped find_mapping(char32_t c, std::span<const CaseRun> runs, std::span<const CaseSpecial> specials) {
  const auto special =
      std::partition_point(specials.begin(), specials.end(), [&](const auto& s) { return s.code < c; });
  if (special != specials.end() && special->code == c) return special->mapped;
  const auto run = std::partition_point(runs.begin(), runs.end(), [&](const auto& r) { return r.last < c; });
  const bool is_in = run != runs.end() && c >= run->first && (c - run->first) % run->step == 0;
  return {is_in ? static_cast<char32_t>(static_cast<int32_t>(c) + run->delta) : c, 0, 0};
}

bool is_in(char32_t c, std::span<const CaseRange> ranges) {
  const auto it = std::partition_point(ranges.begin(), ranges.end(), [&](const auto& r) { return r.last < c; });
  return it != ranges.end() && c >= it->first;
}

}  // namespace

Mapped upper_of(char32_t c) { return find_mapping(c, kUpperRuns, kUpperSpecials); }
Mapped lower_of(char32_t c) { return find_mapping(c, kLowerRuns, kLowerSpecials); }
Mapped title_of(char32_t c) { return find_mapping(c, kTitleRuns, kTitleSpecials); }
Mapped fold_of(char32_t c) { return find_mapping(c, kFoldRuns, kFoldSpecials); }
bool is_cased(char32_t c) { return is_in(c, kCasedRanges); }
bool is_case_ignorable(char32_t c) { return is_in(c, kIgnorableRanges); }
bool is_upper(char32_t c) { return is_in(c, kUpperRanges); }
bool is_lower(char32_t c) { return is_in(c, kLowerRanges); }
bool is_decimal(char32_t c) { return is_in(c, kDecimalRanges); }
bool is_digit(char32_t c) { return is_in(c, kDigitRanges); }
bool is_numeric(char32_t c) { return is_in(c, kNumericRanges); }

}  // namespace vitro::jinja
