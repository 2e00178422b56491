// The merge loop against a naive twin that looks for the best pair again after every merge, on random vocabularies;
// hostile input.
#include "tokens/bpe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <random>
#include <string>

#include "text/byte_level.h"

namespace vitro {
namespace {

Vocabulary vocabulary_of(const std::vector<std::string>& pieces, const std::vector<float>& scores = {}) {
  size_t n_bytes = 0;
  for (const std::string& piece : pieces) n_bytes += piece.size();
  Vocabulary out = Vocabulary::with_room(pieces.size(), n_bytes).value();
  for (size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_TRUE(out.add(pieces[i], TokenKind::kNormal, scores.empty() ? 0 : scores[i]));
  }
  return out;
}

struct RandomModel {
  std::vector<std::string> pieces;
  std::vector<std::pair<std::string, std::string>> merges;  // in order of rank
};

/// Single letters and merges of random earlier pieces.
RandomModel random_model(std::mt19937& rng, size_t n_merges) {
  RandomModel out{.pieces = {"a", "b", "c"}, .merges = {}};
  for (size_t i = 0; i < n_merges; ++i) {
    const std::string left = out.pieces[rng() % out.pieces.size()];
    const std::string right = out.pieces[rng() % out.pieces.size()];
    if (std::find(out.pieces.begin(), out.pieces.end(), left + right) != out.pieces.end()) continue;
    out.pieces.push_back(left + right);
    out.merges.emplace_back(left, right);
  }
  return out;
}

std::string random_text(std::mt19937& rng, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += "abc"[rng() % 3];
  return out;
}

/// Joins the pair with the smallest rank(left, right) (negative: none), the leftmost of equals, until there is none.
template <class Rank>
std::vector<std::string> naive(const std::string& text, Rank&& rank) {
  std::vector<std::string> symbols;
  for (const char c : text) symbols.emplace_back(1, c);
  for (;;) {
    size_t best = symbols.size();
    double best_rank = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto r = rank(symbols[i], symbols[i + 1]);
      if (r.has_value() && (best == symbols.size() || *r < best_rank)) {
        best = i;
        best_rank = *r;
      }
    }
    if (best == symbols.size()) return symbols;
    symbols[best] += symbols[best + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

std::vector<TextToken> tokens_of(const TokenModel& model, const std::string& text) {
  std::vector<TextToken> out;
  const ByteRange whole{0, text.size()};
  model.encode(text, {&whole, 1}, out);
  return out;
}

std::vector<std::string> pieces_of(const TokenModel& bpe, const Vocabulary& vocabulary, const std::string& text) {
  std::vector<std::string> out;
  size_t pos = 0;
  for (const TextToken& token : tokens_of(bpe, text)) {
    EXPECT_EQ(token.range.begin, pos);
    pos = token.range.end;
    EXPECT_EQ(vocabulary.piece(token.id), text.substr(token.range.begin, token.range.size()));
    out.emplace_back(vocabulary.piece(token.id));
  }
  EXPECT_EQ(pos, text.size());
  return out;
}

TEST(Bpe, RanksEqualTheNaiveTwin) {
  std::mt19937 rng(7);
  for (int round = 0; round < 60; ++round) {
    const RandomModel model = random_model(rng, 25);
    const Vocabulary vocabulary = vocabulary_of(model.pieces);
    MergeTable merges(model.merges.size());
    std::map<std::pair<std::string, std::string>, double> ranks;
    for (size_t i = 0; i < model.merges.size(); ++i) {
      const auto& [left, right] = model.merges[i];
      ASSERT_TRUE(merges.add(
          {vocabulary.find(left), vocabulary.find(right), static_cast<uint32_t>(i), vocabulary.find(left + right)}));
      ranks[{left, right}] = static_cast<double>(i);
    }
    for (const BpeAlphabet alphabet : {BpeAlphabet::kBytes, BpeAlphabet::kCharacters}) {
      const auto bpe = Bpe::make(vocabulary, {merges, {.alphabet = alphabet, .order = BpeOrder::kRanks}}).value();
      for (int i = 0; i < 20; ++i) {
        const std::string text = random_text(rng, rng() % 40);
        EXPECT_EQ(pieces_of(*bpe, vocabulary, text), naive(text, [&](const std::string& a, const std::string& b) {
                    const auto found = ranks.find({a, b});
                    return found == ranks.end() ? std::optional<double>() : found->second;
                  }));
      }
    }
  }
}

/// Bytes of a few characters, all other bytes, and merges of any of the former, over the edges of characters too.
RandomModel random_byte_model(std::mt19937& rng, size_t n_merges) {
  RandomModel out{.pieces = {"\xE3", "\x81", "\x82", "\xE4", "\xC3", " "}, .merges = {}};
  const size_t n_used = out.pieces.size();
  for (int byte = 0; byte < 256; ++byte) {
    const std::string piece(1, static_cast<char>(byte));
    if (std::find(out.pieces.begin(), out.pieces.end(), piece) == out.pieces.end()) out.pieces.push_back(piece);
  }
  const size_t n_bytes = out.pieces.size();
  const auto pick = [&] {
    const size_t idx = rng() % (n_used + out.pieces.size() - n_bytes);
    return out.pieces[idx < n_used ? idx : idx - n_used + n_bytes];
  };
  for (size_t i = 0; i < n_merges; ++i) {
    const std::string left = pick();
    const std::string right = pick();
    if (std::find(out.pieces.begin(), out.pieces.end(), left + right) != out.pieces.end()) continue;
    out.pieces.push_back(left + right);
    out.merges.emplace_back(left, right);
  }
  std::shuffle(out.merges.begin(), out.merges.end(), rng);  // ranks in any order
  return out;
}

TEST(Bpe, LongCharactersEqualTheNaiveTwin) {
  const std::array characters = {"\u3041", "\u3042", "\u3081", "\u3082", "\u4041", "\u4082", "\u00C1", "\u00C2", " "};
  std::mt19937 rng(9);
  for (int round = 0; round < 40; ++round) {
    const RandomModel model = random_byte_model(rng, 60);
    std::vector<std::string> written;
    for (const std::string& piece : model.pieces) written.push_back(to_byte_level(piece));
    const Vocabulary vocabulary = vocabulary_of(written);
    MergeTable merges(model.merges.size());
    std::map<std::pair<std::string, std::string>, double> ranks;
    const auto id_of = [&](const std::string& piece) { return vocabulary.find(to_byte_level(piece)); };
    for (size_t i = 0; i < model.merges.size(); ++i) {
      const auto& [left, right] = model.merges[i];
      ASSERT_TRUE(merges.add({id_of(left), id_of(right), static_cast<uint32_t>(i), id_of(left + right)}));
      ranks[{left, right}] = static_cast<double>(i);
    }
    const auto bpe = Bpe::make(vocabulary, {merges, {.alphabet = BpeAlphabet::kBytes}, {}}).value();
    for (int i = 0; i < 50; ++i) {
      std::string text;
      for (size_t n = rng() % 12; n > 0; --n) text += characters[rng() % characters.size()];
      std::vector<std::string> got;
      for (const TextToken& token : tokens_of(*bpe, text)) {
        got.push_back(text.substr(token.range.begin, token.range.size()));
        ASSERT_EQ(vocabulary.piece(token.id), to_byte_level(got.back()));
      }
      ASSERT_EQ(got, naive(text, [&](const std::string& a, const std::string& b) {
                  const auto found = ranks.find({a, b});
                  return found == ranks.end() ? std::optional<double>() : found->second;
                }));
    }
  }
}

TEST(Bpe, ScoresEqualTheNaiveTwin) {
  std::mt19937 rng(8);
  for (int round = 0; round < 60; ++round) {
    const RandomModel model = random_model(rng, 25);
    std::vector<float> scores;
    for (size_t i = 0; i < model.pieces.size(); ++i)
      scores.push_back(static_cast<float>(rng() % 12) - 6.0F);  // with ties, both signs
    const Vocabulary vocabulary = vocabulary_of(model.pieces, scores);
    const auto bpe =
        Bpe::make(vocabulary, {MergeTable(), {.alphabet = BpeAlphabet::kCharacters, .order = BpeOrder::kScores}})
            .value();
    for (int i = 0; i < 20; ++i) {
      const std::string text = random_text(rng, rng() % 40);
      EXPECT_EQ(pieces_of(*bpe, vocabulary, text), naive(text, [&](const std::string& a, const std::string& b) {
                  const TokenId id = vocabulary.find(a + b);
                  return id < 0 ? std::optional<double>() : -static_cast<double>(vocabulary.score(id));
                }));
    }
  }
}

TEST(Bpe, UnknownCharactersFuseOrNot) {
  const Vocabulary vocabulary = vocabulary_of({"?", "a"});
  BpeOptions options{.alphabet = BpeAlphabet::kCharacters, .fuses_unknown = true, .unknown_id = 0};
  std::vector<TextToken> tokens = tokens_of(*Bpe::make(vocabulary, {MergeTable(), options}).value(), "a\u00E9zza");
  ASSERT_EQ(tokens.size(), 3U);
  EXPECT_EQ(tokens[1].range, (ByteRange{1, 5}));
  options.fuses_unknown = false;
  tokens = tokens_of(*Bpe::make(vocabulary, {MergeTable(), options}).value(), "a\u00E9zza");
  EXPECT_EQ(tokens.size(), 5U);
}

/// Everything about one letter: "a", "aa", "aaaa" ... and merges of equal halves.
TEST(Bpe, AMegabyteOfOneLetterIsNotQuadratic) {
  std::vector<std::string> pieces = {"a"};
  while (pieces.back().size() < 4096) pieces.push_back(pieces.back() + pieces.back());
  const Vocabulary vocabulary = vocabulary_of(pieces);
  MergeTable merges(pieces.size());
  for (TokenId i = 0; vocabulary.has(i + 1); ++i) ASSERT_TRUE(merges.add({i, i, static_cast<uint32_t>(i), i + 1}));
  const auto bpe = Bpe::make(vocabulary, {merges, {}}).value();
  const auto seconds = [&](size_t n) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(tokens_of(*bpe, std::string(n, 'a')).size(), n / 4096);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  seconds(1U << 16);
  // A quadratic loop would take 2^20 / 2^16 = 16 times as long per byte; heaps and a busy machine stay far below.
  const double small = std::min(seconds(1U << 16), seconds(1U << 16));
  EXPECT_LT(seconds(1U << 20), 16 * 8 * small + 0.5);
}

TEST(Vocabulary, FindsWhatWasAddedAndRefusesTwins) {
  Vocabulary vocabulary = vocabulary_of({"a", "bc", std::string("d\0e", 3)});
  EXPECT_EQ(vocabulary.find("bc"), 1);
  EXPECT_EQ(vocabulary.find(std::string_view("d\0e", 3)), 2);
  for (const char* absent : {"", "b", "d", "bcd", "<unk>"}) EXPECT_EQ(vocabulary.find(absent), -1) << absent;
  EXPECT_EQ(vocabulary.piece(-1), "");
  EXPECT_EQ(vocabulary.piece(3), "");
  Vocabulary twins = Vocabulary::with_room(2, 0).value();
  ASSERT_TRUE(twins.add("x", TokenKind::kNormal));
  EXPECT_EQ(twins.add("x", TokenKind::kNormal).error().code, ErrorCode::kCorrupt);
}

TEST(Vocabulary, LimitsAreKept) {
  EXPECT_FALSE(Vocabulary::with_room(kMaxVocabulary + 1, 0));
  Vocabulary vocabulary = Vocabulary::with_room(2, 0).value();
  EXPECT_TRUE(vocabulary.add(std::string(kMaxPieceBytes, 'x'), TokenKind::kNormal));
  EXPECT_EQ(vocabulary.add(std::string(kMaxPieceBytes + 1, 'x'), TokenKind::kNormal).error().code,
            ErrorCode::kUnsupported);
}

TEST(Vocabulary, ByteTokensAreReadStrictly) {
  EXPECT_EQ(byte_token_value("<0x0A>"), 10);
  EXPECT_EQ(byte_token_value("<0xff>"), 255);
  for (const char* piece :
       {"", "<0x>", "<0x0>", "<0x0A", "<0x-1>", "<0xZZ>", "<0x100>", "<0X0A>", "0x0A>>", "<0x0A> "}) {
    EXPECT_EQ(byte_token_value(piece), -1) << piece;
  }
}

}  // namespace
}  // namespace vitro
