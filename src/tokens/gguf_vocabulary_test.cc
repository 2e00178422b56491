// GGUF vocabularies built in memory: expectations of the `tokenizers` and `sentencepiece` packages, defaults, and
// hostile metadata.
#include <gtest/gtest.h>

#include <cmath>

#include "tokens/tokens_test_util.h"
#include "tokens/vocabulary.h"

namespace vitro {
namespace {

using testing::GgufBuilder;
using testing::ids_of;
using testing::json_file;
using testing::json_lines;
using testing::token_data;

std::vector<std::string> strings_of(const Value& list) {
  std::vector<std::string> out;
  for (const Value& item : *list.as_array()) out.push_back(*item.as_string());
  return out;
}

/// A trained tokenizer.json as a GGUF vocabulary: control entries for its special tokens.
GgufBuilder byte_level_gguf(std::string_view file, std::string pre) {
  const Value json = json_file(token_data(file));
  std::vector<std::string> tokens(json.find("model")->find("vocab")->as_object()->size());
  for (const auto& [piece, id] : *json.find("model")->find("vocab")->as_object())
    tokens[static_cast<size_t>(*id.as_int())] = piece;
  std::vector<int32_t> types(tokens.size(), 1);
  for (const Value& added : *json.find("added_tokens")->as_array()) {
    const auto id = static_cast<size_t>(*added.find("id")->as_int());
    tokens.resize(std::max(tokens.size(), id + 1));
    types.resize(tokens.size(), 1);
    tokens[id] = *added.find("content")->as_string();
    types[id] = *added.find("special")->as_bool() ? 3 : 4;
  }
  std::vector<std::string> merges;
  for (const Value& merge : *json.find("model")->find("merges")->as_array()) {
    const Value::Array& pair = *merge.as_array();
    merges.push_back(*pair[0].as_string() + " " + *pair[1].as_string());
  }
  GgufBuilder out;
  out.text("model", "gpt2").text("pre", std::move(pre)).strings("tokens", tokens).strings("merges", merges);
  out.numbers("token_type", GgufType::kI32, types);
  return out;
}

GgufBuilder sentencepiece_gguf(const Value& data) {
  std::vector<float> scores;
  for (const Value& score : *data.find("scores")->as_array()) {
    scores.push_back(
        static_cast<float>(score.as_real() != nullptr ? *score.as_real() : static_cast<double>(*score.as_int())));
  }
  GgufBuilder out;
  out.text("model", "llama")
      .strings("tokens", strings_of(*data.find("tokens")))
      .numbers("scores", GgufType::kF32, scores);
  out.numbers("token_type", GgufType::kI32, ids_of(*data.find("types")));
  return out;
}

void expect_rows(const GgufBuilder& gguf, std::string_view rows_file) {
  const auto tokenizer = load_gguf_tokenizer(gguf.file());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  for (const Value& row : json_lines(token_data(rows_file))) {
    const std::string& text = *row.find("text")->as_string();
    const EncodeOptions options{.add_special = *row.find("add_special")->as_bool(),
                                .parse_special = *row.find("parse_special")->as_bool()};
    const Result<Encoding> got = (*tokenizer)->encode(text, options);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->ids, ids_of(*row.find("ids"))) << text;
    EXPECT_EQ(testing::in_code_points(text, got->ranges), testing::ranges_of(*row.find("offsets"))) << text;
    EXPECT_EQ((*tokenizer)->decode(got->ids, true), *row.find("decoded")->as_string()) << text;
  }
}

TEST(GgufVocabulary, SmollmFamilyEqualsTheReference) {
  expect_rows(byte_level_gguf("single-digits.tokenizer.json", "smollm"), "single-digits.jsonl");
}

TEST(GgufVocabulary, Llama3FamilyEqualsTheReferenceAndAddsBosByItself) {
  GgufBuilder gguf = byte_level_gguf("llama3-like.tokenizer.json", "llama-bpe");
  gguf.integer("bos_token_id", load_tokenizer(token_data("llama3-like.tokenizer.json")).value()->find("<s>"));
  expect_rows(gguf, "llama3-like.jsonl");
}

TEST(GgufVocabulary, ScoresEqualSentencePiece) {
  const Value data = json_file(token_data("sentencepiece.json"));
  const GgufBuilder gguf = sentencepiece_gguf(data);
  const auto tokenizer = load_gguf_tokenizer(gguf.file());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  for (const Value& row : *data.find("rows")->as_array()) {
    const std::string& text = *row.find("text")->as_string();
    const Result<Encoding> got = (*tokenizer)->encode(text, {.add_special = false, .parse_special = true});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->ids, ids_of(*row.find("ids"))) << text;
    if (text.find("\u2581") == std::string::npos) {
      EXPECT_EQ((*tokenizer)->decode(got->ids, true), text);
    }
  }
}

