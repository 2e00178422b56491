// StreamDecoder: ids in, text out, never a broken character. What it gives out, joined, equals decoding all ids at
// once.
#pragma once

#include <string>

#include "tokens/tokenizer.h"

namespace vitro {

/// Keeps at most three bytes (an unfinished character). One stream, one object; the tokenizer must outlive it.
class StreamDecoder {
 public:
  /// is_first: the stream starts the text, so a SentencePiece dummy space is stripped; false when it continues a
  /// prompt.
  StreamDecoder(const Tokenizer& tokenizer, bool skip_special, bool is_first);

  /// Text that is certain after this id; may be empty.
  std::string push(TokenId id);
  /// The rest: an unfinished character becomes U+FFFD.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  bool skip_special_;
  bool is_first_;
  std::string pending_;
};

}  // namespace vitro
