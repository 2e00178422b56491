// Splits and NFC against the reference package (tests/data/tokens, written by tools/make_token_expectations.py).
#include <gtest/gtest.h>

#include <algorithm>

#include "text/normalize.h"
#include "text/text_steps.h"
#include "tokens/tokens_test_util.h"

namespace vitro {
namespace {

using testing::json_file;
using testing::token_data;

TEST(TextExpectations, PublishedPatternsSplitAsTheReference) {
  const Value data = json_file(token_data("splits.json"));
  size_t n_texts = 0;
  for (const Value& row : *data.as_array()) {
    const std::string& name = *row.find("name")->as_string();
    Result<SplitPattern> pattern = SplitPattern::compile(*row.find("pattern")->as_string());
    ASSERT_TRUE(pattern) << name << ": " << pattern.error().message;
    const TextStep step = SplitStep{std::move(*pattern), SplitBehavior::kIsolated, false};
    for (const Value& item : *row.find("texts")->as_array()) {
      const std::string& text = *(*item.as_array())[0].as_string();
      PieceList list = PieceList::whole(AlignedText::from(text));
      TextBudget budget(list.text.text().size());
      ASSERT_TRUE(apply_step(step, list, budget));
      std::vector<std::string> got;
      for (const ByteRange& piece : list.pieces) got.emplace_back(text.substr(piece.begin, piece.size()));
      std::vector<std::string> expected;
      for (const Value& piece : *(*item.as_array())[1].as_array()) expected.push_back(*piece.as_string());
      EXPECT_EQ(got, expected) << name << ": " << text;
      ++n_texts;
    }
  }
  EXPECT_GT(n_texts, 500U);
}

/// The matches as offsets in code points.
std::vector<std::pair<int64_t, int64_t>> code_point_ranges(std::string_view text,
                                                           const std::vector<ByteRange>& ranges) {
  const auto n_before = [&](size_t pos) {
    return std::count_if(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(pos),
                         [](char c) { return (static_cast<uint8_t>(c) & 0xC0U) != 0x80; });
  };
  std::vector<std::pair<int64_t, int64_t>> out;
  for (const ByteRange& range : ranges) out.emplace_back(n_before(range.begin), n_before(range.end));
  return out;
}

TEST(TextExpectations, RandomPatternsFindWhatTheReferencesFind) {
  const Value data = json_file(token_data("random-splits.json"));
  size_t n_compared = 0;
  size_t n_refused = 0;
  for (const Value& row : *data.as_array()) {
    const std::string& regex = *row.find("pattern")->as_string();
    const bool is_oniguruma = *row.find("dialect")->as_string() == "oniguruma";
    const auto dialect = is_oniguruma ? RegexDialect::kOniguruma : RegexDialect::kFancyRegex;
    const Result<SplitPattern> pattern = SplitPattern::compile(regex, dialect);
    if (!pattern) {
      ++n_refused;
      continue;
    }
    for (const Value& item : *row.find("texts")->as_array()) {
      const std::string& text = *(*item.as_array())[0].as_string();
      std::vector<std::pair<int64_t, int64_t>> expected;
      for (const Value& range : *(*item.as_array())[1].as_array()) {
        expected.emplace_back(*(*range.as_array())[0].as_int(), *(*range.as_array())[1].as_int());
      }
      EXPECT_EQ(code_point_ranges(text, pattern->find_all(text).value()), expected) << regex << " in " << text;
      ++n_compared;
    }
  }
  EXPECT_GT(n_compared, 6 * n_refused);
}

TEST(TextExpectations, CompositionIsThatOfTheReference) {
  const Value data = json_file(token_data("nfc.json"));
  ASSERT_GT(data.as_array()->size(), 100U);
  for (const Value& pair : *data.as_array()) {
    std::string got;
    for (const NormalizedChar& c : normalize(*(*pair.as_array())[0].as_string(), NormalForm::kNfc))
      append_utf8(got, c.value);
    EXPECT_EQ(got, *(*pair.as_array())[1].as_string());
  }
}

}  // namespace
}  // namespace vitro