TEST(GgufVocabulary, DefaultsAreThoseOfTheKind) {
  const GgufBuilder sentencepiece = sentencepiece_gguf(json_file(token_data("sentencepiece.json")));
  const auto sp = load_gguf_tokenizer(sentencepiece.file());
  ASSERT_TRUE(sp);
  EXPECT_EQ((*sp)->bos_id(), 1);
  EXPECT_EQ((*sp)->eos_id(), 2);
  EXPECT_EQ((*sp)->encode("")->ids, (std::vector<TokenId>{1}));
  EXPECT_EQ((*sp)->decode(std::vector<TokenId>{(*sp)->find("\u2581"), (*sp)->find("\u2581")}, true), " ");
  const GgufBuilder byte_level = byte_level_gguf("single-digits.tokenizer.json", "gpt-2");
  const auto bytes = load_gguf_tokenizer(byte_level.file());
  ASSERT_TRUE(bytes);
  EXPECT_EQ((*bytes)->bos_id(), -1);  // a vocabulary without a BOS has none
  EXPECT_TRUE((*bytes)->encode("")->ids.empty());
}

TEST(GgufVocabulary, FlagsOfTheFileWin) {
  GgufBuilder gguf = sentencepiece_gguf(json_file(token_data("sentencepiece.json")));
  gguf.flag("add_bos_token", false).flag("add_eos_token", true).flag("add_space_prefix", false);
  const auto tokenizer = load_gguf_tokenizer(gguf.file());
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ((*tokenizer)->encode("")->ids, (std::vector<TokenId>{2}));
  const Result<Encoding> space = (*tokenizer)->encode(" a", {.add_special = false, .parse_special = true});
  EXPECT_EQ((*tokenizer)->decode(space->ids, true), " a");
}

TEST(GgufVocabulary, TextNeverBecomesAControlTokenUnlessParsed) {
  const GgufBuilder gguf = sentencepiece_gguf(json_file(token_data("sentencepiece.json")));
  const auto tokenizer = load_gguf_tokenizer(gguf.file());
  ASSERT_TRUE(tokenizer);
  for (const char* text : {"<s>", "</s>", "<unk>", "<0x0A>"}) {
    const Result<Encoding> got = (*tokenizer)->encode(text, {.add_special = false, .parse_special = false});
    ASSERT_TRUE(got);
    EXPECT_EQ((*tokenizer)->decode(got->ids, true), text);
  }
  EXPECT_EQ((*tokenizer)->encode("</s>", {.add_special = false, .parse_special = true})->ids,
            (std::vector<TokenId>{2}));
}

void expect_refused(const GgufBuilder& gguf, ErrorCode code, std::string_view named) {
  const auto tokenizer = load_gguf_tokenizer(gguf.file());
  ASSERT_FALSE(tokenizer) << named;
  EXPECT_EQ(tokenizer.error().code, code) << tokenizer.error().message;
  EXPECT_NE(tokenizer.error().message.find(named), std::string::npos) << tokenizer.error().message;
}

