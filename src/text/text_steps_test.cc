// Steps over pieces: what becomes of the text, of the pieces, and of the origins. Expected splits are those of the
// reference's documentation of SplitDelimiterBehavior ("the-final--countdown" cut at '-').
#include "text/text_steps.h"

#include <gtest/gtest.h>

#include <random>

#include "testing/expect_error.h"
#include "text/utf8.h"

namespace vitro {
namespace {

using Strings = std::vector<std::string>;

/// With a budget that no test but those about it comes near.
Status apply_step(const TextStep& step, PieceList& list) {
  TextBudget budget(list.text.text().size());
  return vitro::apply_step(step, list, budget);
}

Strings pieces_of(const PieceList& list) {
  Strings out;
  for (const ByteRange& piece : list.pieces) out.emplace_back(list.text.text().substr(piece.begin, piece.size()));
  return out;
}

Strings split(std::string_view text, SplitBehavior behavior, bool is_inverted = false) {
  PieceList list = PieceList::whole(AlignedText::from(text));
  EXPECT_TRUE(apply_step(SplitStep{SplitPattern::literal("-"), behavior, is_inverted}, list));
  return pieces_of(list);
}

TEST(TextSteps, SplitBehaviors) {
  const std::string_view text = "the-final--countdown";
  EXPECT_EQ(split(text, SplitBehavior::kRemoved), (Strings{"the", "final", "countdown"}));
  EXPECT_EQ(split(text, SplitBehavior::kIsolated), (Strings{"the", "-", "final", "-", "-", "countdown"}));
  EXPECT_EQ(split(text, SplitBehavior::kMergedWithPrevious), (Strings{"the-", "final-", "-", "countdown"}));
  EXPECT_EQ(split(text, SplitBehavior::kMergedWithNext), (Strings{"the", "-final", "-", "-countdown"}));
  EXPECT_EQ(split(text, SplitBehavior::kContiguous), (Strings{"the", "-", "final", "--", "countdown"}));
  EXPECT_EQ(split(text, SplitBehavior::kRemoved, true), (Strings{"-", "-", "-"}));
  EXPECT_EQ(split("", SplitBehavior::kIsolated), Strings{});
}

TEST(TextSteps, OriginsGiveWholeCharacters) {
  const AlignedText text = AlignedText::from("a\u20ACb");
  EXPECT_EQ(text.origin({2, 3}), (ByteRange{1, 4}));
  EXPECT_EQ(text.origin({0, 5}), (ByteRange{0, 5}));
  EXPECT_EQ(text.slice({1, 4}).origin({0, 1}), (ByteRange{1, 4}));
}

TEST(TextSteps, BrokenBytesAreReplacedAndKeepTheirPlace) {
  const AlignedText text = AlignedText::from("a\xE2\x82z\xFF");
  EXPECT_EQ(text.text(), "a\uFFFDz\uFFFD");
  EXPECT_EQ(text.origin({1, 4}), (ByteRange{1, 3}));
  EXPECT_EQ(text.origin({5, 8}), (ByteRange{4, 5}));
}

/// Applies a form to a text of these characters and compares text and origins with those of normalize() on the whole,
/// which the step calls only for stretches.
void check_normal_form(const std::vector<std::string>& characters, NormalForm form) {
  std::string text;
  std::vector<ByteRange> ranges;
  for (const std::string& c : characters) {
    ranges.push_back({text.size(), text.size() + c.size()});
    text += c;
  }
  PieceList list = PieceList::whole(AlignedText::from(text));
  ASSERT_TRUE(apply_step(NormalFormStep{form}, list));
  std::string expected;
  size_t next = 0;  // of the source
  for (const NormalizedChar& c : normalize(text, form)) {
    const size_t begin = expected.size();
    append_utf8(expected, c.value);
    ASSERT_EQ(list.text.text().substr(0, expected.size()), expected) << text;
    const bool is_new = c.change > 0 || next >= ranges.size();
    ASSERT_EQ(list.text.origin({begin, expected.size()}), ranges[is_new && next > 0 ? next - 1 : next]) << text;
    if (c.change <= 0) next += static_cast<size_t>(1 - c.change);
  }
  ASSERT_EQ(list.text.text(), expected);
}

TEST(TextSteps, NormalFormsOfStretchesEqualThoseOfTheWhole) {
  const Strings characters = {"a",      "e",      "\u00E9", "\u0301", "\u0323",    "\u0344",
                              "\u1100", "\u1161", "\u11A8", "\uAC00", "\u0958",    "\u093C",
                              "\uFB01", "\u212B", "\u4E2D", "\u00BD", "\U0001D15E"};
  std::mt19937 rng(3);
  for (int round = 0; round < 4000; ++round) {
    Strings text(rng() % 12);
    for (std::string& c : text) c = characters[rng() % characters.size()];
    for (const auto form : {NormalForm::kNfc, NormalForm::kNfd, NormalForm::kNfkc, NormalForm::kNfkd}) {
      check_normal_form(text, form);
    }
  }
}

TEST(TextSteps, ReplaceAndPrependWorkInsidePieces) {
  PieceList list = PieceList::whole(AlignedText::from("ab cd"));
  ASSERT_TRUE(apply_step(ReplaceStep{" ", "\u2581"}, list));
  ASSERT_TRUE(apply_step(SplitStep{SplitPattern::literal("\u2581"), SplitBehavior::kMergedWithNext, false}, list));
  ASSERT_TRUE(apply_step(PrependStep{.prefix = "\u2581", .unless_present = true, .at_start_only = false}, list));
  EXPECT_EQ(pieces_of(list), (Strings{"\u2581ab", "\u2581cd"}));
  EXPECT_EQ(list.text.origin(list.pieces[0]), (ByteRange{0, 2}));
  EXPECT_EQ(list.text.origin({0, 3}), (ByteRange{0, 1}));  // the prefix stands for the first character
  EXPECT_EQ(list.text.origin(list.pieces[1]), (ByteRange{2, 5}));
}

TEST(TextSteps, PrependAtTheStartOnly) {
  const AlignedText whole = AlignedText::from("abcd");
  for (const size_t begin : {size_t{0}, size_t{2}}) {
    PieceList list = PieceList::whole(whole.slice({begin, begin + 2}));
    ASSERT_TRUE(apply_step(PrependStep{.prefix = "_", .unless_present = true, .at_start_only = true}, list));
    EXPECT_EQ(list.text.text(), begin == 0 ? "_ab" : "cd");
  }
}

TEST(TextSteps, CompositionKeepsOrigins) {
  PieceList list = PieceList::whole(AlignedText::from("xe\u0301y"));
  ASSERT_TRUE(apply_step(NormalFormStep{NormalForm::kNfc}, list));
  EXPECT_EQ(list.text.text(), "x\u00E9y");
  EXPECT_EQ(list.text.origin({1, 3}), (ByteRange{1, 2}));  // the composite stands for its starter, as in the reference
  EXPECT_EQ(list.text.origin({3, 4}), (ByteRange{4, 5}));
}

Status grow(std::string_view text, const std::vector<TextStep>& steps) {
  PieceList list = PieceList::whole(AlignedText::from(text));
  TextBudget budget(text.size());
  return apply_steps(steps, list, budget);
}

TEST(TextSteps, GrowthIsBounded) {
  const std::vector<TextStep> doublings(32, ReplaceStep{"a", "aa"});
  testing::expect_error(grow("a", doublings), ErrorCode::kUnsupported, "makes the text too long");
  const std::vector<TextStep> prefixes(32, PrependStep{.prefix = std::string(100'000, 'x')});
  testing::expect_error(grow("a", prefixes), ErrorCode::kUnsupported, "makes the text too long");
  const ReplaceStep huge{"a", std::string(1 << 20, 'b')};
  testing::expect_error(grow(std::string(1 << 20, 'a'), {huge}), ErrorCode::kUnsupported, "makes the text too long");
  // What SentencePiece files do to the worst text.
  EXPECT_TRUE(grow(std::string(1 << 20, ' '), {ReplaceStep{" ", "\u2581"}, PrependStep{.prefix = "\u2581"}}));
}

TEST(TextSteps, ABudgetIsSharedByAllTextsOfAJob) {
  TextBudget budget(2);
  for (int i = 0;; ++i) {
    PieceList list = PieceList::whole(AlignedText::from("a"));
    const Status grown = vitro::apply_step(ReplaceStep{"a", std::string(1000, 'b')}, list, budget);
    ASSERT_LT(i, 1100) << "a mebibyte and 32 bytes are free";
    if (!grown) break;
  }
}

TEST(TextSteps, NoTextBecomesLongerThanTheLimit) {
  const std::string spaces(kMaxTextBytes / 3 + 1, ' ');
  testing::expect_error(grow(spaces, {ReplaceStep{" ", "\u2581"}}), ErrorCode::kUnsupported, "67108864");
}

}  // namespace
}  // namespace vitro
