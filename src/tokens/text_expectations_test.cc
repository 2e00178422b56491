// Splits and NFC against the reference package (tests/data/tokens, written by tools/make_token_expectations.py).
#include <gtest/gtest.h>

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

TEST(TextExpectations, CompositionIsThatOfTheReference) {
  const Value data = json_file(token_data("nfc.json"));
  ASSERT_GT(data.as_array()->size(), 100U);
  for (const Value& pair : *data.as_array()) {
    std::string got;
    for (const NormalizedChar& c : to_nfc(*(*pair.as_array())[0].as_string())) append_utf8(got, c.value);
    EXPECT_EQ(got, *(*pair.as_array())[1].as_string());
  }
}

}  // namespace
}  // namespace vitro
