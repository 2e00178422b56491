// Facts about code points: general category, white space, word characters, canonical composition. Tables are generated
// by tools/make_unicode_tables.py at the Unicode versions of the reference tokenizers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

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

/// A set of categories as bits.
using CategoryMask = uint32_t;
constexpr CategoryMask kAllCategories = (CategoryMask{1} << kCategoryCount) - 1;
constexpr CategoryMask bit_of(Category category) { return CategoryMask{1} << static_cast<int>(category); }

/// Categories are kept by blocks of so many bits of the code point, and blocks on shelves; those of one number have the
/// same contents. Code points are at most U+10FFFF here.
constexpr int kCategoryBlockBits = 7, kCategoryShelfBits = 13;
size_t category_shelf(char32_t code);
size_t n_category_shelves();
size_t category_block(char32_t code);
size_t n_category_blocks();
/// Of the block of this number: the category at a place, and all that occur.
Category category_in_block(size_t number, size_t idx);
CategoryMask categories_in_block(size_t number);

/// Mask of a category or a group of them as regular expressions name it ("L", "Lu", "P"); nothing if there is no such
/// name.
std::optional<CategoryMask> category_mask(std::string_view name);

/// What has a property: all code points of some categories and others, in ascending ranges (inclusive).
struct CodePointProperty {
  CategoryMask categories = 0;
  std::span<const std::pair<char32_t, char32_t>> others;
};
/// White_Space.
CodePointProperty white_space();
/// As \w of regular expressions (UTS 18): alphabetic, mark, decimal number, connector punctuation, join control.
CodePointProperty word_characters();

bool is_white_space(char32_t code);
bool is_word_character(char32_t code);

/// Canonical combining class; 0 for starters.
int combining_class(char32_t code);
/// One step of canonical decomposition, Hangul included: {first, second}, second 0 for singletons; nothing if there is
/// none.
std::optional<std::array<char32_t, 2>> decompose_once(char32_t code);
/// The primary composite of two code points, or 0.
char32_t compose_pair(char32_t first, char32_t second);

}  // namespace vitro