TEST(GgufVocabulary, NoVocabularyAndUnknownOnesAreSaidByName) {
  expect_refused(GgufBuilder(), ErrorCode::kNotFound, "no vocabulary");
  expect_refused(GgufBuilder().text("model", "no_vocab"), ErrorCode::kNotFound, "no vocabulary");
  expect_refused(GgufBuilder().text("model", "rwkv"), ErrorCode::kUnsupported, "rwkv");
  GgufBuilder gguf = byte_level_gguf("single-digits.tokenizer.json", "never-heard-of");
  expect_refused(gguf, ErrorCode::kUnsupported, "never-heard-of");
  expect_refused(gguf.text("pre", "default"), ErrorCode::kUnsupported, "default");
  expect_refused(gguf.drop("tokenizer.ggml.pre"), ErrorCode::kUnsupported, "tokenizer.ggml.pre");
}

TEST(GgufVocabulary, EveryKeyWithEveryWrongKind) {
  const char* keys[] = {"model",        "pre",          "tokens",        "merges",        "token_type",
                        "bos_token_id", "eos_token_id", "add_bos_token", "add_eos_token", "add_space_prefix"};
  for (const char* key : keys) {
    const std::string name = key;
    for (int kind = 0; kind < 5; ++kind) {
      GgufBuilder gguf = byte_level_gguf("single-digits.tokenizer.json", "smollm");
      const bool is_string = name == "model" || name == "pre";
      const bool is_strings = name == "tokens" || name == "merges";
      const bool is_integer = name.ends_with("_id");
      const bool is_flag = name.starts_with("add_");
      if (kind == 0 && !is_string) gguf.text(name, "x");
      if (kind == 1 && !is_integer) gguf.integer(name, 1);
      if (kind == 2 && !is_flag) gguf.flag(name, true);
      if (kind == 3 && !is_strings) gguf.strings(name, {"x"});
      if (kind == 4) gguf.numbers(name, GgufType::kF32, std::vector<float>{1});
      const auto tokenizer = load_gguf_tokenizer(gguf.file());
      const bool is_right =
          (kind == 0 && is_string) || (kind == 1 && is_integer) || (kind == 2 && is_flag) || (kind == 3 && is_strings);
      if (is_right) continue;
      ASSERT_FALSE(tokenizer) << name << " as kind " << kind;
      EXPECT_EQ(tokenizer.error().code, ErrorCode::kCorrupt) << tokenizer.error().message;
      EXPECT_NE(tokenizer.error().message.find(name), std::string::npos) << tokenizer.error().message;
    }
  }
}

TEST(GgufVocabulary, ScoresAndTypesAreCheckedBeforeTheyAreRead) {
  const Value data = json_file(token_data("sentencepiece.json"));
  const size_t n = data.find("tokens")->as_array()->size();
  const auto base = [&] { return sentencepiece_gguf(data); };
  expect_refused(base().drop("tokenizer.ggml.scores"), ErrorCode::kCorrupt, "scores");
  expect_refused(base().numbers("scores", GgufType::kU8, std::vector<uint8_t>(n)), ErrorCode::kCorrupt, "scores");
  expect_refused(base().numbers("scores", GgufType::kF32, std::vector<float>(n - 1)), ErrorCode::kCorrupt, "scores");
  expect_refused(base().numbers("scores", GgufType::kF32, std::vector<float>(n, NAN)), ErrorCode::kCorrupt, "score");
  expect_refused(base().numbers("token_type", GgufType::kF32, std::vector<float>(n)), ErrorCode::kCorrupt,
                 "token_type");
  expect_refused(base().numbers("token_type", GgufType::kI32, std::vector<int32_t>(n - 1)), ErrorCode::kCorrupt,
                 "token_type");
  expect_refused(base().numbers("token_type", GgufType::kI32, std::vector<int32_t>(n, 7)), ErrorCode::kCorrupt,
                 "token_type");
  expect_refused(base().numbers("token_type", GgufType::kI32, std::vector<int32_t>(n, 6)), ErrorCode::kCorrupt,
                 "byte token");
}

