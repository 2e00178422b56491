// Training of byte-pair encoding (Sennrich, Haddow & Birch 2016, arXiv 1508.07909): words are sequences of characters,
// and the pair of neighbours that is counted most often over all words becomes one symbol, again and again.
//
// The result is that of the reference (tokenizers' BpeTrainer) to the last merge: of pairs counted equally often the
// one with the smaller left id wins, then the one with the smaller right id. Ids are given in order: special tokens,
// characters by code point, merges.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tokens/tokenizer.h"
#include "tokens/train/word_counts.h"

namespace vitro {

struct BpeTrainerOptions {
  size_t vocab_size = 30000;   ///< training stops here; special tokens and characters are kept even beyond it
  uint64_t min_frequency = 0;  ///< a pair counted less often is not merged
  std::vector<std::string> special_tokens;  ///< get the first ids; twins count once
  std::vector<char32_t> initial_alphabet;   ///< characters that get an id whether they occur or not
  /// How many characters get an id, the most frequent ones; of equally frequent ones the smaller code points (the
  /// reference: whichever its hash table gives first). Other characters are dropped from their words.
  std::optional<size_t> limit_alphabet;
  /// Two symbols that a merge has made neighbours may join if together they have fewer characters than this, as in the
  /// reference; two characters always may.
  size_t max_token_length = std::numeric_limits<size_t>::max();
  /// Put before symbols that do not start a word ("##" of WordPiece).
  std::string continuing_prefix;
};

struct TrainedBpe {
  std::vector<std::string> pieces;                  ///< by id
  std::vector<std::pair<TokenId, TokenId>> merges;  ///< in order of rank
};

/// Time: the number of occurrences of all merged pairs, times the logarithm of the number of pairs. Memory: about 40
/// bytes for each character of the distinct words. InvalidArgument: a limit below the size of the initial alphabet;
/// Unsupported: over 2^31 characters in distinct words.
Result<TrainedBpe> train_bpe(const WordCounts& words, const BpeTrainerOptions& options,
                             const TrainingProgress& progress);

}  // namespace vitro
