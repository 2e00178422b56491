#include "text/code_point_set.h"

#include <algorithm>

namespace vitro {
namespace {

// Planes 4 to 13 hold no characters; 15 and 16 are for private use except for the last two code points of each.
constexpr char32_t kFirstEmptyPlane = 0x40000, kAfterEmptyPlanes = 0xE0000, kFirstPrivatePlane = 0xF0000;

void add_run(std::vector<PropertyRun>& runs, char32_t first, char32_t last, PropertyMask properties) {
  if (!runs.empty() && runs.back().properties == properties) {
    runs.back().last = last;
  } else {
    runs.push_back({first, last, properties});
  }
}

}  // namespace

CodePointSet CodePointSet::of(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end());
  CodePointSet out;
  for (const Range& range : ranges) {
    if (!out.ranges_.empty() && range.first <= out.ranges_.back().second + 1) {
      out.ranges_.back().second = std::max(out.ranges_.back().second, range.second);
    } else {
      out.ranges_.push_back(range);
    }
  }
  return out;
}

bool CodePointSet::contains(char32_t code) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), code,
                                      [](char32_t value, const Range& range) { return value < range.first; });
  return after != ranges_.begin() && code <= std::prev(after)->second;
}

CodePointSet CodePointSet::complement() const {
  CodePointSet out;
  char32_t next = 0;
  for (const auto& [first, last] : ranges_) {
    if (first > next) out.ranges_.emplace_back(next, first - 1);
    next = last + 1;
  }
  if (next <= kLast) out.ranges_.emplace_back(next, kLast);
  return out;
}

CodePointSet operator|(const CodePointSet& a, const CodePointSet& b) {
  std::vector<CodePointSet::Range> ranges = a.ranges_;
  ranges.insert(ranges.end(), b.ranges_.begin(), b.ranges_.end());
  return CodePointSet::of(std::move(ranges));
}

CodePointSet operator&(const CodePointSet& a, const CodePointSet& b) {
  return (a.complement() | b.complement()).complement();
}

std::vector<PropertyRun> property_runs() {
  constexpr PropertyMask kMayBeSpace =
      PropertyMask{1} << static_cast<int>(Category::kZs) | PropertyMask{1} << static_cast<int>(Category::kZl) |
      PropertyMask{1} << static_cast<int>(Category::kZp) | PropertyMask{1} << static_cast<int>(Category::kCc);
  std::vector<PropertyRun> runs;
  for (char32_t code = 0; code < kFirstPrivatePlane; ++code) {
    if (code == kFirstEmptyPlane) {
      add_run(runs, code, kAfterEmptyPlanes - 1, properties_of(code));
      code = kAfterEmptyPlanes;
    }
    const PropertyMask mask = PropertyMask{1} << static_cast<int>(category_of(code));
    add_run(runs, code, code, (mask & kMayBeSpace) != 0 ? properties_of(code) : mask);
  }
  for (char32_t plane = kFirstPrivatePlane; plane <= CodePointSet::kLast; plane += 0x10000) {
    add_run(runs, plane, plane + 0xFFFD, properties_of(plane));
    add_run(runs, plane + 0xFFFE, plane + 0xFFFF, properties_of(plane + 0xFFFE));
  }
  return runs;
}

CodePointSet with_properties(const std::vector<PropertyRun>& runs, PropertyMask properties) {
  std::vector<CodePointSet::Range> ranges;
  for (const PropertyRun& run : runs) {
    if ((run.properties & properties) != 0) ranges.emplace_back(run.first, run.last);
  }
  return CodePointSet::of(std::move(ranges));
}

}  // namespace vitro
