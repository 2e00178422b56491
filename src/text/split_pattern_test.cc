// Split patterns: the notation, what is refused, and that no text makes them slow. Published patterns are held against
// the reference package in tokens/text_expectations_test.cc.
#include "text/split_pattern.h"

#include <gtest/gtest.h>

#include <ctime>

#include "text/split_pattern_classes.h"
#include "text/utf8.h"

namespace vitro {
namespace {

std::vector<std::string> matches(std::string_view regex, std::string_view text) {
  const Result<SplitPattern> pattern = SplitPattern::compile(regex);
  if (!pattern) return {pattern.error().message};
  const Result<std::vector<ByteRange>> found = pattern->find_all(text);
  if (!found) return {found.error().message};
  std::vector<std::string> out;
  for (const ByteRange& range : *found) out.emplace_back(text.substr(range.begin, range.size()));
  return out;
}

using Strings = std::vector<std::string>;

TEST(SplitPattern, QuantifiersAreGreedyAndGiveBack) {
  EXPECT_EQ(matches("a+", "aa b aaa"), (Strings{"aa", "aaa"}));
  EXPECT_EQ(matches("a{1,2}", "aaaaa"), (Strings{"aa", "aa", "a"}));
  EXPECT_EQ(matches("a{2}", "aaaaa"), (Strings{"aa", "aa"}));
  EXPECT_EQ(matches("a{2,}", "a aaaaa"), (Strings{"aaaaa"}));
  EXPECT_EQ(matches("a*ab", "aaab"), (Strings{"aaab"}));
  EXPECT_EQ(matches("[ab]+b", "abbab"), (Strings{"abbab"}));
  EXPECT_EQ(matches(R"(\s*[\r\n]+)", " \n  x \n"), (Strings{" \n", " \n"}));
  EXPECT_EQ(matches(R"(\s+(?!\S))", "a   b  "), (Strings{"  ", "  "}));
}

TEST(SplitPattern, AlternativesAreTriedInOrder) {
  EXPECT_EQ(matches("a|ab", "ab"), (Strings{"a"}));
  EXPECT_EQ(matches("ab|a", "ab"), (Strings{"ab"}));
  EXPECT_EQ(matches("x(?:a|ab)c", "xabc"), (Strings{"xabc"}));
  EXPECT_EQ(matches("x(a|b)?c", "xc xac xdc"), (Strings{"xc", "xac"}));
}

TEST(SplitPattern, ClassesAndEscapes) {
  EXPECT_EQ(matches(R"([^\s\p{L}\p{N}]+)", "ab!? 12 -- x"), (Strings{"!?", "--"}));
  EXPECT_EQ(matches(R"([a-c\-\]]+)", "abc-]d"), (Strings{"abc-]"}));
  EXPECT_EQ(matches(R"([+--]+)", "+,-."), (Strings{"+,-"}));
  EXPECT_EQ(matches(R"(\P{L}+)", "ab12cd"), (Strings{"12"}));
  EXPECT_EQ(matches(R"([\P{L}x]+)", "ab1xcd"), (Strings{"1x"}));
  EXPECT_EQ(matches(R"(\d+)", "a\u0661\u0662"), (Strings{"\u0661\u0662"}));
  EXPECT_EQ(matches("[\u4E00-\u9FA5]+", "a中国b"), (Strings{"中国"}));
  EXPECT_EQ(matches(".", "a\nb"), (Strings{"a", "b"}));
  EXPECT_EQ(matches(R"(\s+$)", "a  b  "), (Strings{"  "}));
  EXPECT_EQ(matches("a(?=b)", "ab ac"), (Strings{"a"}));
}

TEST(SplitPattern, IgnoringCaseFollowsSimpleFolding) {
  EXPECT_EQ(matches("(?i:'s|'ll)", "'s 'S '\u017F 'lL 'x"), (Strings{"'s", "'S", "'\u017F", "'lL"}));
  EXPECT_EQ(matches("(?i:k)", "kK\u212A"), (Strings{"k", "K", "\u212A"}));
}

TEST(SplitPattern, LazyAndPossessiveQuantifiers) {
  EXPECT_EQ(matches("a+?", "aaa"), (Strings{"a", "a", "a"}));
  EXPECT_EQ(matches("a+?b", "aaab"), (Strings{"aaab"}));
  EXPECT_EQ(matches("a++[ab]", "aaab"), (Strings{"aaab"}));
  EXPECT_EQ(matches("a++a", "aaa"), Strings{});
  EXPECT_EQ(matches("a?+ab", "ab aab"), (Strings{"aab"}));
  EXPECT_EQ(matches(R"([^\r\n\p{L}\p{N}]?+\p{L}++)", " a\nb"), (Strings{" a", "b"}));
}

TEST(SplitPattern, DialectsDiffer) {
  const auto find = [](std::string_view regex, RegexDialect dialect, std::string_view text) {
    return SplitPattern::compile(regex, dialect).value().find_all(text).value().size();
  };
  EXPECT_EQ(find("a{1,2}+", RegexDialect::kOniguruma, "aaaaa"), 1U);  // repeated
  EXPECT_EQ(find("a{1,2}+", RegexDialect::kFancyRegex, "aaaaa"), 3U);
  EXPECT_EQ(find("a{1,2}+a", RegexDialect::kFancyRegex, "aaaaa"), 1U);
  EXPECT_EQ(find("a$", RegexDialect::kOniguruma, "a\na"), 2U);  // at lines
  EXPECT_EQ(find("a$", RegexDialect::kFancyRegex, "a\na"), 1U);
  EXPECT_EQ(find("^a", RegexDialect::kOniguruma, "a\na"), 2U);
  EXPECT_EQ(find("^a", RegexDialect::kFancyRegex, "a\na"), 1U);
}

TEST(SplitPattern, TestsOfNeighbours) {
  EXPECT_EQ(matches("(?<=a)b", "ab cb"), (Strings{"b"}));
  EXPECT_EQ(matches("(?<!a)b", "b ab"), (Strings{"b"}));
  EXPECT_EQ(matches(R"(\b\w)", "ab, \u00E9c"), (Strings{"a", "\u00E9"}));
  EXPECT_EQ(matches(R"(a(?=\s|$))", "a ab a"), (Strings{"a", "a"}));
  EXPECT_EQ(matches("a(?!b|c)", "ab ac ad"), (Strings{"a"}));
}

TEST(SplitPattern, ClassesInClasses) {
  EXPECT_EQ(matches(R"([\p{L}&&[^ab]]+)", "abcde"), (Strings{"cde"}));
  EXPECT_EQ(matches("[a[bc]]+", "abcd"), (Strings{"abc"}));
  EXPECT_EQ(matches(R"([^(\s|[.,])]+)", "a.b(c d"), (Strings{"a", "b", "c", "d"}));
}

TEST(SplitPattern, LiteralsAreNotPatterns) {
  const Result<std::vector<ByteRange>> found = SplitPattern::literal(".\u2581").find_all("a.\u2581.x");
  EXPECT_EQ(found.value(), (std::vector<ByteRange>{{1, 5}}));
}

TEST(SplitPattern, WhatIsNotUnderstoodIsRefused) {
  for (const char* regex : {"(",
                            ")",
                            "(a",
                            "a)",
                            "[a",
                            "a**",
                            "*a",
                            "a{2,1}",
                            "a{0}",
                            "a{99999}",
                            "a{",
                            R"(\1)",
                            R"(\)",
                            R"(\p{Klingon})",
                            R"(\pL)",
                            "[]a]",
                            "[^]a]",
                            "(?<n>a)",
                            "(?!ab)a",
                            "[b-a]",
                            "\xFF",
                            "a*",
                            "",
                            "a|",
                            "(?:a|b*)",
                            "(a?)+b",
                            "(ab)++",
                            "(?i:st)",
                            "(?i:\u00E9)",
                            R"(\xE9)",
                            R"(\R)",
                            R"(\Gb)",
                            "(?>a)",
                            "[[:alpha:]]",
                            "(?=a)",
                            "a{1000}{1000}"}) {
    const Result<SplitPattern> pattern = SplitPattern::compile(regex);
    ASSERT_FALSE(pattern) << regex;
    EXPECT_EQ(pattern.error().code, ErrorCode::kUnsupported) << regex;
    EXPECT_NE(pattern.error().message.find("[split pattern]"), std::string::npos);
  }
  EXPECT_FALSE(SplitPattern::compile(std::string(100000, 'a')));
}

/// One state in which each of 245 characters leads to each of 2500 places.
std::string pattern_with_a_large_row() {
  std::string out = "(?:(?=a)";
  for (char32_t code = 0x4E00; code < 0x4E00 + 244; ++code) {
    append_utf8(out += "|(?=", code);
    out += ')';
  }
  out += ")(?:.b";
  for (int i = 1; i < 2500; ++i) out += "|.b";
  return out + ")";
}

TEST(SplitPattern, PatternsThatNeedLargeTablesAreRefusedAtOnce) {
  for (const std::string& regex : {std::string("(a{1000}b{1000}){1000}"), std::string("[ab]*a[ab]{20}"),
                                   std::string(R"(\w*a\w{1,400}b)"), pattern_with_a_large_row()}) {
    const std::clock_t start = std::clock();
    const Result<SplitPattern> pattern = SplitPattern::compile(regex);
    ASSERT_FALSE(pattern) << regex;
    EXPECT_NE(pattern.error().message.find("[split pattern] the pattern needs"), std::string::npos);
    EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC / 4) << regex.substr(0, 40);
  }
}

TEST(SplitPattern, NoSetsMakeOneClass) {
  const Result<CharacterClasses> classes = classify({});
  ASSERT_TRUE(classes) << classes.error().message;
  EXPECT_EQ(classes->n, 1U);
  EXPECT_EQ(classes->pages, std::vector<uint8_t>(size_t{1} << kCategoryBlockBits, 0));
  EXPECT_EQ(classes->page_of, std::vector<uint16_t>((size_t{CodePointSet::kLast} + 1) >> kCategoryBlockBits, 0));
}

TEST(SplitPattern, HostilePatternsTakeNoQuadraticTime) {
  const std::string text(size_t{1} << 20, 'a');
  for (const char* regex : {"a+b", "a*a*a*a*b", "a+a+b|a+c", "[^b]*b", "a+$|a+b"}) {
    const Result<SplitPattern> pattern = SplitPattern::compile(regex);
    ASSERT_TRUE(pattern) << regex;
    EXPECT_EQ(pattern->find_all(text)->size(), regex[2] == '$' ? 1U : 0U) << regex;
    EXPECT_EQ(pattern->find_all(text + "baab")->size(), 2U) << regex;
  }
}

TEST(SplitPattern, LongRunsOfOneKindAreCutWithoutGaps) {
  const char* patterns[] = {
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
      R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
      R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
      R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
      R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
  for (const char* regex : patterns) {
    const Result<SplitPattern> pattern = SplitPattern::compile(regex);
    ASSERT_TRUE(pattern) << pattern.error().message;
    for (const char* unit :
         {"a", "A", "7", " ", "\n", " \n", "\u0301", "\U0001F600", "中", "A中", "中A", "'", "' ", "\u00A0", "\t\r"}) {
      std::string text;
      while (text.size() < 200000) text += unit;
      const Result<std::vector<ByteRange>> found = pattern->find_all(text + "x");
      ASSERT_TRUE(found) << unit << ": " << found.error().message;
      size_t n_bytes = 0;
      for (const ByteRange& range : *found) n_bytes += range.size();
      EXPECT_EQ(n_bytes, text.size() + 1) << unit;  // these patterns leave no gaps
    }
  }
}

}  // namespace
}  // namespace vitro
