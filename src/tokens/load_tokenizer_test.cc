// Which file a path means, and the files that are neither a tokenizer.json nor a SentencePiece model.
#include <gtest/gtest.h>

#include "testing/expect_error.h"
#include "testing/gguf_writer.h"
#include "testing/temp_folder.h"
#include "tokens/rank_encodings.h"
#include "tokens/tokens_test_util.h"

namespace vitro {
namespace {

namespace fs = std::filesystem;

using testing::json_lines;
using testing::read_text;
using testing::token_data;
using testing::write_file;

/// An empty folder of its own for each test.
class LoadTokenizer : public ::testing::Test {
 protected:
  const testing::TempFolder temp_;
  const fs::path& folder_ = temp_.path();
};

std::unique_ptr<Tokenizer> load(const fs::path& path, std::string_view encoding = {}) {
  Result<std::unique_ptr<Tokenizer>> out = load_tokenizer(path, encoding);
  EXPECT_TRUE(out) << out.error().message;
  return out ? std::move(*out) : nullptr;
}

TEST_F(LoadTokenizer, RanksCutAndMergeAsTiktoken) {
  const auto tokenizer = load(token_data("sources/ranks.tiktoken"), "cl100k_base");
  ASSERT_TRUE(tokenizer);
  for (const Value& row : json_lines(token_data("sources/ranks.jsonl"))) {
    const std::string& text = *row.find("text")->as_string();
    const std::vector<TokenId> ids = testing::ids_of(*row.find("ids"));
    EXPECT_EQ(tokenizer->encode(text)->ids, ids) << text;
    EXPECT_EQ(tokenizer->encode(text, {.parse_special = false})->ids, testing::ids_of(*row.find("plain"))) << text;
    EXPECT_EQ(tokenizer->decode(ids, false), text);
  }
  EXPECT_EQ(tokenizer->vocab_size(), 100277);
}

TEST_F(LoadTokenizer, RanksNeedAnEncodingThatIsKnown) {
  const fs::path path = token_data("sources/ranks.tiktoken");
  testing::expect_error(load_tokenizer(path), ErrorCode::kUnsupported, "name the encoding");
  testing::expect_error(load_tokenizer(path, "cl1k"), ErrorCode::kUnsupported, "cl100k_base");
  fs::copy_file(path, folder_ / "o200k_base.tiktoken");
  const auto tokenizer = load(folder_);  // by the file's name
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(tokenizer->find("<|endofprompt|>"), 200018);
}

TEST_F(LoadTokenizer, RefusesBrokenRanks) {
  const fs::path path = folder_ / "cl100k_base.tiktoken";
  const auto expect = [&](std::string_view text, std::string_view words) {
    write_file(path, text);
    testing::expect_error(load_tokenizer(path), ErrorCode::kCorrupt, words);
  };
  expect("IQ== 0\nIQ== 1\n", "stands twice");
  expect("IQ== 0\nIg== 0\n", "the same rank");
  expect("IQ== 0\nIg== 1\n", "byte 0x00 has no rank");
  expect("IQ== 0\nI?== 1\n", "line 2");
  expect("IQ== 0\nIg== -1\n", "the rank -1");
  expect("IQ== 0\nIg== 99999999\n", "outside");
}

TEST_F(LoadTokenizer, OnlyRanksTakeAnEncoding) {
  fs::copy_file(token_data("sources/gpt2/vocab.json"), folder_ / "encoder.json");
  EXPECT_TRUE(takes_encoding(folder_).value());
  write_file(folder_ / "vocab.bpe", "#version: 0.2\n");
  EXPECT_FALSE(takes_encoding(folder_).value());
  EXPECT_TRUE(takes_encoding(token_data("sources/ranks.tiktoken")).value());
  for (const char* name : {"sources/word.model", "sources/gpt2", "llama3-like.tokenizer.json"}) {
    EXPECT_FALSE(takes_encoding(token_data(name)).value()) << name;
    testing::expect_error(load_tokenizer(token_data(name), "cl100k_base"), ErrorCode::kInvalidArgument, "leave it out");
  }
  write_file(folder_ / "notes", "hello\n");
  testing::expect_error(takes_encoding(folder_ / "notes"), ErrorCode::kUnsupported, "not a tokenizer that is known");
  testing::expect_error(load_tokenizer(folder_ / "notes", "cl100k_base"), ErrorCode::kUnsupported,
                        "not a tokenizer that is known");
}

TEST_F(LoadTokenizer, DamagedRanksAreRanksByTheirName) {
  const fs::path path = folder_ / "cl100k_base.tiktoken";
  for (const char* text : {"Please log in.\n", R"({"error":"log in"})"}) {
    write_file(path, text);
    EXPECT_TRUE(takes_encoding(path).value()) << text;
    for (const char* encoding : {"", "cl100k_base"}) {
      testing::expect_error(load_tokenizer(path, encoding), ErrorCode::kCorrupt, "line 1 is");
    }
  }
}

TEST_F(LoadTokenizer, ErrorsNameTheFileOnce) {
  const auto expect = [&](const char* file, std::string_view contents, std::string_view loaded) {
    write_file(folder_ / file, contents);
    const auto tokenizer = load_tokenizer(folder_ / loaded);
    ASSERT_FALSE(tokenizer) << file;
    const std::string& message = tokenizer.error().message;
    const size_t first = message.find(folder_.string());
    EXPECT_EQ(message.find((folder_ / file).string()), first) << message;
    EXPECT_NE(first, std::string::npos) << message;
    EXPECT_EQ(message.find(folder_.string(), first + 1), std::string::npos) << message;
  };
  expect("tokenizer.json", "{", "tokenizer.json");
  expect("tokenizer.json", R"({"model":{"type":"x"}})", "tokenizer.json");
  expect("a.gguf", std::string_view("GGUF\3\0\0\0", 8), "a.gguf");
  expect("a.gguf", testing::GgufWriter().add("general.architecture", "a").bytes(), "a.gguf");
  expect("a.model", "x", "a.model");
  expect("a.tiktoken", "x", "a.tiktoken");
  expect("notes", "x", "notes");
  expect("vocab.txt", "", "vocab.txt");
  for (const char* name : {"vocab.json", "merges.txt"}) {
    fs::copy_file(token_data("sources/gpt2") / name, folder_ / name);
  }
  expect("tokenizer_config.json", "{", "vocab.json");
}

TEST_F(LoadTokenizer, VocabularyAndMergesAreGpt2) {
  const fs::path folder = token_data("sources/gpt2");
  for (const fs::path& path : {folder, folder / "vocab.json"}) {
    const auto tokenizer = load(path);
    ASSERT_TRUE(tokenizer);
    for (const Value& row : json_lines(token_data("sources/gpt2.jsonl"))) {
      const std::string& text = *row.find("text")->as_string();
      const std::vector<TokenId> ids = testing::ids_of(*row.find("ids"));
      EXPECT_EQ(tokenizer->encode(text)->ids, ids) << text;
      EXPECT_EQ(tokenizer->decode(ids, false), text);
    }
    EXPECT_EQ(tokenizer->piece(tokenizer->eos_id()), "<|endoftext|>");
  }
}

TEST_F(LoadTokenizer, SettingsBesideAVocabularyCount) {
  fs::copy_file(token_data("sources/gpt2/vocab.json"), folder_ / "vocab.json");
  fs::copy_file(token_data("sources/gpt2/merges.txt"), folder_ / "merges.txt");
  const int64_t n_pieces = load(folder_)->vocab_size();
  write_file(folder_ / "tokenizer_config.json",
             R"({"tokenizer_class":"GPT2TokenizerFast","add_bos_token":true,"bos_token":"<b>",)"
             R"("added_tokens_decoder":{")" +
                 std::to_string(n_pieces) + R"(":{"content":"<new>","special":true,"lstrip":true}}})");
  const auto tokenizer = load(folder_);
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(tokenizer->find("<new>"), n_pieces);
  const TokenId bos = tokenizer->bos_id();
  EXPECT_EQ(tokenizer->piece(bos), "<b>");
  EXPECT_EQ(tokenizer->encode("  <new>")->ids, (std::vector<TokenId>{bos, tokenizer->find("<new>")}));
  write_file(folder_ / "tokenizer_config.json", R"({"tokenizer_class":"CTRLTokenizer"})");
  testing::expect_error(load_tokenizer(folder_), ErrorCode::kUnsupported, "CTRLTokenizer");
}

