// WordLevel: every word is one entry of the vocabulary, or the unknown token.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokens/token_model.h"
#include "tokens/vocabulary.h"

namespace vitro {

/// What a file says of a word-level model besides its vocabulary.
struct WordLevelSpec {
  TokenId unknown_id = -1;
  bool fuses_unknown = false;       ///< neighbouring unknown words are one token (SentencePiece)
  std::vector<bool> is_added_only;  ///< by id: entries of added tokens that the model does not know; may be short
};

class WordLevel final : public TokenModel {
 public:
  /// `vocabulary` must outlive it.
  static Result<std::unique_ptr<WordLevel>> make(const Vocabulary& vocabulary, WordLevelSpec spec);

  void encode(std::string_view text, std::span<const ByteRange> words, std::vector<TextToken>& out) const override;

 private:
  WordLevel(const Vocabulary& vocabulary, WordLevelSpec spec) : vocabulary_(&vocabulary), spec_(std::move(spec)) {}

  const Vocabulary* vocabulary_;
  WordLevelSpec spec_;
};

}  // namespace vitro
