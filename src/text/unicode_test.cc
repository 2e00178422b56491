// The tables against counts and facts of the Unicode Character Database (16.0 for categories, by Python's
// unicodedata2).
#include "text/unicode.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "text/normalize.h"
#include "text/utf8.h"

namespace vitro {
namespace {

TEST(Unicode, EveryCategoryHasAsManyCodePointsAsTheDatabase) {
  const std::map<std::string, int> expected = {
      {"Cn", 819533}, {"Co", 137468}, {"Lo", 136477}, {"So", 7376}, {"Ll", 2258}, {"Cs", 2048},
      {"Mn", 2020},   {"Lu", 1858},   {"Sm", 950},    {"No", 915},  {"Nd", 760},  {"Po", 640},
      {"Mc", 468},    {"Lm", 404},    {"Nl", 236},    {"Cf", 170},  {"Sk", 125},  {"Ps", 79},
      {"Pe", 77},     {"Cc", 65},     {"Sc", 63},     {"Lt", 31},   {"Pd", 27},   {"Zs", 17},
      {"Me", 13},     {"Pi", 12},     {"Pc", 10},     {"Pf", 10},   {"Zl", 1},    {"Zp", 1}};
  std::map<CategoryMask, int> counts;
  for (char32_t code = 0; code <= 0x10FFFF; ++code) ++counts[bit_of(category_of(code))];
  ASSERT_EQ(counts.size(), expected.size());
  for (const auto& [name, n] : expected) EXPECT_EQ(counts[category_mask(name).value()], n) << name;
}

TEST(Unicode, CategoriesOfSomeCharacters) {
  const std::pair<char32_t, const char*> cases[] = {
      {'A', "Lu"},     {'z', "Ll"},    {'5', "Nd"},      {' ', "Zs"},     {'\n', "Cc"},   {'$', "Sc"},
      {'_', "Pc"},     {U'ǅ', "Lt"},   {U'ʰ', "Lm"},     {U'中', "Lo"},   {0x0301, "Mn"}, {0x0903, "Mc"},
      {0x20DD, "Me"},  {U'Ⅷ', "Nl"},   {U'½', "No"},     {U'«', "Pi"},    {0x200D, "Cf"}, {0xE000, "Co"},
      {0x1F600, "So"}, {0x2028, "Zl"}, {0x10FFFF, "Cn"}, {0x323AF, "Lo"}, {0x323B0, "Cn"}};
  for (const auto& [code, name] : cases) {
    EXPECT_EQ(bit_of(category_of(code)), category_mask(name).value()) << std::hex << static_cast<uint32_t>(code);
  }
  EXPECT_EQ(category_of(0x110000), Category::kCn);
}

TEST(Unicode, GroupsOfCategoriesAndUnknownNames) {
  EXPECT_EQ(category_mask("L"), *category_mask("Lu") | *category_mask("Ll") | *category_mask("Lt") |
                                    *category_mask("Lm") | *category_mask("Lo"));
  for (const char* name : {"", "X", "Lx", "Lul", "l", "Greek"}) EXPECT_FALSE(category_mask(name)) << name;
}

TEST(Unicode, WhiteSpaceIsTheTwentyFiveCodePointsOfTheProperty) {
  int n = 0;
  for (char32_t code = 0; code <= 0x10FFFF; ++code) n += is_white_space(code) ? 1 : 0;
  EXPECT_EQ(n, 25);
  for (const char32_t code :
       {0x9U, 0xDU, 0x20U, 0x85U, 0xA0U, 0x1680U, 0x2000U, 0x200AU, 0x2028U, 0x2029U, 0x202FU, 0x205FU, 0x3000U}) {
    EXPECT_TRUE(is_white_space(code)) << static_cast<uint32_t>(code);
  }
  for (const char32_t code : {0x1CU, 0x200BU, 0xFEFFU, 0x180EU})
    EXPECT_FALSE(is_white_space(code)) << static_cast<uint32_t>(code);
}

TEST(Unicode, WordCharacters) {
  for (const char32_t code : {U'a', U'Ω', U'中', U'5', U'_', U'\u0301', U'\u200D', U'Ⓐ'})
    EXPECT_TRUE(is_word_character(code));
  for (const char32_t code : {U' ', U'.', U'-', U'½', U'€', U'😀'}) EXPECT_FALSE(is_word_character(code));
}

std::string nfc(std::string_view text) {
  std::string out;
  for (const NormalizedChar& c : normalize(text, NormalForm::kNfc)) append_utf8(out, c.value);
  return out;
}

// Examples of UAX 15 and of the Unicode Standard's chapter 3.12.
TEST(Unicode, CompositionExamplesOfTheStandard) {
  const std::pair<std::string_view, std::string_view> cases[] = {{"", ""},
                                                                 {"abc", "abc"},
                                                                 {"A\u030A", "\u00C5"},
                                                                 {"\u212B", "\u00C5"},
                                                                 {"\u1E9B\u0323", "\u1E9B\u0323"},
                                                                 {"\u1E0B\u0323", "\u1E0D\u0307"},
                                                                 {"q\u0307\u0323", "q\u0323\u0307"},
                                                                 {"\u0958", "\u0915\u093C"},
                                                                 {"\uFB01", "\uFB01"},
                                                                 {"\u1112\u1161\u11AB", "\uD55C"},
                                                                 {"\uD558\u11AB", "\uD55C"},
                                                                 {"\uAC00\u11A7", "\uAC00\u11A7"},
                                                                 {"\u0344", "\u0308\u0301"},
                                                                 {"e\u0301\u0301", "\u00E9\u0301"},
                                                                 {"\u0301e", "\u0301e"},
                                                                 {"\U0001D15E", "\U0001D157\U0001D165"}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(nfc(text), expected) << text;
}

TEST(Unicode, CompositionIsStableOnEveryCodePoint) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    append_utf8(text, code);
    const std::string once = nfc(text);
    ASSERT_EQ(nfc(once), once) << std::hex << static_cast<uint32_t>(code);
    if (is_trivially_normal(text, NormalForm::kNfc)) {
      ASSERT_EQ(once, text);
    }
  }
}

TEST(Unicode, ManyMarksInDescendingOrderTakeNoQuadraticTime) {
  std::string text = "a";
  for (int i = 0; i < 200000; ++i) text += i % 2 == 0 ? "\u0301" : "\u0323";
  EXPECT_EQ(normalize(text, NormalForm::kNfc).size(),
            200000U);  // only the first dot below composes, as in Python's unicodedata
}

}  // namespace
}  // namespace vitro
