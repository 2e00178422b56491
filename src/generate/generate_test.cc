// The loop with a scripted model: what ends it, what is streamed, what is reported.
#include "generate/generate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "generate/score.h"

namespace vitro {
namespace {

// Gives, after n tokens, logits whose largest is script[n]; remembers what it was fed.
class ScriptedLogits : public LogitsSource {
 public:
  ScriptedLogits(std::vector<int32_t> script, int64_t n_ctx) : script_(std::move(script)), n_ctx_(n_ctx) {}

  Result<std::span<const float>> feed(std::span<const int32_t> ids) override {
    fed.insert(fed.end(), ids.begin(), ids.end());
    logits_.assign(8, 0.0F);
    logits_[static_cast<size_t>(script_[n_calls++ % script_.size()])] = 5.0F;
    return std::span<const float>(logits_);
  }
  int64_t room() const override { return n_ctx_ - static_cast<int64_t>(fed.size()); }

  std::vector<int32_t> fed;
  size_t n_calls = 0;

 private:
  std::vector<int32_t> script_;
  int64_t n_ctx_;
  std::vector<float> logits_;
};

// Eight pieces; "é" comes in two bytes.
class Letters : public Tokenizer {
 public:
  Result<Encoding> encode(std::string_view, const EncodeOptions&) const override { return Encoding{}; }
  Result<Encoding> encode_pair(std::string_view, std::string_view, const EncodeOptions&) const override {
    return Encoding{};
  }
  std::string decode(std::span<const TokenId> ids, bool) const override {
    std::string out;
    for (const TokenId id : ids) out += token_bytes(id);
    return out;
  }
  std::string token_bytes(TokenId id) const override {
    static const std::vector<std::string> kPieces = {"a", "b", "c", "d", "\xC3", "\xA9", " ", ""};
    return id < 0 || id >= 8 ? "" : kPieces[static_cast<size_t>(id)];
  }
  const DecodeSpec& decode_spec() const override { return decode_; }
  std::optional<DecodePiece> decode_piece(TokenId id, bool skip_special) const override {
    if (id < 0 || id >= 7 || (skip_special && is_special(id))) return std::nullopt;
    return DecodePiece{std::string_view("abcd\xC3\xA9 ").substr(static_cast<size_t>(id), 1), true};
  }
  std::string_view piece(TokenId) const override { return ""; }
  TokenKind kind(TokenId id) const override { return id == 7 ? TokenKind::kControl : TokenKind::kNormal; }
  bool is_special(TokenId id) const override { return id == 7; }
  int64_t vocab_size() const override { return 8; }
  TokenId bos_id() const override { return -1; }
  TokenId eos_id() const override { return 7; }
  TokenId find(std::string_view) const override { return -1; }
  std::string_view model_name() const override { return "letters"; }

