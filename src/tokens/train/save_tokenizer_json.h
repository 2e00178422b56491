// Trained models -> the text of a tokenizer.json, laid out as the reference writes it: entries by id, one a line.
#pragma once

#include <string>
#include <vector>

#include "tokens/train/bpe_trainer.h"
#include "tokens/train/train_tokenizer.h"
#include "tokens/train/unigram_trainer.h"

namespace vitro {

/// "model" of a tokenizer.json.
std::string to_model_json(const TrainedBpe& model);
std::string to_model_json(const TrainedUnigram& model);
/// WordPiece; unknown words become `unknown`.
std::string to_model_json(const std::vector<std::string>& vocabulary, std::string_view unknown);

struct SpecialToken {
  std::string content;
  TokenId id = -1;
};

/// The whole file. With [CLS] and [SEP] among the special tokens a text is put between these two, as BERT wants it.
std::string to_tokenizer_json(const TokenizerRecipe& recipe, const std::vector<SpecialToken>& special,
                              const std::string& model);

}  // namespace vitro
