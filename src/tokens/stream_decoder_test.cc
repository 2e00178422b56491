// Streams: joined parts equal the whole decode for any ids, no part is broken UTF-8, and only unfinished characters are
// held back.
#include "tokens/stream_decoder.h"

#include <gtest/gtest.h>

#include <random>

#include "text/byte_level.h"
#include "tokens/tokens_test_util.h"

namespace vitro {
namespace {

std::unique_ptr<Tokenizer> load(const char* name) {
  Result<std::unique_ptr<Tokenizer>> out = load_tokenizer(testing::token_data(std::string(name) + ".tokenizer.json"));
  EXPECT_TRUE(out) << out.error().message;
  return std::move(*out);
}

class StreamDecoders : public ::testing::TestWithParam<const char*> {};

TEST_P(StreamDecoders, JoinedPartsEqualTheWhole) {
  const std::unique_ptr<Tokenizer> tokenizer = load(GetParam());
  std::mt19937 rng(5);
  const auto n = static_cast<uint32_t>(tokenizer->vocab_size());
  for (int round = 0; round < 1000; ++round) {
    std::vector<TokenId> ids;
    for (size_t i = rng() % 20; i > 0; --i) ids.push_back(static_cast<TokenId>(rng() % (n + 2)) - 1);  // also -1 and n
    for (const bool skip_special : {true, false}) {
      StreamDecoder stream(*tokenizer, skip_special, true);
      std::string joined;
      for (const TokenId id : ids) {
        const std::string part = stream.push(id);
        ASSERT_TRUE(is_valid_utf8(part));
        joined += part;
      }
      joined += stream.finish();
      ASSERT_EQ(joined, tokenizer->decode(ids, skip_special));
      ASSERT_EQ(stream.finish(), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Trained, StreamDecoders,
                         ::testing::Values("gpt2-like", "llama3-like", "llama2-like", "gemma-like", "metaspace"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::erase(name, '-');
                           return name;
                         });

/// In the reference one broken byte makes every byte of the run U+FFFD, so the run must have ended.
TEST(StreamDecoder, RunsOfByteTokensComeOutWhenTheyEnd) {
  const std::unique_ptr<Tokenizer> tokenizer = load("llama2-like");
  StreamDecoder stream(*tokenizer, true, true);
  const auto push = [&](const char* piece) { return stream.push(tokenizer->find(piece)); };
  EXPECT_EQ(push("<0xE2>"), "");
  EXPECT_EQ(push("<0x82>"), "");
  EXPECT_EQ(push("<0xAC>"), "");
  EXPECT_EQ(push("a"), "\u20ACa");
  EXPECT_EQ(push("<0x41>"), "");
  EXPECT_EQ(push("<0xE2>"), "");
  EXPECT_EQ(push("<0x41>"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(push("<0x41>"), "\uFFFD");
  EXPECT_EQ(push("a"), "a");
  EXPECT_EQ(push("<0xF0>"), "");
  EXPECT_EQ(stream.finish(), "\uFFFD");
}

TEST(StreamDecoder, TheFirstSpaceGoesOnlyAtTheStartOfTheText) {
  const std::unique_ptr<Tokenizer> tokenizer = load("llama2-like");
  const TokenId space = tokenizer->find("\u2581");
  ASSERT_GE(space, 0);
  StreamDecoder first(*tokenizer, true, true);
  EXPECT_EQ(first.push(tokenizer->find("<s>")), "");  // skipped, the text has not begun
  EXPECT_EQ(first.push(space), "");
  EXPECT_EQ(first.push(space), " ");
  StreamDecoder continued(*tokenizer, true, false);
  EXPECT_EQ(continued.push(space), " ");
}

TEST(ByteLevel, AlphabetIsThatOfGpt2) {
  EXPECT_EQ(to_byte_level(" \n!~\xA1\xFF"), "\u0120\u010A!~\u00A1\u00FF");
  for (int byte = 0; byte < 256; ++byte) EXPECT_EQ(byte_level_value(byte_level_char(static_cast<uint8_t>(byte))), byte);
  EXPECT_EQ(from_byte_level("\u0120a"), " a");
  EXPECT_EQ(from_byte_level(" a"), std::nullopt);
  EXPECT_EQ(from_byte_level("\u4E2D"), std::nullopt);
}

/// Byte-level vocabularies with all bytes lose nothing.
TEST(ByteLevel, DecodeOfEncodeIsTheText) {
  const std::unique_ptr<Tokenizer> tokenizer = load("single-digits");
  std::mt19937 rng(6);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (size_t i = rng() % 30; i > 0; --i)
      append_utf8(text,
                  rng() % 3 == 0 ? static_cast<char32_t>(rng() % 0x110000) : static_cast<char32_t>(rng() % 0x250));
    const Result<Encoding> got = tokenizer->encode(text, {.add_special = false, .parse_special = false});
    ASSERT_TRUE(got);
    ASSERT_EQ(tokenizer->decode(got->ids, false), text);
  }
}

}  // namespace
}  // namespace vitro
