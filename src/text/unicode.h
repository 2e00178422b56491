// Facts about code points: general category, white space, word characters, canonical composition. Tables are generated
// by tools/make_unicode_tables.py at the Unicode versions of the reference tokenizers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace vitro {

/// General category; the order is that of the generated tables.
enum class Category : uint8_t {
  kLu,
  kLl,
  kLt,
  kLm,
  kLo,
  kMn,
  kMc,
  kMe,
  kNd,
  kNl,
  kNo,
  kPc,
  kPd,
  kPs,
  kPe,
  kPi,
  kPf,
  kPo,
  kSm,
  kSc,
  kSk,
  kSo,
  kZs,
  kZl,
  kZp,
  kCc,
  kCf,
  kCs,
  kCo,
  kCn
};
constexpr int kCategoryCount = 30;

/// Category of a code point; kCn for values above U+10FFFF.
Category category_of(char32_t code);

/// A set of code points as bits: one a category, and one for the property White_Space.
using PropertyMask = uint32_t;
constexpr PropertyMask kAllCategories = (PropertyMask{1} << kCategoryCount) - 1;
constexpr PropertyMask kWhiteSpaceBit = PropertyMask{1} << kCategoryCount;
/// The bit of the code point's category, with kWhiteSpaceBit where it is white space.
PropertyMask properties_of(char32_t code);

/// Mask of a category or a group of them as regular expressions name it ("L", "Lu", "P"); nothing if there is no such
/// name.
std::optional<PropertyMask> category_mask(std::string_view name);

bool is_white_space(char32_t code);
/// As \w of regular expressions (UTS 18): alphabetic, mark, decimal number, connector punctuation, join control.
bool is_word_character(char32_t code);

/// Canonical combining class; 0 for starters.
int combining_class(char32_t code);
/// One step of canonical decomposition, Hangul included: {first, second}, second 0 for singletons; nothing if there is
/// none.
std::optional<std::array<char32_t, 2>> decompose_once(char32_t code);
/// The primary composite of two code points, or 0.
char32_t compose_pair(char32_t first, char32_t second);

}  // namespace vitro
