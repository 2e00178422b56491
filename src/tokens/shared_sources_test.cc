// Tokenizer files of published models, where the shared folder is beside the repository: against what the packages said
// (tools/make_source_expectations.py), llama.cpp's pairs of texts and ids, and swift-transformers' expectations.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "tokens/tokens_test_util.h"

namespace vitro {
namespace {

using testing::shared_path;

std::unique_ptr<Tokenizer> load(const std::filesystem::path& path) {
  Result<std::unique_ptr<Tokenizer>> out = load_tokenizer(path);
  EXPECT_TRUE(out) << out.error().message;
  return out ? std::move(*out) : nullptr;
}

TEST(SharedSources, PublishedFilesEncodeAsTheirPackages) {
  const auto root = shared_path("data/tokenizers");
  if (!root) GTEST_SKIP() << "no shared folder";
  std::map<std::string, std::unique_ptr<Tokenizer>> tokenizers;
  size_t n_rows = 0;
  for (const Value& row : testing::json_lines(testing::token_data("sources/shared.jsonl"))) {
    const std::string& file = *row.find("file")->as_string();
    auto& tokenizer = tokenizers[file];
    if (!tokenizer) tokenizer = load(*root / file);
    ASSERT_TRUE(tokenizer) << file;
    const auto got = tokenizer->encode(*row.find("text")->as_string());
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->ids, testing::ids_of(*row.find("ids"))) << file << ": " << to_string(*row.find("text"));
    ++n_rows;
  }
  EXPECT_EQ(tokenizers.size(), 9U);
  EXPECT_GT(n_rows, 500U);
}

std::vector<std::string> parts_of(const std::string& text, const std::string& between) {
  std::vector<std::string> out;
  size_t pos = 0;
  for (size_t end = 0; (end = text.find(between, pos)) != std::string::npos; pos = end + between.size()) {
    out.push_back(text.substr(pos, end - pos));
  }
  out.push_back(text.substr(pos));
  return out;
}

/// Texts of NAME.inp and ids of NAME.out, with the tokenizer at `model`.
void expect_pairs(const std::filesystem::path& root, const std::string& name, const std::string& model) {
  const std::filesystem::path pairs = root / "ggml-vocab" / ("ggml-vocab-" + name + ".gguf");
  const auto tokenizer = load(root / model);
  ASSERT_TRUE(tokenizer) << model;
  const auto texts = parts_of(testing::read_text(pairs.string() + ".inp"), "\n__ggml_vocab_test__\n");
  const auto lines = parts_of(testing::read_text(pairs.string() + ".out"), "\n");
  ASSERT_LE(texts.size(), lines.size());
  ASSERT_GT(texts.size(), 40U);
  for (size_t i = 0; i < texts.size(); ++i) {
    std::istringstream line(lines[i]);
    const std::vector<TokenId> ids{std::istream_iterator<TokenId>(line), {}};
    EXPECT_EQ(tokenizer->encode(texts[i], {.add_special = false})->ids, ids) << model << ": " << texts[i];
  }
}

TEST(SharedSources, GgufVocabulariesAndTheirTwinsGiveTheListedIds) {
  const auto root = shared_path("data/tokenizers");
  if (!root) GTEST_SKIP() << "no shared folder";
  for (const char* name : {"gpt-2", "starcoder", "deepseek-coder", "llama-spm", "phi-3", "bert-bge"}) {
    expect_pairs(*root, name, std::string("ggml-vocab/ggml-vocab-") + name + ".gguf");
  }
  expect_pairs(*root, "gpt-2", "gpt2");
  expect_pairs(*root, "llama-bpe", "llama3");
  expect_pairs(*root, "llama-spm", "llama2/tokenizer.model");
  expect_pairs(*root, "bert-bge", "bert-base-uncased/vocab.txt");
  expect_pairs(*root, "mpt", "gpt-neox-20b");
}

/// The rows of `names` in tokenizer_tests.json and the one of FILE.json. `bos` goes before what we give.
struct SwiftCase {
  std::vector<std::string> names;
  std::string file;
  std::filesystem::path model;
  std::vector<TokenId> bos = {};
};

void expect_swift(const std::filesystem::path& expected, const Value& all, const SwiftCase& with) {
  const auto tokenizer = load(with.model);
  ASSERT_TRUE(tokenizer) << with.model;
  const auto expect = [&](const Value& text, const Value& ids) {
    std::vector<TokenId> got = with.bos;
    const auto encoding = tokenizer->encode(*text.as_string());
    ASSERT_TRUE(encoding) << encoding.error().message;
    got.insert(got.end(), encoding->ids.begin(), encoding->ids.end());
    EXPECT_EQ(got, testing::ids_of(ids)) << with.model << ": " << to_string(text);
  };
  for (const std::string& name : with.names) {
    for (const Value& row : *all.find(name)->as_array()) {
      expect(*row.find("input"), *row.find("encoded")->find("input_ids"));
    }
  }
  const Value row = testing::json_file(expected / (with.file + ".json"));
  expect(*row.find("text"), *row.find("token_ids"));
}

TEST(SharedSources, ExpectationsOfSwiftTransformersHold) {
  const auto root = shared_path("data/tokenizers");
  if (!root) GTEST_SKIP() << "no shared folder";
  const Value all = testing::json_file(*root / "expected/tokenizer_tests.json");
  const SwiftCase cases[] = {
      {{"distilgpt2"}, "gpt2_encoded_tokens", *root / "gpt2"},
      {{"google-bert/bert-base-uncased", "bert-base-uncased"}, "bert_uncased_encoded", *root / "bert-base-uncased"},
      // Neither file knows a BOS. (Llama 2's tokenizer.json there is damaged; the reference refuses it as well.)
      {{"coreml-projects/Llama-2-7b-chat-coreml"}, "llama_encoded", *root / "llama2/tokenizer.model", {1}},
      {{"pcuenq/Llama-3.2-1B-Instruct-tokenizer"}, "llama_3.2_encoded", *root / "llama3", {128000}},
  };
  for (const SwiftCase& with : cases) expect_swift(*root / "expected", all, with);
}

}  // namespace
}  // namespace vitro
