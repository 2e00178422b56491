// Holds back what is not yet a whole character; everything else goes out at once.
#include "tokens/stream_decoder.h"

#include "text/utf8.h"

namespace vitro {

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool skip_special, bool is_first)
    : tokenizer_(tokenizer), skip_special_(skip_special), is_first_(is_first && tokenizer.strips_first_space()) {}

std::string StreamDecoder::push(TokenId id) {
  if (skip_special_ && tokenizer_.is_special(id)) return {};
  pending_ += tokenizer_.token_bytes(id);
  if (is_first_ && !pending_.empty()) {
    if (pending_[0] == ' ') pending_.erase(0, 1);
    is_first_ = false;
  }
  const size_t n_ready = complete_utf8_prefix(pending_);
  std::string out = replace_invalid_utf8(std::string_view(pending_).substr(0, n_ready));
  pending_.erase(0, n_ready);
  return out;
}

std::string StreamDecoder::finish() {
  std::string out = replace_invalid_utf8(pending_);
  pending_.clear();
  return out;
}

}  // namespace vitro
