// Sets of code points: the algebra, held against membership code point by code point.
#include "text/code_point_set.h"

#include <gtest/gtest.h>

namespace vitro {
namespace {

template <typename Expected>
size_t n_wrong(const CodePointSet& set, Expected expected) {
  size_t out = 0;
  for (char32_t code = 0; code <= CodePointSet::kLast; ++code) out += set.contains(code) != expected(code) ? 1 : 0;
  return out;
}

bool is_in(char32_t code, char32_t first, char32_t last) { return code >= first && code <= last; }

TEST(CodePointSet, RangesMayOverlapAndComeInAnyOrder) {
  const auto expected = [](char32_t code) { return is_in(code, 0, 3) || is_in(code, 5, 9); };
  EXPECT_EQ(n_wrong(CodePointSet::of({{5, 7}, {1, 2}, {0, 0}, {3, 3}, {6, 9}, {6, 6}}), expected), 0U);
  EXPECT_EQ(CodePointSet::of({{4, 5}, {1, 3}}), CodePointSet(1, 5));
  EXPECT_TRUE(CodePointSet::of({}).is_empty());
  EXPECT_FALSE(CodePointSet().contains(0));
}

TEST(CodePointSet, AlgebraOfRangesAndCategories) {
  const CodePointSet a = CodePointSet::of_categories(bit_of(Category::kLu) | bit_of(Category::kCn)) |
                         CodePointSet::of({{'a', 'f'}, {0x10FFFF, 0x10FFFF}});
  const CodePointSet b = CodePointSet::of({{'D', 'd'}, {0x100, 0x10FFFF}});
  const auto in_a = [](char32_t code) {
    const Category category = category_of(code);
    return category == Category::kLu || category == Category::kCn || is_in(code, 'a', 'f');
  };
  const auto in_b = [](char32_t code) { return is_in(code, 'D', 'd') || code >= 0x100; };
  EXPECT_EQ(n_wrong(a, in_a), 0U);
  EXPECT_EQ(n_wrong(a | b, [&](char32_t code) { return in_a(code) || in_b(code); }), 0U);
  EXPECT_EQ(n_wrong(a & b, [&](char32_t code) { return in_a(code) && in_b(code); }), 0U);
  EXPECT_EQ(n_wrong(a.complement(), [&](char32_t code) { return !in_a(code); }), 0U);
  EXPECT_EQ(a.complement().complement(), a);
}

TEST(CodePointSet, IsEmptyWhereNoCodePointHasTheCategories) {
  const CodePointSet lower = CodePointSet::of_categories(bit_of(Category::kLl));
  EXPECT_TRUE((lower & CodePointSet('A', 'Z')).is_empty());
  EXPECT_TRUE((lower & CodePointSet(0x20000, CodePointSet::kLast)).is_empty());
  EXPECT_FALSE((lower & CodePointSet(0x1E900, CodePointSet::kLast)).is_empty());  // Adlam
  EXPECT_FALSE((lower & CodePointSet('A', 'a')).is_empty());
  EXPECT_TRUE(CodePointSet::all().complement().is_empty());
}

TEST(CodePointSet, IsOneRangeIfWrittenSo) {
  using Range = CodePointSet::Range;
  EXPECT_EQ(CodePointSet('a', 'a').as_range(), Range('a', 'a'));
  EXPECT_EQ(CodePointSet::of({{'c', 'd'}, {'a', 'b'}}).as_range(), Range('a', 'd'));
  EXPECT_EQ(CodePointSet(0, 5).as_range(), Range(0, 5));
  EXPECT_EQ(CodePointSet(5, CodePointSet::kLast).as_range(), Range(5, CodePointSet::kLast));
  EXPECT_EQ(CodePointSet::all().as_range(), Range(0, CodePointSet::kLast));
  EXPECT_EQ(CodePointSet().as_range(), std::nullopt);
  EXPECT_EQ(CodePointSet::of({{'a', 'b'}, {'d', 'd'}}).as_range(), std::nullopt);
  EXPECT_EQ(CodePointSet('a', 'a').complement().as_range(), std::nullopt);
  EXPECT_EQ(CodePointSet::of_categories(bit_of(Category::kZl)).as_range(), std::nullopt);
}

}  // namespace
}  // namespace vitro