 private:
  DecodeSpec decode_ = DecodeSpec::byte_level();
};

struct Ran {
  Generated out;
  std::vector<std::string> streamed;
};

Ran run(ScriptedLogits& source, const GenerateOptions& options) {
  const Letters tokenizer;
  Ran ran;
  const std::vector<int32_t> prompt{0, 1};
  auto out = generate(source, &tokenizer, prompt, options, [&](const GeneratedToken& token) {
    ran.streamed.push_back(token.text);
    return true;
  });
  EXPECT_TRUE(out.has_value()) << out.error().message;
  ran.out = std::move(*out);
  return ran;
}

TEST(Generate, FeedsEachTokenOnce) {
  ScriptedLogits source({2, 3, 0, 1}, 100);
  const Ran ran = run(source, {.max_tokens = 4});
  EXPECT_EQ(ran.out.ids, (std::vector<int32_t>{2, 3, 0, 1}));
  EXPECT_EQ(source.fed, (std::vector<int32_t>{0, 1, 2, 3, 0}));  // the last token is not needed
  EXPECT_EQ(ran.out.text, "cdab");
  EXPECT_EQ(ran.out.reason, StopReason::kLength);
  EXPECT_EQ(ran.out.n_passes, 3);
}

TEST(Generate, NoTokensAskedNoneGiven) {
  ScriptedLogits source({2}, 100);
  EXPECT_TRUE(run(source, {.max_tokens = 0}).out.ids.empty());
}

TEST(Generate, EndTokenEndsAndAddsNoText) {
  ScriptedLogits source({2, 7, 3}, 100);
  const Ran ran = run(source, {.max_tokens = 10, .end_ids = {7}});
  EXPECT_EQ(ran.out.ids, (std::vector<int32_t>{2, 7}));
  EXPECT_EQ(ran.out.text, "c");
  EXPECT_EQ(ran.out.reason, StopReason::kEndToken);
}

TEST(Generate, StopStringNeverLeaks) {
  ScriptedLogits source({0, 1, 2, 3, 0}, 100);  // "abcda": stop at "bcd"
  const Ran ran = run(source, {.max_tokens = 10, .stop_strings = {"bcd"}});
  EXPECT_EQ(ran.out.text, "a");
  EXPECT_EQ(ran.out.reason, StopReason::kStopString);
  EXPECT_EQ(std::accumulate(ran.streamed.begin(), ran.streamed.end(), std::string()), "a");
}

TEST(Generate, HeldBackTextComesAtTheEnd) {
  ScriptedLogits source({0, 1, 2}, 100);
  const Ran ran = run(source, {.max_tokens = 3, .stop_strings = {"bcd"}});
  EXPECT_EQ(ran.out.text, "abc");
  EXPECT_EQ(std::accumulate(ran.streamed.begin(), ran.streamed.end(), std::string()), "abc");
}

TEST(Generate, CharactersAreWhole) {
  ScriptedLogits source({0, 4, 5, 4}, 100);
  const Ran ran = run(source, {.max_tokens = 4});
  EXPECT_EQ(ran.streamed, (std::vector<std::string>{"a", "", "é", "", "\xEF\xBF\xBD"}));  // cut by the limit: U+FFFD
  EXPECT_EQ(ran.out.text, "aé\xEF\xBF\xBD");
}

TEST(Generate, ContextFullStops) {
  ScriptedLogits source({2}, 5);
  const Ran ran = run(source, {.max_tokens = 500});
  EXPECT_EQ(ran.out.reason, StopReason::kContext);
  EXPECT_EQ(source.fed.size(), 5U);
  EXPECT_EQ(ran.out.ids.size(), 4U);  // three fed, and one that needs no place
}

TEST(Generate, CallbackStops) {
  ScriptedLogits source({2}, 100);
  const std::vector<int32_t> prompt{0};
  int n_seen = 0;
  const auto out =
      generate(source, nullptr, prompt, {.max_tokens = 50}, [&](const GeneratedToken&) { return ++n_seen < 3; });
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(out->ids.size(), 3U);
  EXPECT_EQ(out->reason, StopReason::kCallback);
}

TEST(Generate, PromptThatDoesNotFitIsRefused) {
  ScriptedLogits source({2}, 3);
  const std::vector<int32_t> prompt(4, 1);
  const auto out = generate(source, nullptr, prompt, {}, {});
  ASSERT_FALSE(out.has_value());
  EXPECT_NE(out.error().message.find("4 tokens"), std::string::npos);
  EXPECT_TRUE(source.fed.empty());
  EXPECT_EQ(generate(source, nullptr, {}, {}, {}).error().code, ErrorCode::kInvalidArgument);
}

TEST(Generate, AlternativesAreTheSoftmaxOfRawLogits) {
  ScriptedLogits source({3}, 100);
  const std::vector<int32_t> prompt{0};
  std::vector<Alternative> top;
  double probability = 0;
  const auto out = generate(source, nullptr, prompt, {.max_tokens = 1, .n_top = 3}, [&](const GeneratedToken& token) {
    top.assign(token.top.begin(), token.top.end());
    probability = token.probability;
    return true;
  });
  ASSERT_TRUE(out.has_value());
  const double expected = std::exp(5.0) / (std::exp(5.0) + 7.0);
  EXPECT_NEAR(probability, expected, 1e-12);
  ASSERT_EQ(top.size(), 3U);
  EXPECT_EQ(top[0].id, 3);
  EXPECT_EQ(top[1].id, 0);  // ties by the lower id
  EXPECT_EQ(top[2].id, 1);
}

TEST(Perplexity, IsExpOfMeanLoss) {
  for (const double perplexity : {3.0, 10.0, 50.0}) {
    const Score score{std::log(perplexity) * 7, 7};
    EXPECT_NEAR(score.perplexity(), perplexity, 1e-9);
  }
}

}  // namespace
}  // namespace vitro
