// The automaton against a search that compares every content at every position, on random contents; then the flags.
#include "tokens/added_tokens.h"

#include <gtest/gtest.h>

#include <random>

namespace vitro {
namespace {

using Found = std::vector<std::pair<TokenId, ByteRange>>;

Found find(const AddedTokens& tokens, std::string_view text, const AddedTokens::Filter& filter) {
  Found out;
  for (const AddedTokens::Match& match : tokens.find_all(AlignedText::from(text), filter)) {
    out.emplace_back(match.id, match.range);
  }
  return out;
}

Found find(const AddedTokens& tokens, std::string_view text, bool parse_special = true) {
  return find(tokens, text, AddedTokens::Filter{parse_special, {}});
}

Found find_around(const AddedTokens& tokens, std::string_view text, std::vector<ByteRange> plain) {
  return find(tokens, text, AddedTokens::Filter{true, plain});
}

TEST(AddedTokens, LeftmostLongestEqualsTheNaiveSearch) {
  std::mt19937 rng(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<AddedToken> contents;
    for (TokenId id = 0; id < 6; ++id) {
      std::string content;
      for (size_t i = 1 + rng() % 4; i > 0; --i) content += "ab"[rng() % 2];
      contents.push_back({.id = id, .content = content});
    }
    const AddedTokens tokens(contents);
    std::string text;
    for (size_t i = rng() % 30; i > 0; --i) text += "abc"[rng() % 3];
    Found expected;
    for (size_t pos = 0; pos < text.size();) {
      const AddedToken* best = nullptr;
      for (const AddedToken& token : contents) {
        const bool is_here = text.compare(pos, token.content.size(), token.content) == 0;
        if (is_here && (best == nullptr || token.content.size() > best->content.size())) best = &token;
      }
      if (best != nullptr) expected.emplace_back(best->id, ByteRange{pos, pos + best->content.size()});
      pos += best != nullptr ? best->content.size() : 1;
    }
    EXPECT_EQ(find(tokens, text), expected) << text;
  }
}

TEST(AddedTokens, SpecialOnesAreTextWhenNotParsed) {
  const AddedTokens tokens({{.id = 1, .content = "<s>", .is_special = true}, {.id = 2, .content = "<u>"}});
  EXPECT_EQ(find(tokens, "<s><u>"), (Found{{1, {0, 3}}, {2, {3, 6}}}));
  EXPECT_EQ(find(tokens, "<s><u>", false), (Found{{2, {3, 6}}}));
}

TEST(AddedTokens, NoSpecialTokenIsParsedInPlainBytes) {
  const AddedTokens tokens({{.id = 1, .content = "<s>", .is_special = true}, {.id = 2, .content = "<u>"}});
  const std::string text = "<s><s><u><s>";
  EXPECT_EQ(find_around(tokens, text, {{3, 9}}), (Found{{1, {0, 3}}, {2, {6, 9}}, {1, {9, 12}}}));
  EXPECT_EQ(find_around(tokens, text, {{5, 10}}), (Found{{1, {0, 3}}, {2, {6, 9}}}));
  EXPECT_EQ(find_around(tokens, text, {{0, 1}, {11, 12}}), (Found{{1, {3, 6}}, {2, {6, 9}}}));
  EXPECT_EQ(find_around(tokens, text, {{0, 12}}), find(tokens, text, false));
}

/// What a user writes must neither complete a token of the template nor hide one.
TEST(AddedTokens, TokensAtTheBorderOfPlainBytesAreSeen) {
  const auto special = [](TokenId id, const char* content) {
    return AddedToken{.id = id, .content = content, .is_special = true};
  };
  const AddedTokens longer({special(1, "<s>"), special(2, "<s>x"), special(3, "<s>xy")});
  EXPECT_EQ(find_around(longer, "<s>xyz", {{4, 6}}), (Found{{2, {0, 4}}}));
  EXPECT_EQ(find_around(longer, "<s>xyz", {{3, 6}}), (Found{{1, {0, 3}}}));
  EXPECT_EQ(find_around(longer, "<s>xyz", {{2, 6}}), Found{});
  const AddedTokens overlapping({special(1, "<|end|>"), special(2, "|><|")});
  EXPECT_EQ(find_around(overlapping, "a|><|end|>", {{0, 3}}), (Found{{1, {3, 10}}}));
  EXPECT_EQ(find_around(overlapping, "a|><|end|>", {{0, 5}}), Found{});
}

TEST(AddedTokens, SingleWordsTouchNoWordCharacter) {
  const AddedTokens tokens({{.id = 1, .content = "or", .is_single_word = true}});
  EXPECT_EQ(find(tokens, "or for, or! \u00E9or or_ or"), (Found{{1, {0, 2}}, {1, {8, 10}}, {1, {21, 23}}}));
}

TEST(AddedTokens, WhiteSpaceIsTakenAlong) {
  const AddedTokens left({{.id = 1, .content = "<m>", .strips_left = true}});
  EXPECT_EQ(find(left, "a \u3000<m> b"), (Found{{1, {1, 8}}}));
  const AddedTokens right({{.id = 1, .content = "<m>", .strips_right = true}});
  EXPECT_EQ(find(right, "a <m> \n<m>"), (Found{{1, {2, 7}}, {1, {7, 10}}}));
  const AddedTokens both({{.id = 1, .content = "<m>", .strips_left = true, .strips_right = true}});
  EXPECT_EQ(find(both, "<m>  <m>"), (Found{{1, {0, 5}}, {1, {5, 8}}}));
}

TEST(AddedTokens, LongWhiteSpaceIsWalkedOnce) {
  const size_t n = 2'000'000;
  const std::string text = "a" + std::string(n, ' ') + "b";
  const AddedTokens right({{.id = 1, .content = " ", .strips_right = true}});
  const Found found = find(right, text);
  ASSERT_EQ(found.size(), n);
  EXPECT_EQ(found[0], (std::pair<TokenId, ByteRange>{1, {1, n + 1}}));
  EXPECT_EQ(found[n - 1], (std::pair<TokenId, ByteRange>{1, {n, n + 1}}));
  const AddedTokens both({{.id = 1, .content = " ", .strips_left = true, .strips_right = true}});
  const Found in_both = find(both, text);  // whose start is not before the end of the one before
  ASSERT_EQ(in_both.size(), n);
  EXPECT_EQ(in_both[0], found[0]);
  EXPECT_EQ(in_both[n - 1], (std::pair<TokenId, ByteRange>{1, {n + 1, n + 1}}));
  const AddedTokens left({{.id = 1, .content = " ", .strips_left = true}});
  EXPECT_EQ(find(left, text)[n - 1], (std::pair<TokenId, ByteRange>{1, {n, n + 1}}));
  // Many marks inside one run of white space that each walk left, none of which counts.
  const AddedTokens mark({{.id = 1, .content = "x", .strips_left = true}});
  EXPECT_EQ(find(mark, std::string(n, ' ') + "xx"), (Found{{1, {0, n + 1}}, {1, {n + 1, n + 2}}}));
}

TEST(AddedTokens, NothingAndBrokenContentsNeverMatch) {
  const AddedTokens tokens({{.id = 1, .content = ""}, {.id = 2, .content = "\xFF"}, {.id = 3, .content = "\x80"}});
  EXPECT_EQ(find(tokens, "\u20AC\u0080"), Found{});
  EXPECT_EQ(find(AddedTokens(), "abc"), Found{});
}

TEST(AddedTokens, LongOverlappingContentsStayLinear) {
  std::vector<AddedToken> contents = {{.id = 0, .content = "a"}};
  contents.push_back({.id = 1, .content = std::string(60000, 'a') + "b"});
  contents.push_back({.id = 2, .content = "b" + std::string(60000, 'a')});
  const AddedTokens tokens(contents);
  EXPECT_EQ(find(tokens, std::string(2000000, 'a')).size(), 2000000U);
}

}  // namespace
}  // namespace vitro
