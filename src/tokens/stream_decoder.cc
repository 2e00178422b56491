// Ids -> pieces -> the tokenizer's decoding steps.
#include "tokens/stream_decoder.h"

#include <utility>

namespace vitro {

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool skip_special, bool is_first)
    : tokenizer_(tokenizer), skip_special_(skip_special), stream_(tokenizer.decode_spec(), {.is_first = is_first}) {}

std::string StreamDecoder::push(TokenId id) {
  std::string out;
  if (is_finished_) return out;
  if (const auto piece = tokenizer_.decode_piece(id, skip_special_)) stream_.push(*piece, out);
  return out;
}

std::string StreamDecoder::finish() {
  std::string out;
  if (!std::exchange(is_finished_, true)) stream_.finish(out);
  return out;
}

}  // namespace vitro
