// Decoding at once gives what the stream gives, for any ids.
#include "tokens/whole_decode.h"

#include <gtest/gtest.h>

#include <random>

#include "tokens/stream_decoder.h"
#include "tokens/tokens_test_util.h"

namespace vitro {
namespace {

TEST(WholeDecode, EqualsTheStream) {
  std::mt19937 rng(5);
  for (const char* name : {"gpt2-like", "llama3-like", "llama2-like", "gemma-like"}) {
    const auto tokenizer =
        parse_tokenizer(testing::read_text(testing::token_data(std::string(name) + ".tokenizer.json")), name).value();
    ASSERT_TRUE(WholeDecode::make(tokenizer->decode_spec())) << name;
    for (int round = 0; round < 2000; ++round) {
      std::vector<TokenId> ids;
      const size_t n_ids = rng() % 12;
      const auto n_entries = static_cast<uint32_t>(tokenizer->vocab_size());
      const uint32_t range = round % 2 == 0 ? n_entries : std::min<uint32_t>(270, n_entries);  // mostly bytes
      for (size_t i = 0; i < n_ids; ++i) ids.push_back(static_cast<TokenId>(rng() % range));
      StreamDecoder stream(*tokenizer, round % 3 == 0, true);
      std::string expected;
      for (const TokenId id : ids) expected += stream.push(id);
      expected += stream.finish();
      ASSERT_EQ(tokenizer->decode(ids, round % 3 == 0), expected) << name;
    }
  }
}

TEST(WholeDecode, OtherStepsAreLeftToTheStream) {
  EXPECT_FALSE(WholeDecode::make({}));
  EXPECT_FALSE(WholeDecode::make({.steps = {SpacesDecode{}}}));
  EXPECT_FALSE(WholeDecode::make({.steps = {ByteLevelDecode{}, FuseDecode{}}}));
  EXPECT_FALSE(WholeDecode::make({.steps = {ReplaceDecode{"a", "b"}, ByteFallbackDecode{false}, FuseDecode{}}}));
}

}  // namespace
}  // namespace vitro
