// SentencePiece models against the package: small ones of our own (tools/make_source_expectations.py), and files that
// say what they should not.
#include <gtest/gtest.h>

#include "testing/expect_error.h"
#include "tokens/load_sources.h"
#include "tokens/pipeline_tokenizer.h"
#include "tokens/sentencepiece_model.h"
#include "tokens/tokens_test_util.h"

namespace vitro {
namespace {

using testing::json_lines;
using testing::read_text;
using testing::token_data;

std::unique_ptr<Tokenizer> load(const std::filesystem::path& path) {
  Result<std::unique_ptr<Tokenizer>> out = load_tokenizer(path);
  EXPECT_TRUE(out) << out.error().message;
  return out ? std::move(*out) : nullptr;
}

class OwnModel : public ::testing::TestWithParam<const char*> {};

TEST_P(OwnModel, EncodesAndDecodesAsThePackage) {
  const std::string name = std::string("sources/") + GetParam();
  const auto tokenizer = load(token_data(name + ".model"));
  ASSERT_TRUE(tokenizer);
  size_t n_rows = 0;
  for (const Value& row : json_lines(token_data(name + ".jsonl"))) {
    const std::vector<TokenId> ids = testing::ids_of(*row.find("ids"));
    EXPECT_EQ(tokenizer->decode(ids, true), *row.find("decoded")->as_string()) << to_string(row);
    ++n_rows;
    const Value* text = row.find("text");
    if (text == nullptr) continue;
    const auto got = tokenizer->encode(*text->as_string());
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->ids, ids) << to_string(row);
    EXPECT_EQ(got->ranges, testing::ranges_of(*row.find("offsets"))) << to_string(row);
  }
  EXPECT_GT(n_rows, 100U);
}

INSTANTIATE_TEST_SUITE_P(SentencePiece, OwnModel,
                         ::testing::Values("unigram", "unigram-suffix", "bpe", "bpe-plain", "word", "char"));

std::span<const std::byte> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// A field with bytes in it.
std::string field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(bytes.size()) + bytes;
}
std::string number(int field_number, int value) {
  return std::string(1, static_cast<char>(field_number << 3)) + static_cast<char>(value);
}
std::string piece(const std::string& text, int type) { return field(1, field(1, text) + number(3, type)); }

TEST(SentencePieceModel, ReadsWhatTheFileSays) {
  const std::string unknown_field = number(15, 7);
  const std::string bytes = piece("<unk>", 2) + piece("\u2581a", 1) + piece("<x>", 4) + unknown_field +
                            field(2, number(3, 2) + field(14, "new") + field(6, "e")) + field(3, number(3, 0));
  const auto model = read_sentencepiece_model(bytes_of(bytes));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->type, SentencePieceModel::Type::kBpe);
  EXPECT_EQ(model->pieces.size(), 3U);
  EXPECT_EQ(model->unknown_id, 0);
  EXPECT_FALSE(model->adds_dummy_prefix);
  EXPECT_TRUE(model->removes_extra_spaces);
  EXPECT_EQ(model->pieces[2].kind, TokenKind::kUserDefined);
}

TEST(SentencePieceModel, RefusesWhatThePackageRefuses) {
  const std::string good = piece("<unk>", 2);
  const auto expect = [](const std::string& bytes, ErrorCode code, const char* words) {
    testing::expect_error(read_sentencepiece_model(bytes_of(bytes)), code, words);
  };
  expect("", ErrorCode::kCorrupt, "none is the unknown token");
  expect(good + good, ErrorCode::kCorrupt, "both the unknown token");
  expect(good + piece("", 1), ErrorCode::kCorrupt, "empty");
  expect(good + piece("\xFF", 1), ErrorCode::kCorrupt, "not UTF-8");
  expect(good + piece("a", 9), ErrorCode::kUnsupported, "piece type 9");
  expect(good + piece("<0x41>", 6), ErrorCode::kCorrupt, "byte_fallback is off");
  expect(good + field(2, number(3, 5)), ErrorCode::kUnsupported, "model type 5");
  expect(good + field(2, field(3, "x")), ErrorCode::kCorrupt, "an integer was expected");
  expect(good + field(5, field(2, "rules")), ErrorCode::kUnsupported, "rules for decoded text");
  expect(good.substr(0, good.size() - 1), ErrorCode::kCorrupt, "cut short");
  expect(good + "\x0B", ErrorCode::kUnsupported, "group");
}

TEST(SentencePieceModel, EveryCutAndFlipIsAnErrorOrAModel) {
  const std::string bytes = read_text(token_data("sources/char.model"));
  for (size_t n = 0; n < bytes.size(); n += 7) {
    const auto cut = read_sentencepiece(bytes_of(bytes).first(n));
    EXPECT_TRUE(cut || !cut.error().message.empty());
    std::string flipped = bytes;
    flipped[n] = static_cast<char>(flipped[n] ^ 0x55);
    Result<TokenizerParts> parts = read_sentencepiece(bytes_of(flipped));
    if (!parts) continue;
    const auto tokenizer = PipelineTokenizer::make(std::move(*parts));
    EXPECT_TRUE(!tokenizer || (*tokenizer)->encode("a <sep> glass \u4f60"));
  }
}

TEST(SentencePieceModel, ControlPiecesAreNeverMadeOfText) {
  const auto tokenizer = load(token_data("sources/bpe.model"));
  ASSERT_TRUE(tokenizer);
  for (const bool parses : {true, false}) {
    const auto got = tokenizer->encode("<s><ctl></s>", {.add_special = true, .parse_special = parses});
    ASSERT_TRUE(got);
    for (const TokenId id : got->ids) EXPECT_FALSE(tokenizer->is_special(id));
  }
  EXPECT_EQ(tokenizer->bos_id(), tokenizer->find("<s>"));
  EXPECT_EQ(tokenizer->eos_id(), tokenizer->find("</s>"));
}

}  // namespace
}  // namespace vitro
