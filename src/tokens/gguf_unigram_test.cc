// A GGUF vocabulary of the kind "t5" says what SentencePiece's own file says, so both must give the same ids: the
// expectations are the package's (tests/data/tokens/sources/unigram.jsonl).
#include <gtest/gtest.h>

#include "testing/expect_error.h"
#include "tokens/sentencepiece_model.h"
#include "tokens/tokens_test_util.h"

namespace vitro {
namespace {

using testing::GgufBuilder;
using testing::token_data;

int32_t type_number(TokenKind kind) {
  switch (kind) {
    case TokenKind::kNormal:
      return 1;
    case TokenKind::kUnknown:
      return 2;
    case TokenKind::kControl:
      return 3;
    case TokenKind::kUserDefined:
      return 4;
    case TokenKind::kUnused:
      return 5;
    case TokenKind::kByte:
      return 6;
  }
  return 0;
}

GgufBuilder gguf_of(const SentencePieceModel& model) {
  std::vector<std::string> tokens;
  std::vector<float> scores;
  std::vector<int32_t> types;
  for (const SentencePieceModel::Piece& piece : model.pieces) {
    tokens.emplace_back(piece.text);
    scores.push_back(piece.score);
    types.push_back(type_number(piece.kind));
  }
  GgufBuilder out;
  out.text("model", "t5").strings("tokens", tokens).numbers("scores", GgufType::kF32, scores);
  out.numbers("token_type", GgufType::kI32, types).integer("unknown_token_id", model.unknown_id);
  out.numbers("precompiled_charsmap", GgufType::kU8, std::vector<char>(model.charsmap.begin(), model.charsmap.end()));
  out.flag("add_space_prefix", model.adds_dummy_prefix).flag("remove_extra_whitespaces", model.removes_extra_spaces);
  return out;
}

class GgufUnigram : public ::testing::Test {
 protected:
  void SetUp() override {
    bytes_ = testing::read_text(token_data("sources/unigram.model"));
    Result<SentencePieceModel> model = read_sentencepiece_model(std::as_bytes(std::span(bytes_)));
    ASSERT_TRUE(model) << model.error().message;
    model_ = std::move(*model);
  }

  /// A GGUF cuts user-defined pieces out of the text as it was given, the package out of the normalised one.
  bool has_user_defined(std::string_view text) const {
    for (const SentencePieceModel::Piece& piece : model_.pieces) {
      if (piece.kind != TokenKind::kUserDefined) continue;
      std::string written(piece.text);
      for (size_t at = 0; (at = written.find("\u2581", at)) != std::string::npos;) written.replace(at, 3, " ");
      if (text.find(piece.text) != std::string_view::npos || text.find(written) != std::string_view::npos) return true;
    }
    return false;
  }

  std::string bytes_;
  SentencePieceModel model_;
};

TEST_F(GgufUnigram, EncodesAsThePackageDoesItsOwnFile) {
  const GgufBuilder gguf = gguf_of(model_);
  const auto tokenizer = load_gguf_tokenizer(gguf.file());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  size_t n_rows = 0;
  for (const Value& row : testing::json_lines(token_data("sources/unigram.jsonl"))) {
    const Value* text = row.find("text");
    if (text == nullptr || has_user_defined(*text->as_string())) continue;
    const auto got = (*tokenizer)->encode(*text->as_string(), {.add_special = false, .parse_special = false});
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->ids, testing::ids_of(*row.find("ids"))) << to_string(row);
    EXPECT_EQ(got->ranges, testing::ranges_of(*row.find("offsets"))) << to_string(row);
    EXPECT_EQ((*tokenizer)->decode(got->ids, true), *row.find("decoded")->as_string()) << to_string(row);
    ++n_rows;
  }
  EXPECT_GT(n_rows, 50U);
}

TEST_F(GgufUnigram, BosAndEosAreTheFiles) {
  const TokenId eos = 1;
  const GgufBuilder gguf = gguf_of(model_);
  const auto tokenizer = load_gguf_tokenizer(gguf.file());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ((*tokenizer)->encode("")->ids, (std::vector<TokenId>{eos}));  // T5 ends texts so
  GgufBuilder without = gguf_of(model_);
  const auto plain = load_gguf_tokenizer(without.flag("add_eos_token", false).file());
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_TRUE((*plain)->encode("")->ids.empty());
}

TEST_F(GgufUnigram, BrokenRulesAreNamed) {
  GgufBuilder words = gguf_of(model_);
  testing::expect_error(
      load_gguf_tokenizer(words.numbers("precompiled_charsmap", GgufType::kF32, std::vector<float>{1}).file()),
      ErrorCode::kCorrupt, "precompiled_charsmap");
  GgufBuilder cut = gguf_of(model_);
  testing::expect_error(
      load_gguf_tokenizer(cut.numbers("precompiled_charsmap", GgufType::kU8, std::vector<char>(5, 'x')).file()),
      ErrorCode::kCorrupt, "");
}

}  // namespace
}  // namespace vitro
