// tokenizer.json against the `tokenizers` package: small trained files of the repository, and where it is there the
// shared folder's real ones. Ids with and without special tokens, offsets, text decoded both ways; then what must be
// refused.
#include <gtest/gtest.h>

#include <filesystem>

#include "formats/mapped_file.h"
#include "testing/expect_error.h"
#include "testing/temp_folder.h"
#include "tokens/tokens_test_util.h"

namespace vitro {
namespace {

using testing::ids_of;
using testing::json_lines;
using testing::token_data;

/// The keys of a row differ between our own files and the shared ones.
EncodeOptions options_of(const Value& row) {
  const Value* special = row.find("add_special") != nullptr ? row.find("add_special") : row.find("add_special_tokens");
  const Value* parse = row.find("parse_special");
  return {.add_special = *special->as_bool(), .parse_special = parse == nullptr || *parse->as_bool()};
}

void expect_rows(const std::filesystem::path& tokenizer_path, const std::filesystem::path& rows_path) {
  const Result<std::unique_ptr<Tokenizer>> tokenizer = load_tokenizer(tokenizer_path);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const std::vector<Value> rows = json_lines(rows_path);
  ASSERT_GT(rows.size(), 50U);
  for (const Value& row : rows) {
    const std::string& text = *row.find("text")->as_string();
    const Result<Encoding> got = (*tokenizer)->encode(text, options_of(row));
    ASSERT_TRUE(got) << got.error().message;
    const std::vector<TokenId> ids = ids_of(*row.find("ids"));
    EXPECT_EQ(got->ids, ids) << text;
    EXPECT_EQ(testing::in_code_points(text, got->ranges), testing::ranges_of(*row.find("offsets"))) << text;
    EXPECT_EQ((*tokenizer)->decode(ids, true), *row.find("decoded")->as_string()) << text;
    EXPECT_EQ((*tokenizer)->decode(ids, false), *row.find("decoded_special")->as_string()) << text;
  }
}

class TokenizerJson : public ::testing::TestWithParam<const char*> {};

TEST_P(TokenizerJson, EqualsTheReference) {
  const std::string name = GetParam();
  expect_rows(token_data(name + ".tokenizer.json"), token_data(name + ".jsonl"));
}

INSTANTIATE_TEST_SUITE_P(Trained, TokenizerJson,
                         ::testing::Values("gpt2-like", "llama3-like", "single-digits", "llama2-like", "gemma-like",
                                           "metaspace"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(TokenizerJsonShared, RealFilesEqualTheReference) {
  const auto folder = testing::shared_path("goldens/text/tokenizers");
  if (!folder) GTEST_SKIP() << "no shared folder";
  for (const char* name : {"gpt-neox-20b", "phi-3-mini"}) {  // those that lie there unpacked
    SCOPED_TRACE(name);
    const auto tokenizer = testing::shared_path("data/tokenizers/" + std::string(name));
    ASSERT_TRUE(tokenizer);
    expect_rows(*tokenizer, *folder / (std::string(name) + ".jsonl"));
  }
}

/// The packed files of the shared folder are unpacked with the system's xz.
TEST(TokenizerJsonShared, PackedFilesEqualTheReference) {
  const auto packed = testing::shared_path("data/tokenizers/hf");
  if (!packed) GTEST_SKIP() << "no shared folder";
  const testing::TempFolder temp;
  for (const char* name : {"deepseek_v3", "gemma3", "gpt4o", "gptoss", "llama2", "llama3", "qwen3"}) {
    SCOPED_TRACE(name);
    const std::filesystem::path folder = temp.path() / name;
    std::filesystem::create_directory(folder);
    const std::string command = "xz -dkc '" + (*packed / name / "tokenizer.json.xz").string() + "' > '" +
                                (folder / "tokenizer.json").string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    expect_rows(folder, *testing::shared_path("goldens/text/tokenizers/hf-" + std::string(name) + ".jsonl"));
  }
}

/// Loads a tokenizer.json given as text.
Result<std::unique_ptr<Tokenizer>> load_text(const std::string& text) {
  const testing::TempFolder folder;
  const std::filesystem::path path = folder.path() / "tokenizer.json";
  std::ofstream(path, std::ios::binary) << text;
  return load_tokenizer(path);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t pos = text.find(from);
  EXPECT_NE(pos, std::string::npos) << from;
  return pos == std::string::npos ? text : text.replace(pos, from.size(), to);
}

const std::string kSmall = R"({"version":"1.0","truncation":null,"padding":null,
  "added_tokens":[{"id":4,"content":"<e>","single_word":false,"lstrip":false,"rstrip":false,
  "normalized":false,"special":true}],
  "normalizer":null,"pre_tokenizer":null,"post_processor":null,
  "decoder":{"type":"Sequence","decoders":[{"type":"ByteFallback"},{"type":"Fuse"}]},
  "model":{"type":"BPE","dropout":null,"unk_token":"?","continuing_subword_prefix":null,"end_of_word_suffix":null,
  "fuse_unk":false,
  "byte_fallback":false,"ignore_merges":false,"vocab":{"?":0,"a":1,"b":2,"ab":3},"merges":["a b"]}})";

TEST(TokenizerJsonRefusals, TheSmallFileItselfLoads) {
  const auto tokenizer = load_text(kSmall);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ((*tokenizer)->encode("abba<e>zz")->ids, (std::vector<TokenId>{3, 2, 1, 4, 0, 0}));
  EXPECT_EQ((*tokenizer)->vocab_size(), 5);
  EXPECT_EQ((*tokenizer)->find("<e>"), 4);
  EXPECT_EQ((*tokenizer)->kind(4), TokenKind::kControl);
}

struct Refusal {
  std::string from;
  std::string to;
  ErrorCode code;
  std::string named;  // what the message must name
};

TEST(TokenizerJsonRefusals, WhatIsNotImplementedIsRefusedByName) {
  const ErrorCode bad = ErrorCode::kCorrupt;
  const ErrorCode new_to_us = ErrorCode::kUnsupported;
  const Refusal cases[] = {
      {R"("normalizer":null)", R"("normalizer":{"type":"Title"})", new_to_us, "Title"},
      {R"("normalizer":null)", R"("normalizer":{"type":"NFC","level":2})", new_to_us, "level"},
      {R"("pre_tokenizer":null)", R"("pre_tokenizer":{"type":"Syllables"})", new_to_us, "Syllables"},
      {R"("pre_tokenizer":null)",
       R"("pre_tokenizer":{"type":"Split","pattern":{"Regex":"\\R+"},"behavior":"Isolated","invert":false})", new_to_us,
       R"(\R+)"},
      {R"("post_processor":null)", R"("post_processor":{"type":"BertProcessing"})", bad, "cls"},
      {R"({"type":"Fuse"})", R"({"type":"Melt"})", new_to_us, "Melt"},
      {R"({"type":"Fuse"})", R"({"type":"WordPiece"})", bad, "prefix"},
      {R"({"type":"Fuse"})", R"({"type":"Strip","content":"ab","start":1,"stop":0})", bad, "content"},
      {R"({"type":"Fuse"})", R"({"type":"Strip","content":" ","start":-1,"stop":0})", bad, "start"},
      {R"({"type":"Fuse"})", R"({"type":"BPEDecoder","suffix":""})", new_to_us, "suffix"},
      {R"("type":"BPE")", R"("type":"Bigram")", new_to_us, "Bigram"},
      {R"("type":"BPE")", R"("type":"Unigram")", bad, "vocab"},
      {R"("type":"BPE")", R"("type":"WordPiece")", bad, "continuing_subword_prefix"},
      {R"("dropout":null)", R"("dropout":0.1)", new_to_us, "dropout"},
      {R"("version":"1.0")", R"("version":"2.0")", new_to_us, "version"},
      {R"("padding":null)", R"("padding":null,"magic":1)", new_to_us, "magic"},
      {R"("unk_token":"?")", R"("unk_token":"!")", bad, "unk_token"},
      {R"("unk_token":"?")", R"("unk_token":7)", bad, "unk_token"},
      {R"(["a b"])", R"(["a c"])", bad, "'c'"},
      {R"(["a b"])", R"(["b a"])", bad, "'ba'"},
      {R"(["a b"])", R"(["ab"])", bad, "merges[0]"},
      {R"(["a b"])", R"(["a  b"])", bad, "merges[0]"},
      {R"(["a b"])", R"([["a"]])", bad, "merges[0]"},
      {R"(["a b"])", R"([5])", bad, "merges[0]"},
      {R"(["a b"])", R"([["","ab"]])", bad, "merges[0]"},
      {R"("ab":3)", R"("ab":-1)", bad, "-1"},
      {R"("ab":3)", R"("ab":2)", bad, "same id"},
      {R"("ab":3)", R"("ab":4000000000)", bad, "4000000000"},
      {R"("ab":3)", R"("ab":1000000)", bad, "1000000"},
      {R"("ab":3)", R"("ab":"3")", bad, "no integer"},
      {R"("id":4)", R"("id":-1)", bad, "id"},
  };
  for (const Refusal& c : cases) {
    const auto tokenizer = load_text(replaced(kSmall, c.from, c.to));
    ASSERT_FALSE(tokenizer) << c.to;
    EXPECT_EQ(tokenizer.error().code, c.code) << c.to << ": " << tokenizer.error().message;
    EXPECT_NE(tokenizer.error().message.find(c.named), std::string::npos) << c.to << ": " << tokenizer.error().message;
  }
}

std::string doublings(int n) {
  std::string out;
  for (int i = 0; i < n; ++i) {
    out += std::string(i > 0 ? "," : "") + R"({"type":"Replace","pattern":{"String":"a"},"content":"aa"})";
  }
  return out;
}

TEST(TokenizerJsonRefusals, NothingGrowsWithoutBound) {
  const std::string normalizer = R"("normalizer":{"type":"Sequence","normalizers":[)" + doublings(31) + "]}";
  const std::string grows = replaced(kSmall, R"("normalizer":null)", normalizer);
  const auto tokenizer = load_text(grows);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  testing::expect_error((*tokenizer)->encode("a"), ErrorCode::kUnsupported, "makes the text too long");
  // An added token that is looked for in normalised text is normalised when the file is read.
  const std::string added = replaced(replaced(grows, R"("normalized":false)", R"("normalized":true)"), "<e>", "<ea>");
  testing::expect_error(load_text(added), ErrorCode::kUnsupported, "makes the text too long");
  const std::string nested = R"("normalizer":{"type":"Sequence","normalizers":[{"type":"Sequence","normalizers":[)" +
                             doublings(20) + R"(]},{"type":"Sequence","normalizers":[)" + doublings(20) + "]}]}";
  testing::expect_error(load_text(replaced(kSmall, R"("normalizer":null)", nested)), ErrorCode::kUnsupported,
                        "this many normalizers");
  const std::string decoder = replaced(kSmall, R"({"type":"ByteFallback"})", doublings(5));
  testing::expect_error(load_text(decoder), ErrorCode::kUnsupported, "a replacement that grows pieces so far");
  const std::string pattern =
      R"("normalizer":{"type":"Replace","pattern":{"String":")" + std::string(257, 'a') + R"("},"content":"b"})";
  testing::expect_error(load_text(replaced(kSmall, R"("normalizer":null)", pattern)), ErrorCode::kUnsupported,
                        "a pattern this long");
}

// Each of the spaces takes all that follow along, and offsets are trimmed: linear all the same.
TEST(TokenizerJson, SharedWhiteSpaceIsTrimmedInOnePass) {
  std::string text = replaced(kSmall, "<e>", " ");
  text = replaced(text, R"("rstrip":false)", R"("rstrip":true)");
  text =
      replaced(text, R"("post_processor":null)", R"("post_processor":{"type":"ByteLevel","add_prefix_space":false})");
  const auto tokenizer = load_text(text);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const size_t n = 200'000;
  const auto encoding = (*tokenizer)->encode("a" + std::string(n, ' '));
  ASSERT_TRUE(encoding) << encoding.error().message;
  ASSERT_EQ(encoding->ids.size(), n + 1);
  for (size_t i = 1; i <= n; ++i) ASSERT_EQ(encoding->ranges[i], (ByteRange{n + 1, n + 1})) << i;
}

TEST(TokenizerJsonRefusals, TextsHaveALimit) {
  const auto tokenizer = load_text(kSmall);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const size_t limit = size_t{64} << 20;
  testing::expect_error((*tokenizer)->encode(std::string(limit + 1, 'a')), ErrorCode::kInvalidArgument, "64 MiB");
  testing::expect_error((*tokenizer)->encode(std::string(limit / 3 + 1, '\xFF')), ErrorCode::kInvalidArgument,
                        "64 MiB");
}

TEST(TokenizerJson, AFileInMemoryIsTheSameFile) {
  const auto tokenizer = parse_tokenizer(kSmall, "memory");
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ((*tokenizer)->encode("abba<e>zz")->ids, (std::vector<TokenId>{3, 2, 1, 4, 0, 0}));
  testing::expect_error(parse_tokenizer("{}", "memory"), ErrorCode::kCorrupt, "memory");
}

/// The file's own ids of added tokens do not count in the reference, and of twins the last one does.
TEST(TokenizerJson, AddedTokensAreNumberedAsInTheReference) {
  std::string text = replaced(kSmall, R"("id":4)", R"("id":1)");
  const auto renumbered = load_text(text);
  ASSERT_TRUE(renumbered) << renumbered.error().message;
  EXPECT_EQ((*renumbered)->encode("a<e>")->ids, (std::vector<TokenId>{1, 4}));
  const auto known = load_text(replaced(kSmall, R"("content":"<e>")", R"("content":"b")"));
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ((*known)->encode("ab")->ids, (std::vector<TokenId>{1, 2}));
  EXPECT_TRUE((*known)->is_special(2));
}

TEST(TokenizerJsonRefusals, OfTwinMergesTheLastCounts) {
  // As in the reference: rank 2 for (a, b) comes after (b, b).
  std::string text = replaced(kSmall, R"("ab":3)", R"("ab":3,"bb":4)");
  text = replaced(text, R"(["a b"])", R"(["a b","b b","a b"])");
  const auto tokenizer = load_text(text);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ((*tokenizer)->encode("abb")->ids, (std::vector<TokenId>{1, 4}));
}

TEST(TokenizerJsonRefusals, NoFileNoFolderNoTokenizer) {
  EXPECT_EQ(load_tokenizer("/no/such/place").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(load_tokenizer(testing::TempFolder().path()).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(load_text(""));
  EXPECT_FALSE(load_text("[1,2]"));
  EXPECT_FALSE(load_text("{}"));
  EXPECT_FALSE(load_text("{\"model\":{}}"));
}

TEST(TokenizerJson, NamesOfBosAndEosComeFromTheConfigBesideIt) {
  const testing::TempFolder folder;
  std::ofstream(folder.path() / "tokenizer.json") << kSmall;
  std::ofstream(folder.path() / "tokenizer_config.json")
      << R"({"bos_token":{"content":"<e>","lstrip":false},"eos_token":"ab"})";
  const auto tokenizer = load_tokenizer(folder.path());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ((*tokenizer)->bos_id(), 4);
  EXPECT_EQ((*tokenizer)->eos_id(), 3);
}

TEST(TokenizerJson, BrokenBytesAreEncodedAsReplacementCharacters) {
  const auto tokenizer = load_tokenizer(token_data("llama3-like.tokenizer.json"));
  ASSERT_TRUE(tokenizer);
  const EncodeOptions plain{.add_special = false, .parse_special = true};
  const Result<Encoding> broken = (*tokenizer)->encode("a\xFF\xE2\x82z", plain);
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->ids, (*tokenizer)->encode("a\uFFFD\uFFFDz", plain)->ids);
  EXPECT_EQ(broken->ranges.front(), (ByteRange{0, 1}));
  EXPECT_EQ(broken->ranges.back(), (ByteRange{4, 5}));
}

}  // namespace
}  // namespace vitro
