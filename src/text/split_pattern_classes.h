// The classes of characters of a pattern: code points that none of its sets tells apart.
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "text/code_point_set.h"

namespace vitro {

constexpr size_t kMaxClasses = 250;
using ClassBits = std::bitset<256>;  ///< classes, and one more for the end of the text

struct CharacterClasses {
  size_t n = 0;
  std::vector<ClassBits> members;  ///< [set]: the classes of which it consists
  // The class of a code point, in two stages: each page of 2^kCategoryBlockBits is kept once.
  std::vector<uint16_t> page_of;
  std::vector<uint8_t> pages;
};

/// Unsupported if there are more than kMaxClasses.
Result<CharacterClasses> classify(const std::vector<CodePointSet>& sets);

}  // namespace vitro
