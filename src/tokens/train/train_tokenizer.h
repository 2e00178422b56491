// Training of a whole tokenizer: text files in, a tokenizer.json out, which this program and the reference load.
// The steps before the model are written as tokenizer.json first and read from there, so that training cuts the text as
// encoding will.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokens/train/word_counts.h"

namespace vitro {

enum class TrainedModel : uint8_t { kBpe, kWordPiece, kUnigram };

/// "bpe", "wordpiece", "unigram".
std::optional<TrainedModel> trained_model_from_name(std::string_view name);

struct TokenizerTraining {
  TrainedModel model = TrainedModel::kBpe;
  size_t vocab_size = 8000;
  std::vector<std::string> special_tokens;
  std::string normalizer;  ///< one of normalizer_names(); empty: none (bpe), bert (wordpiece), nfkc (unigram)
  std::string pattern;     ///< bpe alone: a name of split_families.h or a regular expression; empty: that of ByteLevel
  std::optional<uint64_t> min_frequency;   ///< bpe and wordpiece; nothing: 2
  std::optional<size_t> limit_alphabet;    ///< wordpiece alone (bpe starts from all bytes); nothing: 1000
  std::optional<size_t> max_token_length;  ///< bpe (nothing: any) and unigram (nothing: 16), in characters
};

/// The parts of a tokenizer.json around the model, as JSON.
struct TokenizerRecipe {
  std::string normalizer = "null";
  std::string pre_tokenizer = "null";
  std::string decoder = "null";
};

struct TrainedTokenizer {
  std::string json;            ///< the file
  size_t n_pieces = 0;         ///< special tokens included
  size_t n_merges = 0;         ///< bpe
  uint64_t n_words = 0;        ///< of the text
  size_t n_distinct = 0;       ///< words
  std::optional<double> loss;  ///< unigram: mean of -log P(word), in nats
};

std::vector<std::string_view> normalizer_names();

/// InvalidArgument: an option that the model has no use for, an unknown normaliser or pattern name; Unsupported: a
/// regular expression that SplitPattern cannot do.
Result<TokenizerRecipe> make_recipe(const TokenizerTraining& training);
Result<WordSplitter> read_splitter(const TokenizerRecipe& recipe);

/// Errors as make_recipe, count_words and the trainers; InvalidArgument for files without a word.
Result<TrainedTokenizer> train_tokenizer(const std::vector<std::filesystem::path>& files,
                                         const TokenizerTraining& training, const TrainingProgress& progress);

}  // namespace vitro
