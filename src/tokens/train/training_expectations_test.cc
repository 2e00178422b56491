// Trained vocabularies against the reference package's (tests/data/tokens/training.json, written by
// tools/make_training_expectations.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tokens/tokens_test_util.h"
#include "tokens/train/bpe_trainer.h"
#include "tokens/train/train_tokenizer.h"
#include "tokens/train/unigram_trainer.h"
#include "tokens/train/wordpiece_trainer.h"

namespace vitro {
namespace {

using testing::json_of;
using testing::read_text;
using testing::token_data;

constexpr double kScoreTolerance = 1e-9;  // of log p; what other orders of sums leave

void ignore_progress(std::string_view, int64_t, int64_t) {}

const Value& member(const Value& object, std::string_view key) {
  static const Value kNull;
  const Value* found = object.find(key);
  EXPECT_NE(found, nullptr) << key;
  return found != nullptr ? *found : kNull;
}

const std::string& text_of(const Value& object, std::string_view key) { return *member(object, key).as_string(); }

std::optional<size_t> size_of(const Value& options, std::string_view key) {
  const Value* value = options.find(key);
  return value != nullptr && value->as_int() != nullptr ? std::optional(static_cast<size_t>(*value->as_int()))
                                                        : std::nullopt;
}

std::vector<std::string> strings_of(const Value& list) {
  std::vector<std::string> out;
  for (const Value& item : *list.as_array()) out.push_back(*item.as_string());
  return out;
}

const Value& expectations() {
  static const Value kAll = json_of(read_text(token_data("training.json")));
  return kAll;
}

std::vector<const Value*> cases_of(std::string_view part, std::string_view model) {
  std::vector<const Value*> out;
  for (const Value& row : *member(expectations(), part).as_array()) {
    if (text_of(row, "model") == model) out.push_back(&row);
  }
  return out;
}

WordCounts words_of(const Value& row) {
  WordCounts out;
  for (const Value& item : *member(row, "words").as_array()) {
    const Value::Array& pair = *item.as_array();
    EXPECT_TRUE(out.add(*pair[0].as_string(), static_cast<uint64_t>(*pair[1].as_int())));
  }
  return out;
}

BpeTrainerOptions bpe_options(const Value& options) {
  BpeTrainerOptions out{.vocab_size = *size_of(options, "vocab_size"),
                        .min_frequency = *size_of(options, "min_frequency"),
                        .special_tokens = strings_of(member(options, "special_tokens"))};
  out.limit_alphabet = size_of(options, "limit_alphabet");
  out.max_token_length = size_of(options, "max_token_length").value_or(out.max_token_length);
  if (const Value* alphabet = options.find("initial_alphabet")) {
    for (const std::string& character : strings_of(*alphabet))
      out.initial_alphabet.push_back(decode_utf8(character).value);
  }
  return out;
}

TEST(TrainingExpectations, BpeOfCountedWords) {
  for (const Value* row : cases_of("words", "bpe")) {
    const auto trained = train_bpe(words_of(*row), bpe_options(member(*row, "options")), ignore_progress);
    ASSERT_TRUE(trained) << trained.error().message;
    const Value& expected = member(*row, "expected");
    EXPECT_EQ(trained->pieces, strings_of(member(expected, "pieces"))) << to_string(*row, 2000);
    std::vector<std::pair<TokenId, TokenId>> merges;
    for (const Value& merge : *member(expected, "merges").as_array()) {
      const std::vector<TokenId> ids = testing::ids_of(merge);
      merges.emplace_back(ids[0], ids[1]);
    }
    EXPECT_EQ(trained->merges, merges) << to_string(*row, 2000);
  }
}

TEST(TrainingExpectations, WordPieceOfCountedWords) {
  for (const Value* row : cases_of("words", "wordpiece")) {
    const auto trained = train_wordpiece(words_of(*row), bpe_options(member(*row, "options")), ignore_progress);
    ASSERT_TRUE(trained) << trained.error().message;
    EXPECT_EQ(*trained, strings_of(member(member(*row, "expected"), "pieces"))) << to_string(*row, 2000);
  }
}

void expect_scores(const TrainedUnigram& trained, const Value& expected) {
  std::map<std::string, double> got;
  for (const ScoredPiece& piece : trained.pieces) got[piece.text] = piece.score;
  EXPECT_EQ(got.size(), trained.pieces.size()) << "twins";
  std::vector<double> group;
  for (const std::string& piece : strings_of(member(expected, "group"))) {
    ASSERT_TRUE(got.contains(piece)) << piece;
    group.push_back(got[piece]);
    got.erase(piece);
  }
  std::sort(group.begin(), group.end());
  const Value::Array& group_scores = *member(expected, "group_scores").as_array();
  for (size_t i = 0; i < group.size(); ++i) EXPECT_NEAR(group[i], *group_scores[i].as_real(), kScoreTolerance);
  const Value::Object& scores = *member(expected, "scores").as_object();
  EXPECT_EQ(got.size(), scores.size());
  for (const auto& [piece, score] : scores) {
    ASSERT_TRUE(got.contains(piece)) << piece;
    EXPECT_NEAR(got[piece], *score.as_real(), kScoreTolerance) << piece;
  }
}

TEST(TrainingExpectations, UnigramOfCountedWords) {
  for (const Value* row : cases_of("words", "unigram")) {
    const Value& options = member(*row, "options");
    UnigramTrainerOptions ours{.vocab_size = *size_of(options, "vocab_size"),
                               .special_tokens = strings_of(member(options, "special_tokens"))};
    ours.max_piece_length = size_of(options, "max_piece_length").value_or(ours.max_piece_length);
    const auto trained = train_unigram(words_of(*row), ours, ignore_progress);
    ASSERT_TRUE(trained) << trained.error().message;
    SCOPED_TRACE(to_string(*row, 2000));
    expect_scores(*trained, member(*row, "expected"));
    EXPECT_EQ(trained->unknown_id, *member(member(*row, "expected"), "unknown").as_int());
    const size_t n_special = ours.special_tokens.size() + (trained->pieces[0].text == "<unk>" ? 1 : 0);
    EXPECT_TRUE(std::is_sorted(trained->pieces.begin() + static_cast<std::ptrdiff_t>(n_special), trained->pieces.end(),
                               [](const ScoredPiece& a, const ScoredPiece& b) { return a.score > b.score; }));
  }
}

/// FNV-1a, 64 bits, of lines with their ends.
std::string digest(const std::vector<std::string>& lines) {
  uint64_t value = 0xCBF29CE484222325u;
  for (const std::string& line : lines) {
    for (const char c : line + "\n") value = (value ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  }
  return fmt::format("{:016x}", value);
}

TokenizerTraining training_of(const Value& row) {
  const Value& options = member(row, "options");
  TokenizerTraining out{.model = *trained_model_from_name(text_of(row, "model")),
                        .vocab_size = *size_of(options, "vocab_size"),
                        .special_tokens = strings_of(member(options, "special_tokens")),
                        .normalizer = text_of(options, "normalizer")};
  if (const auto n = size_of(options, "min_frequency")) out.min_frequency = *n;
  out.max_token_length = size_of(options, "max_token_length");
  if (options.find("pattern") != nullptr) out.pattern = text_of(options, "pattern");
  return out;
}

std::vector<std::string> pieces_by_id(const Value& vocab) {
  std::vector<std::string> out(vocab.as_object()->size());
  for (const auto& [piece, id] : *vocab.as_object()) out[static_cast<size_t>(*id.as_int())] = piece;
  return out;
}

void expect_unigram(const Value& model, const Value& row) {
  std::vector<std::string> pieces;
  double sum = 0;
  for (const Value& entry : *member(model, "vocab").as_array()) {
    pieces.push_back(*(*entry.as_array())[0].as_string());
    sum += *(*entry.as_array())[1].as_real();
  }
  std::sort(pieces.begin(), pieces.end());
  EXPECT_EQ(digest(pieces), text_of(row, "pieces"));
  EXPECT_NEAR(sum, *member(row, "score_sum").as_real(), kScoreTolerance * static_cast<double>(pieces.size()));
}

void expect_merges(const Value& model, const Value& row) {
  std::vector<std::string> lines;
  for (const Value& merge : *member(model, "merges").as_array()) {
    const std::vector<std::string> pair = strings_of(merge);
    lines.push_back(pair[0] + " " + pair[1]);
  }
  EXPECT_EQ(digest(lines), text_of(row, "merges"));
}

/// Trains on the row's file; our own loader must take the result and encode as the reference does with its own.
void expect_trained(const std::filesystem::path& file, const Value& row) {
  SCOPED_TRACE(to_string(row, 300));
  const auto trained = train_tokenizer({file}, training_of(row), ignore_progress);
  ASSERT_TRUE(trained) << trained.error().message;
  const Value document = json_of(trained->json);
  const Value& model = member(document, "model");
  if (text_of(row, "model") == "unigram") {
    expect_unigram(model, row);
  } else {
    EXPECT_EQ(digest(pieces_by_id(member(model, "vocab"))), text_of(row, "pieces"));
  }
  if (text_of(row, "model") == "bpe") expect_merges(model, row);
  const auto tokenizer = parse_tokenizer(trained->json, "trained");
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ((*tokenizer)->vocab_size(), static_cast<int64_t>(trained->n_pieces));
  const Value* encoded = row.find("encoded");
  if (encoded == nullptr) return;
  for (const Value& item : *encoded->as_array()) {
    const std::string& text = *(*item.as_array())[0].as_string();
    const auto got = (*tokenizer)->encode(text, {.add_special = false});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->ids, testing::ids_of((*item.as_array())[1])) << text;
  }
}

TEST(TrainingExpectations, OwnTexts) {
  for (const char* model : {"bpe", "wordpiece", "unigram"}) {
    for (const Value* row : cases_of("files", model)) expect_trained(testing::repo_path(text_of(*row, "file")), *row);
  }
}

void expect_shared(std::string_view model) {
  for (const Value* row : cases_of("shared", model)) {
    const auto file = testing::shared_path(text_of(*row, "file"));
    if (!file) GTEST_SKIP() << "no shared texts";
    expect_trained(*file, *row);
  }
}
TEST(TrainingExpectations, SharedTextsBpe) { expect_shared("bpe"); }
TEST(TrainingExpectations, SharedTextsWordPiece) { expect_shared("wordpiece"); }
TEST(TrainingExpectations, SharedTextsUnigram) { expect_shared("unigram"); }

}  // namespace
}  // namespace vitro
