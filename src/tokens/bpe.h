// Byte-pair encoding: a word becomes symbols, and the best pair of neighbours is joined until none is left. "Best" is
// the lowest rank in a list of merges (GPT-2; Sennrich et al. 2016), or the highest score of the joined piece
// (SentencePiece).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokens/bpe_tables.h"
#include "tokens/token_model.h"

namespace vitro {

class Bpe final : public TokenModel {
 public:
  /// `vocabulary` must outlive it. Corrupt: two entries for one byte, pieces made to collide.
  static Result<std::unique_ptr<TokenModel>> make(const Vocabulary& vocabulary, BpeSpec spec);

  void encode(std::string_view text, std::span<const ByteRange> words, std::vector<TextToken>& out) const override;

 private:
  explicit Bpe(BpeTables tables) : tables_(std::move(tables)) {}
  BpeTables tables_;
};

}  // namespace vitro
