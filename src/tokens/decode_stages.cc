// Each stage follows the reference's decoder of its name; where that one needs the whole list of pieces, the stage
// holds back what the rest of the list may change.
#include "tokens/decode_stages.h"

#include <algorithm>

#include "text/byte_level.h"
#include "text/utf8.h"

namespace vitro {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";

/// Value of a hexadecimal digit, or -1.
int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

/// Byte of "<0x0A>", or -1. The reference reads the two digits as a number, so a sign is allowed.
int decoded_byte(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return -1;
  const int high = piece[3] == '+' ? 0 : hex_digit(piece[3]);
  const int low = hex_digit(piece[4]);
  return high < 0 || low < 0 ? -1 : 16 * high + low;
}

void Utf8Stage::feed(const Chunk& chunk) {
  if (pending_.empty()) {
    const size_t n_whole = complete_utf8_prefix(chunk.bytes);
    send_whole(chunk.bytes.substr(0, n_whole));
    pending_.assign(chunk.bytes.substr(n_whole));
    return;
  }
  pending_.append(chunk.bytes);
  const size_t n_whole = complete_utf8_prefix(pending_);
  send_whole(std::string_view(pending_).substr(0, n_whole));
  pending_.erase(0, n_whole);
}

void Utf8Stage::send_whole(std::string_view bytes) {
  if (is_valid_utf8(bytes)) return send_part(bytes);
  send_part(replace_invalid_utf8(bytes));
}

void Utf8Stage::finish() {
  send_piece(replace_invalid_utf8(pending_));
  next_->finish();
}

void WholePieceStage::feed(const Chunk& chunk) {
  if (pending_.empty() && chunk.ends_piece) return take(chunk);
  pending_.append(chunk.bytes);
  if (!chunk.ends_piece) return;
  take({pending_, true, chunk.is_verbatim});
  pending_.clear();
}

void ByteLevelStage::take(const Chunk& piece) {
  if (piece.is_verbatim) return send(piece);
  bytes_.clear();
  for (size_t pos = 0; pos < piece.bytes.size();) {
    const CodePoint point = decode_utf8(piece.bytes.substr(pos));
    const int value = point.is_valid ? byte_level_value(point.value) : -1;
    if (value < 0) return send(piece);
    bytes_.push_back(static_cast<char>(value));
    pos += static_cast<size_t>(point.n_bytes);
  }
  send_piece(bytes_);
}

void ByteFallbackStage::take(const Chunk& piece) {
  const int byte = piece.is_verbatim ? -1 : decoded_byte(piece.bytes);
  if (byte < 0) {
    end_run();
    return send(piece);
  }
  const char c = static_cast<char>(byte);
  if (keeps_bytes_) return send({{&c, 1}, true, true});
  takes_whole_runs_ ? add_to_run(c) : add_single(c);
}

void ByteFallbackStage::add_to_run(char byte) {
  if (is_broken_) return send_piece(kReplacement);
  run_.push_back(byte);
  const std::string_view rest = std::string_view(run_).substr(n_whole_);
  if (complete_utf8_prefix(rest) == 0) return;
  if (is_valid_utf8(rest)) {
    n_whole_ = run_.size();
  } else {
    break_run();
  }
}

void ByteFallbackStage::break_run() {
  for (size_t i = 0; i < run_.size(); ++i) send_piece(kReplacement);
  run_.clear();
  n_whole_ = 0;
  is_broken_ = true;
}

void ByteFallbackStage::add_single(char byte) {
  run_.push_back(byte);
  while (!run_.empty() && complete_utf8_prefix(run_) > 0) {
    const CodePoint point = decode_utf8(run_);
    send({point.is_valid ? std::string_view(run_) : kReplacement, true, true});
    run_.erase(0, point.is_valid ? run_.size() : 1);
  }
}

void ByteFallbackStage::end_run() {
  if (n_whole_ < run_.size()) break_run();
  if (!run_.empty()) send_piece(run_);
  run_.clear();
  n_whole_ = 0;
  is_broken_ = false;
}

void ByteFallbackStage::finish() {
  end_run();
  next_->finish();
}

void StripStage::feed(const Chunk& chunk) {
  std::string_view bytes = chunk.bytes;
  while (n_start_left_ > 0 && bytes.starts_with(content_)) {
    bytes.remove_prefix(content_.size());
    --n_start_left_;
  }
  if (!bytes.empty()) n_start_left_ = 0;
  size_t n_last = 0;
  std::string_view front = bytes;
  while (n_last < n_end_ && front.ends_with(content_)) {
    front.remove_suffix(content_.size());
    ++n_last;
  }
  const size_t n_contents = n_held_ + n_last;
  const size_t n_certain = front.empty() ? n_contents - std::min(n_contents, n_end_) : n_held_;
  for (size_t i = 0; i < n_certain; ++i) send_part(content_);
  send_part(front);
  n_held_ = front.empty() ? n_contents - n_certain : n_last;
  if (!chunk.ends_piece) return;
  send_piece({});
  n_held_ = 0;
  n_start_left_ = n_start_;
}

/// Length of the longest end of `rest` that begins an occurrence.
size_t ReplaceStage::n_beginning(std::string_view rest) const {
  for (size_t n = std::min(rest.size(), pattern_.size() - 1); n > 0; --n) {
    if (pattern_.starts_with(rest.substr(rest.size() - n))) return n;
  }
  return 0;
}

void ReplaceStage::feed(const Chunk& chunk) {
  if (chunk.is_verbatim) return send(chunk);
  std::string_view rest = chunk.bytes;
  if (!held_.empty()) {
    joined_.assign(held_).append(chunk.bytes);
    held_.clear();
    rest = joined_;
  }
  for (size_t found = rest.find(pattern_); found != std::string_view::npos; found = rest.find(pattern_)) {
    send_part(rest.substr(0, found));
    send_part(content_);
    rest.remove_prefix(found + pattern_.size());
  }
  if (chunk.ends_piece) return send_piece(rest);
  const size_t n_held = n_beginning(rest);
  held_.assign(rest.substr(rest.size() - n_held));
  send_part(rest.substr(0, rest.size() - n_held));
}

void RegexReplaceStage::take(const Chunk& piece) {
  // A search that is given up changes nothing. Pieces are short, except after Fuse.
  const Result<std::vector<ByteRange>> matches = pattern_->find_all(piece.bytes);
  if (piece.is_verbatim || !matches) return send(piece);
  size_t pos = 0;
  for (const ByteRange& match : *matches) {
    send_part(piece.bytes.substr(pos, match.begin - pos));
    send_part(content_);
    pos = match.end;
  }
  send_piece(piece.bytes.substr(pos));
}

void MetaspaceStage::feed(const Chunk& chunk) {
  if (chunk.is_verbatim) {
    send(chunk);
  } else {
    std::string_view rest = chunk.bytes;
    for (size_t found = rest.find(mark_); found != std::string_view::npos; found = rest.find(mark_)) {
      send_part(rest.substr(0, found));
      if (!drops_) send_part(" ");
      rest.remove_prefix(found + mark_.size());
    }
    send({rest, chunk.ends_piece, false});
  }
  if (chunk.ends_piece) drops_ = false;
}

void SentencePieceStage::take(const Chunk& piece) {
  if (has_begun_) is_start_ = false;
  std::string_view rest = piece.bytes;
  const bool drops = is_start_ && !piece.is_verbatim && rest.starts_with(mark_);
  if (drops) rest.remove_prefix(mark_.size());
  has_begun_ = has_begun_ || !rest.empty() || (drops && leading_ == Leading::kDropOne);
  for (size_t found = 0; !piece.is_verbatim && (found = rest.find(mark_)) != std::string_view::npos;) {
    send_part(rest.substr(0, found));
    send_part(" ");
    rest.remove_prefix(found + mark_.size());
  }
  send({rest, true, piece.is_verbatim});
}

void SpacesStage::take(const Chunk& piece) {
  if (is_first_) {
    is_first_ = false;
    return send(piece);
  }
  if (prefix_ && piece.bytes.starts_with(*prefix_)) return send_piece(piece.bytes.substr(prefix_->size()));
  send_part(" ");
  send(piece);
}

void SuffixStage::take(const Chunk& piece) {
  send_held(" ");
  if (piece.bytes.find(suffix_) == std::string_view::npos) return send(piece);
  held_.assign(piece.bytes);
}

void SuffixStage::send_held(std::string_view replacement) {
  if (held_.empty()) return;
  std::string_view rest = held_;
  for (size_t found = rest.find(suffix_); found != std::string_view::npos; found = rest.find(suffix_)) {
    send_part(rest.substr(0, found));
    send_part(replacement);
    rest.remove_prefix(found + suffix_.size());
  }
  send_piece(rest);
  held_.clear();
}

void SuffixStage::finish() {
  send_held(last_is_open_ ? " " : "");
  next_->finish();
}

void DedupStage::take(const Chunk& piece) {
  if (last_ && *last_ == piece.bytes) return;
  last_ = std::string(piece.bytes);
  send(piece);
}

void DropEmptyStage::feed(const Chunk& chunk) {
  has_bytes_ = has_bytes_ || !chunk.bytes.empty();
  if (has_bytes_) send(chunk);
  if (chunk.ends_piece) has_bytes_ = false;
}

}  // namespace vitro