TEST(GgufVocabulary, ByteTokensMustBeWellFormedAndSingle) {
  for (const char* piece : {"<0x-1>", "<0xZZ>", "<0x>", "<0x100>", "<0x0"}) {
    GgufBuilder gguf;
    gguf.text("model", "llama")
        .strings("tokens", {"<unk>", "<s>", "</s>", piece})
        .numbers("scores", GgufType::kF32, std::vector<float>(4));
    gguf.numbers("token_type", GgufType::kI32, std::vector<int32_t>{2, 3, 3, 6});
    expect_refused(gguf, ErrorCode::kCorrupt, "byte token 3");
  }
  GgufBuilder twins;
  twins.text("model", "llama").strings("tokens", {"<unk>", "<s>", "</s>", "<0x0a>", "<0x0A>"});
  twins.numbers("scores", GgufType::kF32, std::vector<float>(5))
      .numbers("token_type", GgufType::kI32, std::vector<int32_t>{2, 3, 3, 6, 6});
  expect_refused(twins, ErrorCode::kCorrupt, "byte 0x0A");
}

TEST(GgufVocabulary, MissingBytesGiveTheUnknownToken) {
  GgufBuilder gguf;
  gguf.text("model", "llama")
      .strings("tokens", {"<unk>", "<s>", "</s>", "a", "<0xC3>"})
      .flag("add_bos_token", false)
      .flag("add_space_prefix", false);
  gguf.numbers("scores", GgufType::kF32, std::vector<float>(5))
      .numbers("token_type", GgufType::kI32, std::vector<int32_t>{2, 3, 3, 1, 6});
  const auto tokenizer = load_gguf_tokenizer(gguf.file());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ((*tokenizer)->encode("a\u00E9a")->ids, (std::vector<TokenId>{3, 0, 3}));
}

TEST(GgufVocabulary, IdsOutsideTheVocabularyAreRefused) {
  GgufBuilder gguf = byte_level_gguf("single-digits.tokenizer.json", "smollm");
  const int64_t n = static_cast<int64_t>(load_gguf_tokenizer(gguf.file()).value()->vocab_size());
  for (const char* key : {"bos_token_id", "eos_token_id"}) {
    for (const int64_t id : {n, n + 1, int64_t{-1}, int64_t{1} << 31, int64_t{0xFFFFFFFF}}) {
      expect_refused(byte_level_gguf("single-digits.tokenizer.json", "smollm").integer(key, id), ErrorCode::kCorrupt,
                     key);
    }
    EXPECT_TRUE(
        load_gguf_tokenizer(byte_level_gguf("single-digits.tokenizer.json", "smollm").integer(key, n - 1).file()));
  }
  expect_refused(gguf.flag("add_bos_token", true), ErrorCode::kCorrupt, "bos_token_id");
}

TEST(GgufVocabulary, BrokenMergesAndTwinsAreNamed) {
  GgufBuilder gguf = byte_level_gguf("single-digits.tokenizer.json", "smollm");
  for (const char* merge : {"", " ", "a", "a ", " a", "a no-such-piece", "no-such-piece a"}) {
    expect_refused(gguf.strings("merges", {merge}), ErrorCode::kCorrupt, "merge 0");
  }
  expect_refused(gguf.strings("merges", {std::string(100000, 'a') + " " + std::string(100000, 'b')}),
                 ErrorCode::kCorrupt, "merge 0");
  EXPECT_TRUE(load_gguf_tokenizer(gguf.strings("merges", {}).file()));
  expect_refused(gguf.strings("tokens", {"a", "b", "a"}).drop("tokenizer.ggml.token_type"), ErrorCode::kCorrupt,
                 "twice");
  expect_refused(gguf.strings("tokens", {std::string(kMaxPieceBytes + 1, 'x')}), ErrorCode::kUnsupported, "bytes");
}

}  // namespace
}  // namespace vitro
