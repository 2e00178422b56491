// The notation of regular expressions, read into a tree. Two dialects, which agree on what published tokenizers write
// except for the points named below. What is not understood is refused by name and place.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/code_point_set.h"
#include "text/split_pattern.h"

namespace vitro {

/// A part of a pattern. Text is consumed by sets alone; everything else says how they follow each other.
struct RegexNode {
  enum class Kind : uint8_t {
    kSet,           ///< one character of sets[set]
    kSequence,      ///< the children, one after another; none: the empty match
    kAlternatives,  ///< the first child that leads to a match
    kRepeat,        ///< the only child n_min to n_max times, as often as possible (is_lazy: as rarely)
    kTest,          ///< the next character (is_behind: the one before) is in sets[set]; at_edge: or there is none
  };
  Kind kind = Kind::kSequence;
  std::vector<RegexNode> children;
  uint32_t set = 0;
  uint32_t n_min = 0;
  uint32_t n_max = 0;
  bool is_lazy = false;
  bool is_behind = false;
  bool at_edge = false;
};

constexpr uint32_t kNoMaximum = UINT32_MAX;

struct Regex {
  RegexNode root;
  std::vector<CodePointSet> sets;  ///< no two the same
};

/// Unsupported: names what is not understood, and where it stands.
Result<Regex> parse_regex(std::string_view pattern, RegexDialect dialect);

}  // namespace vitro
