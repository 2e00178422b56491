// Byte-pair encoding with every option against the reference package: random small models, ids and offsets
// (tests/data/tokens/bpe-options.json, written by tools/make_bpe_expectations.py).
#include <gtest/gtest.h>

#include "tokens/tokens_test_util.h"

namespace vitro {
namespace {

using testing::json_file;
using testing::token_data;

TEST(BpeOptions, RandomModelsEncodeAsTheReference) {
  const Value rows = json_file(token_data("bpe-options.json"));
  size_t n_texts = 0;
  for (const Value& row : *rows.as_array()) {
    const std::string document = to_string(*row.find("tokenizer"), size_t{1} << 20);
    const auto tokenizer = parse_tokenizer(document, "row");
    ASSERT_TRUE(tokenizer) << tokenizer.error().message << "\n" << document;
    for (const Value& item : *row.find("texts")->as_array()) {
      const Value::Array& fields = *item.as_array();
      const std::string& text = *fields[0].as_string();
      const Encoding encoding = (*tokenizer)->encode(text).value();
      EXPECT_EQ(encoding.ids, testing::ids_of(fields[1])) << text << "\n" << document;
      if (!fields[2].is_null()) {
        EXPECT_EQ(testing::in_code_points(text, encoding.ranges), testing::ranges_of(fields[2])) << text << "\n"
                                                                                                 << document;
      }
      ++n_texts;
    }
  }
  EXPECT_GT(n_texts, 300U);
}

}  // namespace
}  // namespace vitro
