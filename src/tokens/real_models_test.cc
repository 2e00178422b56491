// Vocabularies of downloaded models: expectations of the `tokenizers` package (tests/data/tokens/real-models.json),
// properties on random text and random ids; and over the shared folder the prompts of the goldens and llama.cpp's own
// test vectors.
#include <gtest/gtest.h>

#include <random>

#include "formats/mapped_file.h"
#include "tokens/stream_decoder.h"
#include "tokens/tokens_test_util.h"

namespace vitro {
namespace {

using testing::cached_model;
using testing::ids_of;
using testing::json_file;

constexpr const char* kSmolLm2 = "smollm2-135m-instruct-q4_1.gguf";
constexpr const char* kGemma3 = "gemma3-270m-q4_k_m.gguf";

class RealModels : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto path = cached_model(GetParam());
    if (!path) GTEST_SKIP() << GetParam() << " is not there; 'vitro pull' brings it";
    Result<std::unique_ptr<Tokenizer>> loaded = load_tokenizer(*path);
    ASSERT_TRUE(loaded) << loaded.error().message;
    tokenizer_ = std::move(*loaded);
  }
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(RealModels, IdsEqualTheReference) {
  const Value data = json_file(testing::token_data("real-models.json"));
  const Value* rows = data.find(GetParam());
  ASSERT_GT(rows->as_array()->size(), 40U);
  for (const Value& row : *rows->as_array()) {
    const std::string& text = *row.find("text")->as_string();
    EXPECT_EQ(tokenizer_->encode(text)->ids, ids_of(*row.find("ids"))) << text;
  }
}

TEST_P(RealModels, DecodeReturnsTheText) {
  // Characters that both vocabularies have the bytes for (SmolLM2 lacks some lead bytes and control characters).
  const char* parts[] = {"a",    "Hello",  " ",       "  ",           "\n",         "\t",
                         "1234", "\u00E9", "e\u0301", "\u4E2D\u6587", "\U0001F600", "'s",
                         "!?",   "<|x|>",  "Привет",  "\u00A0",       "\r\n"};
  std::mt19937 rng(11);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (size_t i = rng() % 12; i > 0; --i) text += parts[rng() % std::size(parts)];
    const Result<Encoding> got = tokenizer_->encode(text, {.add_special = false, .parse_special = true});
    ASSERT_TRUE(got);
    EXPECT_EQ(tokenizer_->decode(got->ids, false), text);
    for (const ByteRange& range : got->ranges) ASSERT_TRUE(range.begin < range.end && range.end <= text.size());
  }
}

TEST_P(RealModels, StreamsEqualWholeDecodes) {
  std::mt19937 rng(12);
  for (int round = 0; round < 1000; ++round) {
    std::vector<TokenId> ids;
    for (size_t i = rng() % 24; i > 0; --i)
      ids.push_back(static_cast<TokenId>(rng() % static_cast<uint32_t>(tokenizer_->vocab_size())));
    for (const bool skip_special : {true, false}) {
      StreamDecoder stream(*tokenizer_, skip_special, true);
      std::string joined;
      for (const TokenId id : ids) {
        const std::string part = stream.push(id);
        ASSERT_TRUE(is_valid_utf8(part));
        joined += part;
      }
      EXPECT_EQ(joined + stream.finish(), tokenizer_->decode(ids, skip_special));
    }
  }
}

TEST_P(RealModels, PromptsOfTheGoldens) {
  const std::string name = std::filesystem::path(GetParam()).stem();
  const auto path = testing::shared_path("goldens/real/" + name + "/expected.json");
  if (!path) GTEST_SKIP() << "no shared folder";
  const Value data = json_file(*path);
  for (const Value& row : *data.find("rows")->as_array()) {
    EXPECT_EQ(tokenizer_->encode(*row.find("prompt")->as_string())->ids, ids_of(*row.find("ids")));
  }
}

INSTANTIATE_TEST_SUITE_P(Downloaded, RealModels, ::testing::Values(kSmolLm2, kGemma3),
                         [](const auto& param) { return std::string(param.param).substr(0, 6); });

TEST(LlamaCppVectors, EveryVocabularyThatIsThere) {
  const auto folder = testing::shared_path("data/tokenizers/ggml-vocab");
  if (!folder) GTEST_SKIP() << "no shared folder";
  for (const char* name : {"deepseek-coder", "gpt-2", "llama-spm", "phi-3", "starcoder"}) {
    const std::filesystem::path file = *folder / ("ggml-vocab-" + std::string(name) + ".gguf");
    const auto tokenizer = load_tokenizer(file);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    const std::string texts = testing::read_text(file.string() + ".inp");
    std::ifstream expected(file.string() + ".out");
    const std::string marker = "\n__ggml_vocab_test__\n";
    int n_texts = 0;
    for (size_t pos = 0, end = 0; (end = texts.find(marker, pos)) != std::string::npos;
         pos = end + marker.size(), ++n_texts) {
      const std::string text = texts.substr(pos, end - pos);
      std::string line;
      ASSERT_TRUE(std::getline(expected, line));
      const Result<Encoding> encoding = (*tokenizer)->encode(text, {.add_special = false, .parse_special = true});
      ASSERT_TRUE(encoding);
      std::string got;
      for (const TokenId id : encoding->ids) got += " " + std::to_string(id);
      EXPECT_EQ(got, line) << name << ": " << text;
    }
    EXPECT_GE(n_texts, 45) << name;
  }
}

}  // namespace
}  // namespace vitro
