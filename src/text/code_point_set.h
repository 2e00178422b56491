// CodePointSet: a set of code points as ascending ranges, with the set algebra of character classes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "text/unicode.h"

namespace vitro {

class CodePointSet {
 public:
  static constexpr char32_t kLast = 0x10FFFF;
  using Range = std::pair<char32_t, char32_t>;  ///< inclusive

  CodePointSet() = default;
  CodePointSet(char32_t first, char32_t last) : ranges_{{first, last}} {}
  static CodePointSet all() { return {0, kLast}; }
  /// From ranges in any order, overlaps allowed.
  static CodePointSet of(std::vector<Range> ranges);

  const std::vector<Range>& ranges() const { return ranges_; }
  bool is_empty() const { return ranges_.empty(); }
  bool contains(char32_t code) const;

  CodePointSet complement() const;
  friend CodePointSet operator|(const CodePointSet& a, const CodePointSet& b);
  friend CodePointSet operator&(const CodePointSet& a, const CodePointSet& b);
  friend bool operator==(const CodePointSet&, const CodePointSet&) = default;

 private:
  std::vector<Range> ranges_;  ///< ascending, neither overlapping nor touching
};

/// All code points in runs of the same properties; some thousand runs.
struct PropertyRun {
  char32_t first = 0;
  char32_t last = 0;
  PropertyMask properties = 0;
};
std::vector<PropertyRun> property_runs();
/// The code points of the runs with one of the properties.
CodePointSet with_properties(const std::vector<PropertyRun>& runs, PropertyMask properties);

}  // namespace vitro