TEST_F(LoadTokenizer, TakesTheFirstOfTheKnownFiles) {
  testing::expect_error(load_tokenizer(folder_), ErrorCode::kNotFound, "tokenizer.json");
  fs::copy_file(token_data("sources/ranks.tiktoken"), folder_ / "cl100k_base.tiktoken");
  EXPECT_EQ(load(folder_)->model_name(), "byte-level BPE (cl100k_base)");
  fs::copy_file(token_data("sources/word.model"), folder_ / "x.model.v3");
  EXPECT_EQ(load(folder_)->model_name(), "SentencePiece words");
  fs::copy_file(token_data("sources/char.model"), folder_ / "y.model");
  testing::expect_error(load_tokenizer(folder_), ErrorCode::kInvalidArgument, "name one of them");
  fs::copy_file(token_data("sources/unigram.model"), folder_ / "tokenizer.model");
  EXPECT_EQ(load(folder_)->model_name(), "SentencePiece unigram");
  fs::copy_file(token_data("llama3-like.tokenizer.json"), folder_ / "tokenizer.json");
  EXPECT_EQ(load(folder_)->model_name(), "byte-level BPE");
  testing::expect_error(load_tokenizer(folder_ / "none"), ErrorCode::kNotFound, "none");
}

}  // namespace
}  // namespace vitro
