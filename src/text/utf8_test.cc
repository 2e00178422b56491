// UTF-8 against Python's decoder (bytes.decode("utf-8", "replace")) and against itself at every cut.
#include "text/utf8.h"

#include <gtest/gtest.h>

#include <random>

namespace vitro {
namespace {

struct Case {
  std::string_view bytes;
  std::string_view text;  // as Python prints it
};

TEST(Utf8, BrokenPartsBecomeReplacementCharacters) {
  const Case cases[] = {
      {"abc", "abc"},
      {"a\xE2\x82\xAC\xF0\x9F\xA6\x84z", "a\u20AC\U0001F984z"},
      {"\x80", "\uFFFD"},
      {"\xC0\xAF", "\uFFFD\uFFFD"},                      // overlong
      {"\xE0\x80\xAF", "\uFFFD\uFFFD\uFFFD"},            // overlong
      {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},            // surrogate
      {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},  // above U+10FFFF
      {"\xF8\x88\x80\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"},
      {"\xE2\x82", "\uFFFD"},  // unfinished: one for the whole part
      {"\xE2\x82x", "\uFFFDx"},
      {"\xF0\x9F\xA6\xE2\x82\xAC", "\uFFFD\u20AC"},
      {"\xF0\x9F\x41\xFF\x42", "\uFFFD\x41\uFFFD\x42"},
      {"\xC3\xC3\xA9", "\uFFFD\u00E9"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(replace_invalid_utf8(c.bytes), c.text);
    EXPECT_EQ(is_valid_utf8(c.bytes), c.bytes == c.text);
  }
}

TEST(Utf8, EveryCodePointSurvives) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    append_utf8(text, code);
    const CodePoint point = decode_utf8(text);
    ASSERT_TRUE(point.is_valid && point.value == code && point.n_bytes == static_cast<int>(text.size()))
        << static_cast<uint32_t>(code);
  }
}

TEST(Utf8, SurrogatesAndTooLargeValuesAreReplaced) {
  for (const char32_t code : {0xD800U, 0xDFFFU, 0x110000U, 0xFFFFFFFFU}) {
    std::string text;
    append_utf8(text, code);
    EXPECT_EQ(text, "\uFFFD");
  }
}

TEST(Utf8, PrefixHoldsBackOnlyUnfinishedCharacters) {
  EXPECT_EQ(complete_utf8_prefix(""), 0U);
  EXPECT_EQ(complete_utf8_prefix("ab"), 2U);
  EXPECT_EQ(complete_utf8_prefix("a\xE2"), 1U);
  EXPECT_EQ(complete_utf8_prefix("a\xE2\x82"), 1U);
  EXPECT_EQ(complete_utf8_prefix("a\xE2\x82\xAC"), 4U);
  EXPECT_EQ(complete_utf8_prefix("\xF0\x9F\xA6"), 0U);
  EXPECT_EQ(complete_utf8_prefix("\xE0\x80"), 2U);  // broken already: nothing can complete it
  EXPECT_EQ(complete_utf8_prefix("\x80\x80\x80"), 3U);
  EXPECT_EQ(complete_utf8_prefix("\xFF"), 1U);
}

TEST(Utf8, CutAnywhereTheJoinedTextIsTheSame) {
  std::mt19937 rng(1);
  const std::string_view alphabet = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\xA6\x84\xED\xA0\xFF";
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (size_t i = rng() % 12; i > 0; --i) bytes += alphabet[rng() % alphabet.size()];
    std::string pending;
    std::string joined;
    for (const char c : bytes) {
      pending += c;
      const size_t n = complete_utf8_prefix(pending);
      joined += replace_invalid_utf8(std::string_view(pending).substr(0, n));
      pending.erase(0, n);
      ASSERT_LE(pending.size(), 3U);
    }
    ASSERT_EQ(joined + replace_invalid_utf8(pending), replace_invalid_utf8(bytes));
  }
}

}  // namespace
}  // namespace vitro
