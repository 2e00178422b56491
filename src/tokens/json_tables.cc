// Offsets are 32 bits wide: a tokenizer.json is smaller than that.
#include "tokens/json_tables.h"

#include "formats/quote_name.h"

namespace vitro {

std::string JsonPieces::wrong_id() const {
  const Entry& last = entries_.back();
  return "model.vocab: the id of " + quote_name(text_.substr(last.begin, last.n_bytes)) + " is no integer";
}

std::string JsonPieces::open(bool /*is_array*/) {
  if (depth_++ == 0) return {};
  return wrong_id();
}

std::string JsonPieces::key(std::string_view name) {
  entries_.push_back({static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(name.size()), -1});
  text_ += name;
  return {};
}

std::string JsonPieces::string(std::string_view /*text*/) { return wrong_id(); }

std::string JsonPieces::integer(int64_t value) {
  entries_.back().id = value;
  return {};
}

std::string JsonPieces::other() { return wrong_id(); }

std::vector<ModelPiece> JsonPieces::pieces() const {
  std::vector<ModelPiece> out;
  out.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    out.push_back({std::string_view(text_).substr(entry.begin, entry.n_bytes), entry.id});
  }
  return out;
}

std::string JsonMerges::wrong_merge() const {
  return "model.merges[" + std::to_string(n_read_) + "] is not two pieces";
}

std::string JsonMerges::open(bool is_array) {
  n_parts_ = 0;
  begin_ = text_.size();
  ++depth_;
  return depth_ == 1 || (depth_ == 2 && is_array) ? std::string() : wrong_merge();
}

std::string JsonMerges::key(std::string_view /*name*/) { return wrong_merge(); }

std::string JsonMerges::string(std::string_view text) {
  if (depth_ == 2) {
    if (n_parts_++ == 0) n_left_ = text.size();
    text_ += text;
    return {};
  }
  if (text.starts_with("#version")) {
    ++n_read_;
    return {};
  }
  const size_t space = text.find(' ');
  if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) return wrong_merge();
  const size_t begin = text_.size();
  text_ += text.substr(0, space);
  text_ += text.substr(space + 1);
  return add(begin, space);
}

std::string JsonMerges::add(size_t begin, size_t n_left) {
  entries_.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(n_left),
                      static_cast<uint32_t>(text_.size() - begin - n_left), n_read_++});
  return {};
}

std::string JsonMerges::integer(int64_t /*value*/) { return wrong_merge(); }
std::string JsonMerges::other() { return wrong_merge(); }

std::string JsonMerges::close() {
  if (--depth_ == 0) return {};
  return n_parts_ == 2 ? add(begin_, n_left_) : wrong_merge();
}

}  // namespace vitro
