// StreamDecoder: ids in, text out, never a broken character. What it gives out, joined, equals decoding all ids at
// once.
#pragma once

#include <string>

#include "tokens/tokenizer.h"

namespace vitro {

/// Holds back what later ids may change, no more: an unfinished character; with byte fallback a run of byte tokens
/// until it ends (one broken byte makes all of them U+FFFD); the beginning of a text that a step would replace; the
/// last piece where it ends a word. One stream, one object; the tokenizer must outlive it.
class StreamDecoder {
 public:
  /// is_first: the stream starts the text, so a SentencePiece dummy space is stripped; false when it continues a
  /// prompt.
  StreamDecoder(const Tokenizer& tokenizer, bool skip_special, bool is_first);

  /// Text that is certain after this id; may be empty.
  std::string push(TokenId id);
  /// The rest: an unfinished character becomes U+FFFD. The stream is at its end then; later calls give nothing.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  bool skip_special_;
  bool is_finished_ = false;
  DecodeStream stream_;
};

}  // namespace vitro
