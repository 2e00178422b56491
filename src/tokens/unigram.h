// Unigram language model (Kudo 2018, arXiv 1804.10959): of all ways to cut a word into pieces the one with the highest
// sum of scores (log probabilities), found by Viterbi; or the n best ones, or one drawn at random.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokens/piece_trie.h"
#include "tokens/token_model.h"
#include "tokens/vocabulary.h"

namespace vitro {

/// Two programs define the model, and they differ in details that decide ties and odd texts.
enum class UnigramRules : uint8_t {
  /// tokenizer.json: sums in float64; every entry can be met in a text; unknown characters side by side are one token,
  /// looked up once more as a whole, then written as bytes.
  kTokenizers,
  /// SentencePiece (.model, GGUF): sums rounded to float32; control, unknown and byte entries are never met,
  /// user-defined
  /// ones always win; each unknown character becomes bytes, or all of a run one unknown token.
  kSentencePiece,
};

/// What a file says of a unigram model besides its vocabulary.
struct UnigramSpec {
  UnigramRules rules = UnigramRules::kTokenizers;
  /// By id. Entries beyond the end are no pieces of the model (added tokens).
  std::vector<double> scores;
  TokenId unknown_id = -1;
  bool has_byte_fallback = false;
};

/// One way to cut a word, and the sum of its scores.
struct UnigramPath {
  std::vector<TextToken> tokens;
  double score = 0;
};

/// How Unigram::sample draws: as sentencepiece's SampleEncode.
struct UnigramSampling {
  double alpha = 0.1;  ///< scores are multiplied by it: 0 draws uniformly, large values take the best
  size_t n_best = 0;   ///< 0: among all ways; otherwise among the n best
  uint64_t seed = 0;
  uint64_t sequence = 0;  ///< number of the draw: equal numbers give equal draws
};

class Unigram final : public TokenModel {
 public:
  static constexpr size_t kMaxBest = 1024;

  /// `vocabulary` must outlive it. Corrupt: scores that are no finite numbers, an unknown id outside the vocabulary.
  /// Errors as PieceTrie::make.
  static Result<std::unique_ptr<Unigram>> make(const Vocabulary& vocabulary, UnigramSpec spec);

  /// Time: length times the longest piece, at most.
  void encode(std::string_view text, std::span<const ByteRange> words, std::vector<TextToken>& out) const override;

  /// The n (1 to kMaxBest) best ways to cut `word`, best first; fewer where there are not so many. InvalidArgument for
  /// another n; Unsupported where the search grows too large.
  Result<std::vector<UnigramPath>> n_best(std::string_view word, size_t n) const;

  /// One way to cut `word`, drawn with probability proportional to exp(alpha * score); the same for the same seed and
  /// sequence. Errors as n_best.
  Result<std::vector<TextToken>> sample(std::string_view word, const UnigramSampling& how) const;

 private:
  /// A node of the graph of all cuts: a piece, or one unknown character.
  struct Edge {
    uint32_t begin = 0;
    uint32_t end = 0;
    TokenId id = -1;
    double score = 0;
  };
  /// The best way to reach a position.
  struct Best {
    double score = 0;
    uint32_t begin = 0;
    TokenId id = kNotReached;
  };
  static constexpr TokenId kNotReached = -2;

  /// Kept from word to word.
  struct Scratch {
    std::vector<Best> best;
    std::vector<Edge> path;
  };
  class Lattice;  ///< in unigram_sampling.cc

  Unigram(const Vocabulary& vocabulary, UnigramSpec spec);
  Status read_scores();
  Status build_trie();
  bool is_met_in_text(TokenId id) const;
  double score_of(TokenId id, size_t length) const;
  template <class Visit>
  void for_each_edge(std::string_view word, size_t begin, Visit&& visit) const;
  /// All edges by where they begin; stops soon after `limit`.
  std::vector<Edge> edges_of(std::string_view word, size_t limit) const;
  Result<Lattice> lattice_of(std::string_view word) const;
  Result<std::vector<TextToken>> sample_among_all(std::string_view word, const UnigramSampling& how) const;
  void offer(Best& target, const Edge& edge, double before) const;
  static void start_sums_anew(std::span<Best> best, size_t begin, size_t last);
  bool find_best(std::string_view word, std::vector<Best>& best) const;
  void encode_word(std::string_view text, ByteRange word, Scratch& scratch, std::vector<TextToken>& out) const;
  void add_tokens(std::string_view word, std::span<const Edge> path, size_t offset, std::vector<TextToken>& out) const;
  void add_unknown(std::string_view word, ByteRange run, size_t offset, std::vector<TextToken>& out) const;

  const Vocabulary* vocabulary_;
  UnigramSpec spec_;
  PieceTrie trie_;
  double unknown_score_ = 0;
  std::array<TokenId, 256> byte_ids_{};  ///< -1: none
};

}  // namespace vitro
