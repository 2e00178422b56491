// TokenModel: the heart of a tokenizer, words in, tokens out. Byte-pair encoding, unigram, WordPiece and word level
// each are one; everything around it (normalising, cutting into words, special tokens) is the same for all.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "text/byte_range.h"
#include "tokens/tokenizer.h"

namespace vitro {

/// A token and the bytes of the text that it stands for. Id -1: the vocabulary has nothing for these bytes, not even an
/// unknown token; the text cannot be encoded then.
struct TextToken {
  TokenId id = -1;
  ByteRange range;
};

/// Immutable; safe to share.
class TokenModel {
 public:
  virtual ~TokenModel() = default;
  /// Appends the tokens of each word, in order. `text` is valid UTF-8 of at most kMaxTextBytes (text/text_steps.h);
  /// words are ranges of it at character borders. n log n in the length of a word at most.
  virtual void encode(std::string_view text, std::span<const ByteRange> words, std::vector<TextToken>& out) const = 0;
};

}  // namespace vitro
