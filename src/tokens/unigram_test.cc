// The unigram model against a search that tries every way to cut a word; sums in float32 against those of
// SentencePiece's rules worked out by hand; draws against their probabilities.
#include "tokens/unigram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <set>

#include "testing/expect_error.h"

namespace vitro {
namespace {

struct Piece {
  std::string text;
  double score = 0;
  TokenKind kind = TokenKind::kNormal;
};

struct Model {
  Vocabulary vocabulary;
  std::unique_ptr<Unigram> unigram;
};

Model model_of(const std::vector<Piece>& pieces, UnigramSpec spec = {}) {
  Model out;
  size_t n_bytes = 0;
  for (const Piece& piece : pieces) n_bytes += piece.text.size();
  out.vocabulary = std::move(*Vocabulary::with_room(pieces.size(), n_bytes));
  for (const Piece& piece : pieces) {
    EXPECT_TRUE(out.vocabulary.add(piece.text, piece.kind));
    spec.scores.push_back(piece.score);
  }
  Result<std::unique_ptr<Unigram>> unigram = Unigram::make(out.vocabulary, std::move(spec));
  EXPECT_TRUE(unigram) << unigram.error().message;
  out.unigram = std::move(*unigram);
  return out;
}

std::vector<TokenId> ids_of(const std::vector<TextToken>& tokens) {
  std::vector<TokenId> out;
  for (const TextToken& token : tokens) out.push_back(token.id);
  return out;
}

std::vector<TokenId> encode(const Unigram& unigram, std::string_view word) {
  std::vector<TextToken> out;
  unigram.encode(word, std::vector<ByteRange>{{0, word.size()}}, out);
  return ids_of(out);
}

using Ways = std::vector<std::pair<double, std::vector<TokenId>>>;

/// All ways to cut `word`, and the sums of their scores.
void add_ways(const std::vector<Piece>& pieces, std::string_view word, std::vector<TokenId>& so_far, double score,
              Ways& out) {
  if (word.empty()) {
    out.emplace_back(score, so_far);
    return;
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (!word.starts_with(pieces[i].text)) continue;
    so_far.push_back(static_cast<TokenId>(i));
    add_ways(pieces, word.substr(pieces[i].text.size()), so_far, score + pieces[i].score, out);
    so_far.pop_back();
  }
}

Ways ways_of(const std::vector<Piece>& pieces, std::string_view word) {
  Ways out;
  std::vector<TokenId> so_far;
  add_ways(pieces, word, so_far, 0, out);
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  return out;
}

double score_of(const std::vector<Piece>& pieces, const std::vector<TokenId>& ids) {
  double out = 0;
  for (const TokenId id : ids) out += pieces[static_cast<size_t>(id)].score;
  return out;
}

std::string text_of(const std::vector<Piece>& pieces, const std::vector<TokenId>& ids) {
  std::string out;
  for (const TokenId id : ids) out += pieces[static_cast<size_t>(id)].text;
  return out;
}

/// "a", "b" and some longer pieces of them, with scores that make no ties.
std::vector<Piece> random_pieces(std::mt19937& rng) {
  std::vector<Piece> out = {{"a", -1.5}, {"b", -2.25}};
  for (const char* text : {"ab", "ba", "aa", "aab", "bb", "abab", "baa"}) {
    if (rng() % 3 != 0) out.push_back({text, -std::uniform_real_distribution<double>(0.1, 6)(rng)});
  }
  return out;
}

TEST(Unigram, TheBestWaysAreThoseOfAllWays) {
  std::mt19937 rng(4);
  for (int round = 0; round < 200; ++round) {
    const std::vector<Piece> pieces = random_pieces(rng);
    const Model model = model_of(pieces);
    std::string word;
    for (size_t i = 1 + rng() % 9; i > 0; --i) word += "ab"[rng() % 2];
    const Ways ways = ways_of(pieces, word);
    EXPECT_NEAR(score_of(pieces, encode(*model.unigram, word)), ways[0].first, 1e-9) << word;
    const size_t n = 1 + rng() % 20;
    const Result<std::vector<UnigramPath>> best = model.unigram->n_best(word, n);
    ASSERT_TRUE(best);
    ASSERT_EQ(best->size(), std::min(n, ways.size()));
    std::set<std::vector<TokenId>> seen;  // ways with the same pieces in another order may come in any order
    for (size_t i = 0; i < best->size(); ++i) {
      const std::vector<TokenId> ids = ids_of((*best)[i].tokens);
      EXPECT_NEAR((*best)[i].score, ways[i].first, 1e-9);
      EXPECT_NEAR(score_of(pieces, ids), ways[i].first, 1e-9);
      EXPECT_EQ(text_of(pieces, ids), word);
      EXPECT_TRUE(seen.insert(ids).second) << word << " " << i;
    }
  }
}

TEST(Unigram, DrawsFollowTheirProbabilities) {
  std::mt19937 rng(9);
  const std::vector<Piece> pieces = {{"a", -1}, {"b", -1.2}, {"ab", -1.9}, {"ba", -2.5}, {"aba", -2.2}};
  const Model model = model_of(pieces);
  const Ways ways = ways_of(pieces, "abab");
  const double alpha = 0.7;
  constexpr size_t kDraws = 20'000;
  for (const size_t n_best : {size_t{0}, size_t{3}}) {
    const size_t n_ways = n_best == 0 ? ways.size() : n_best;
    double sum = 0;
    for (size_t i = 0; i < n_ways; ++i) sum += std::exp(alpha * ways[i].first);
    std::map<std::vector<TokenId>, size_t> counts;
    for (size_t i = 0; i < kDraws; ++i) {
      const auto drawn = model.unigram->sample("abab", {.alpha = alpha, .n_best = n_best, .seed = 3, .sequence = i});
      ASSERT_TRUE(drawn);
      ++counts[ids_of(*drawn)];
    }
    EXPECT_LE(counts.size(), n_ways);
    for (size_t i = 0; i < n_ways; ++i) {
      const double p = std::exp(alpha * ways[i].first) / sum;
      const double deviation = std::sqrt(p * (1 - p) / kDraws);  // of the measured share; five of them is rare
      EXPECT_NEAR(static_cast<double>(counts[ways[i].second]) / kDraws, p, 5 * deviation) << i;
    }
  }
}

TEST(Unigram, EqualSequencesGiveEqualDraws) {
  const Model model = model_of({{"a", -1}, {"aa", -1.5}});
  for (uint64_t i = 0; i < 20; ++i) {
    const UnigramSampling how{.alpha = 0.5, .seed = 8, .sequence = i};
    EXPECT_EQ(ids_of(*model.unigram->sample("aaaaaa", how)), ids_of(*model.unigram->sample("aaaaaa", how)));
  }
  const auto whole = model.unigram->sample("aaaa", {.alpha = 200, .seed = 8});
  EXPECT_EQ(ids_of(*whole), encode(*model.unigram, "aaaa"));
}

TEST(Unigram, RunsOfUnknownCharactersAreOneToken) {
  const UnigramSpec spec{.unknown_id = 0};
  const Model model = model_of({{"<unk>", 0}, {"a", -1}, {"xy", -50}}, spec);
  EXPECT_EQ(encode(*model.unigram, "azzza"), (std::vector<TokenId>{1, 0, 1}));
  EXPECT_EQ(encode(*model.unigram, "axya"), (std::vector<TokenId>{1, 2, 1}));
  // With positive scores two unknown characters are better than one piece; their run is looked up as a whole.
  const Model high = model_of({{"<unk>", 100}, {"a", 100}, {"xy", 100}}, spec);
  EXPECT_EQ(encode(*high.unigram, "axya"), (std::vector<TokenId>{1, 2, 1}));
  EXPECT_EQ(encode(*high.unigram, "axyxya"), (std::vector<TokenId>{1, 0, 1}));
}

TEST(Unigram, WithoutAnUnknownTokenATextCannotBeEncoded) {
  const Model model = model_of({{"a", -1}, {"ab", -1}});
  EXPECT_EQ(encode(*model.unigram, "aab"), (std::vector<TokenId>{0, 1}));
  EXPECT_EQ(encode(*model.unigram, "ba"), (std::vector<TokenId>{-1}));
  testing::expect_error(model.unigram->n_best("ba", 2), ErrorCode::kInvalidArgument, "no piece");
}

TEST(Unigram, SentencePieceNeverMeetsControlAndTakesUserDefined) {
  const UnigramSpec spec{.rules = UnigramRules::kSentencePiece, .unknown_id = 0, .has_byte_fallback = true};
  std::vector<Piece> pieces = {{"<unk>", 0, TokenKind::kUnknown},
                               {"<s>", 0, TokenKind::kControl},
                               {"<", -3},
                               {"s", -3},
                               {">", -3},
                               {"abc", -1},
                               {"ab", 0, TokenKind::kUserDefined},
                               {"c", -8}};
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", static_cast<unsigned>(byte));
    pieces.push_back({text, 0, TokenKind::kByte});
  }
  const Model model = model_of(pieces, spec);
  EXPECT_EQ(encode(*model.unigram, "<s>"), (std::vector<TokenId>{2, 3, 4}));
  EXPECT_EQ(encode(*model.unigram, "abc"), (std::vector<TokenId>{5}));  // the bonus is no guarantee: -0.1 - 8 < -1
  EXPECT_EQ(encode(*model.unigram, "abs"), (std::vector<TokenId>{6, 3}));
  EXPECT_EQ(encode(*model.unigram, "\u00E9"), (std::vector<TokenId>{8 + 0xC3, 8 + 0xA9}));
}

/// 2^24 + 1 has no float: after "b", "a" the sum in float32 has lost the 1 that makes this way the best in float64.
TEST(Unigram, SumsAreRoundedAsTheRulesSay) {
  const std::vector<Piece> pieces = {{"a", 16777216}, {"b", 1}, {"ab", 16777216.5}, {"<unk>", 0, TokenKind::kUnknown}};
  const Model exact = model_of(pieces, {.unknown_id = 3});
  EXPECT_EQ(encode(*exact.unigram, "bab"), (std::vector<TokenId>{1, 0, 1}));  // as the package tokenizers
  const Model rounded = model_of(pieces, {.rules = UnigramRules::kSentencePiece, .unknown_id = 3});
  EXPECT_EQ(encode(*rounded.unigram, "bab"), (std::vector<TokenId>{1, 2}));
}

TEST(Unigram, LongRunsOfOneLetterAreLinear) {
  std::vector<Piece> pieces = {{"<unk>", 0}};
  for (size_t n = 1; n <= 32; ++n) pieces.push_back({std::string(n, 'a'), -1.0 - static_cast<double>(n) / 100});
  pieces.push_back({std::string(1000, 'a') + "b", -1});
  const Model model = model_of(pieces, {.unknown_id = 0});
  EXPECT_EQ(encode(*model.unigram, std::string(32'000, 'a')).size(), 1000U);
}

TEST(Unigram, BadScoresAndLongPiecesAreRefused) {
  Vocabulary vocabulary = std::move(*Vocabulary::with_room(2, 4096));
  ASSERT_TRUE(vocabulary.add("a", TokenKind::kNormal));
  ASSERT_TRUE(vocabulary.add(std::string(PieceTrie::kMaxPieceBytes + 1, 'a'), TokenKind::kNormal));
  const auto make = [&](UnigramSpec spec) { return Unigram::make(vocabulary, std::move(spec)); };
  testing::expect_error(make({.scores = {NAN}}), ErrorCode::kCorrupt, "finite");
  testing::expect_error(make({.scores = {0, 0, 0}}), ErrorCode::kCorrupt, "3 scores");
  testing::expect_error(make({.scores = {0}, .unknown_id = 1}), ErrorCode::kCorrupt, "unknown");
  testing::expect_error(make({.scores = {0, 0}}), ErrorCode::kUnsupported, "1025 bytes");
  EXPECT_TRUE(make({.scores = {0}}));
  const auto unigram = make({.scores = {0}});
  testing::expect_error((*unigram)->n_best("a", 0), ErrorCode::kInvalidArgument, "best ways");
  testing::expect_error((*unigram)->sample("a", {.alpha = NAN}), ErrorCode::kInvalidArgument, "alpha");
}

}  // namespace
}  // namespace vitro
