// Training of the unigram language model (Kudo 2018, arXiv 1804.10959). A word x has the probability
//   P(x) = sum over its segmentations s of prod_i p(s_i)
// and the pieces and their p are chosen to make the text likely: from many seed pieces, by turns
//   E: expected count of a piece, c(v) = sum over words of n(x) sum_s P(s | x) #v in s   (forward and backward sums)
//   M: log p(v) = digamma(c(v)) - digamma(sum of c)     (a sparse prior, Liang & Klein 2007), pieces under 0.5 leave
// twice, then pruning of the quarter whose loss costs the text least likelihood, until few enough are left.
//
// Follows the reference (tokenizers' UnigramTrainer) step by step. That one adds its sums in the order of a hash table,
// differently in each run; scores agree to what rounding leaves, and pieces with equal scores may be numbered
// differently.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "tokens/tokenizer.h"
#include "tokens/train/word_counts.h"

namespace vitro {

struct UnigramTrainerOptions {
  size_t vocab_size = 8000;
  std::vector<std::string> special_tokens;  ///< get the first ids and the score 0
  std::string unknown = "<unk>";            ///< id 0, unless it is among the special tokens
  size_t max_piece_length = 16;             ///< in characters
  double shrinking_factor = 0.75;           ///< what pruning leaves of the pieces
  int n_sub_iterations = 2;                 ///< turns of E and M between prunings
  size_t n_seeds = 1'000'000;
};

struct ScoredPiece {
  std::string text;
  double score = 0;  ///< log p
};

struct TrainedUnigram {
  std::vector<ScoredPiece> pieces;  ///< by id: special tokens, then by falling score
  TokenId unknown_id = 0;
  double loss = 0;  ///< mean of -log P over the words of the text, in nats, at the last turn
};

/// Time: turns times characters of distinct words times max_piece_length. Words longer than 65,536 characters are cut.
/// InvalidArgument: a vocabulary too small for the characters of the text and the special tokens.
Result<TrainedUnigram> train_unigram(const WordCounts& words, const UnigramTrainerOptions& options,
                                     const TrainingProgress& progress);

}  // namespace vitro
