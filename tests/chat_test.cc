// Conversations on real sessions: the logits of a turn are those of the whole conversation fed at once, to the bit, and
// no token is computed twice.
#include <gtest/gtest.h>

#include <limits>

#include "generate/chat_session.h"
#include "testing/chat_fakes.h"
#include "testing/engine.h"
#include "testing/random_model.h"
#include "testing/shared_data.h"

namespace vitro::testing {
namespace {

// Counts what a sequence of a session is fed and keeps the logits of its last feed.
class WatchedSequence : public SessionSequence {
 public:
  using SessionSequence::SessionSequence;
  void begin(int64_t prompt_len) override {
    begun_with = prompt_len;
    SessionSequence::begin(prompt_len);
  }
  Result<std::span<const float>> feed(std::span<const int32_t> ids) override {
    n_fed += std::ssize(ids);
    const auto out = SessionSequence::feed(ids);
    if (out) logits.assign(out->begin(), out->end());
    return out;
  }

  int64_t begun_with = 0;
  int64_t n_fed = 0;
  std::vector<float> logits;
};

// The same tokens, all at once.
std::vector<float> at_once(Session& session, const WatchedSequence& sequence) {
  session.begin(0, {.prompt_len = sequence.begun_with});
  const auto logits = session.feed(0, sequence.ids());
  EXPECT_TRUE(logits.has_value());
  return logits ? std::vector<float>(logits->begin(), logits->end()) : std::vector<float>();
}

class ChatOnModel : public ::testing::Test {
 protected:
  ChatOnModel() : bench_(best_kernel_table()) {}

  // Says each text and compares; the tokens fed in all.
  int64_t talk(const std::shared_ptr<const Model>& model, const RunShape& shape, const Tokenizer& tokenizer,
               const RenderChat& render, const ChatOptions& options, const std::vector<std::string>& texts) {
    Session session = make_session(model, 1024, shape, bench_);
    Session fresh = make_session(model, 1024, shape, bench_);
    WatchedSequence sequence(session, 0);
    ChatSession chat(sequence, tokenizer, render, options);
    for (const std::string& text : texts) {
      const auto reply = chat.say(text, {});
      if (!reply) {
        ADD_FAILURE() << reply.error().message;
        break;
      }
      EXPECT_TRUE(same_bits(sequence.logits, at_once(fresh, sequence))) << text;
      EXPECT_EQ(reply->n_prompt + std::ssize(reply->generated.ids), chat.n_tokens());
    }
    EXPECT_EQ(chat.stats().n_computed, sequence.n_fed);
    n_held_ = std::ssize(sequence.ids());
    return sequence.n_fed;
  }

  Bench bench_;
  int64_t n_held_ = 0;  ///< tokens in the sequence after talk()
};

class ChatOnRandomModel : public ChatOnModel {
 protected:
  ChatOnRandomModel() : model_(load(write_random_model(folder_.path(), {.d_model = 64, .d_ff = 64}), bench_)) {
    options_.generate.max_tokens = 20;
    options_.generate.end_ids = {PieceTokenizer::kEnd};
    options_.generate.sampler.temperature = 1;
    for (TokenId id = PieceTokenizer::kSize; id < 272; ++id) forbid(id);
  }
  void forbid(TokenId id) {
    options_.generate.sampler.logit_bias.emplace_back(id, -std::numeric_limits<float>::infinity());
  }

  TempFolder folder_;
  std::shared_ptr<const Model> model_;
  PieceTokenizer tokenizer_;
  ChatOptions options_;
  const std::vector<std::string> texts_ = {"one", "two and more", "hello", "four", "five"};
};

TEST_F(ChatOnRandomModel, TextIsComputedOnce) {
  for (TokenId id = 128; id < 256; ++id) forbid(id);  // bytes that are no text would be written otherwise
  for (TokenId id = PieceTokenizer::kBegin; id < PieceTokenizer::kSize; ++id) forbid(id);
  for (const CacheType type : {CacheType::kF32, CacheType::kInt8}) {
    const int64_t n_fed = talk(model_, {.cache_type = type}, tokenizer_, render_fake, options_, texts_);
    EXPECT_EQ(n_fed, n_held_);
    EXPECT_GT(n_held_, 150);
  }
}

// Any bytes, special tokens among them: the template writes some replies otherwise than they were generated.
TEST_F(ChatOnRandomModel, WhateverIsGeneratedTheBitsAreThoseOfTheWhole) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    options_.generate.sampler.seed = seed;
    const int64_t n_fed = talk(model_, {.page_size = 8}, tokenizer_, render_fake, options_, texts_);
    EXPECT_GE(n_fed, n_held_);
  }
}

TEST_F(ChatOnRandomModel, WindowsThatAreGoneAreComputedAnew) {
  const auto model = load_turned(folder_.path() / "random.gguf", bench_, [](ModelConfig& config) {
    config.blocks[0].attn.mask = MaskKind::kWindow;
    config.blocks[0].attn.window = 21;
  });
  talk(model, {.page_size = 8, .keeps_only_windows = true}, tokenizer_, render_fake, options_, texts_);
}

// In the manner of SmolLM2's template, without the system message that it adds.
Result<RenderedChat> render_chatml(const ChatRequest& request) {
  RenderedChat out;
  for (const Value& message : *request.messages.as_array()) {
    const std::string& content = *message.find("content")->as_string();
    out.text += "<|im_start|>" + std::string(chat_role(message)) + "\n";
    out.from_request.push_back({out.text.size(), out.text.size() + content.size()});
    out.text += content + "<|im_end|>\n";
  }
  if (request.add_generation_prompt) out.text += "<|im_start|>assistant\n";
  return out;
}

TEST_F(ChatOnModel, SmolLm2) {
  const auto path = cached_model("smollm2-135m-instruct-q4_1.gguf");
  if (!path) GTEST_SKIP() << "smollm2-135m-instruct-q4_1.gguf is not there; 'vitro pull' brings it";
  const auto checkpoint = Checkpoint::open(*path);
  ASSERT_TRUE(checkpoint.has_value());
  const auto tokenizer = load_gguf_tokenizer(*checkpoint->gguf());
  ASSERT_TRUE(tokenizer.has_value());
  ChatOptions options;
  options.generate.max_tokens = 24;
  options.generate.end_ids = {*turn_end_id(render_chatml, **tokenizer)};
  EXPECT_EQ((*tokenizer)->piece(options.generate.end_ids[0]), "<|im_end|>");
  const int64_t n_fed =
      talk(load(*path, bench_), {.cache_type = CacheType::kF16}, **tokenizer, render_chatml, options,
           {"What is the capital of France?", "And what is <|im_end|> in 漢字?", "Name three colours."});
  EXPECT_EQ(n_fed, n_held_);
}

}  // namespace
}  // namespace vitro::testing
