// One pass from left to right. What a place becomes: a named symbol, else the longest rule, else its character.
#include "text/sentencepiece_normalizer.h"

#include <algorithm>

#include "text/utf8.h"

namespace vitro {
namespace {

constexpr std::string_view kMark = "\u2581";

}  // namespace

uint32_t SymbolSet::child(uint32_t node, uint8_t byte) const {
  uint32_t at = nodes_[node].first_child;
  while (at != 0 && nodes_[at].byte != byte) at = nodes_[at].sibling;
  return at;
}

Result<SymbolSet> SymbolSet::make(const std::vector<std::string_view>& symbols) {
  SymbolSet out;
  for (const std::string_view symbol : symbols) {
    if (symbol.size() > kMaxSymbolBytes) {
      return fail(ErrorCode::kUnsupported, "a user-defined symbol has {} bytes, at most {} are supported",
                  symbol.size(), kMaxSymbolBytes);
    }
    if (out.nodes_.empty()) out.nodes_.emplace_back();
    uint32_t node = 0;
    for (const char c : symbol) {
      const auto byte = static_cast<uint8_t>(c);
      uint32_t next = out.child(node, byte);
      if (next == 0) {
        next = static_cast<uint32_t>(out.nodes_.size());
        out.nodes_.push_back({.sibling = out.nodes_[node].first_child, .byte = byte});
        out.nodes_[node].first_child = next;
      }
      node = next;
    }
    if (node != 0) out.nodes_[node].is_end = true;
  }
  return out;
}

size_t SymbolSet::longest(std::string_view text) const {
  if (nodes_.empty()) return 0;
  size_t out = 0;
  uint32_t node = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    node = child(node, static_cast<uint8_t>(text[i]));
    if (node == 0) break;
    if (nodes_[node].is_end) out = i + 1;
  }
  return out;
}

SentencePieceNormalizer::Chunk SentencePieceNormalizer::next_chunk(std::string_view rest) const {
  if (const size_t n_bytes = symbols_.longest(rest); n_bytes > 0) return {n_bytes, rest.substr(0, n_bytes)};
  if (const PrecompiledCharsmap::Rule rule = charsmap_.longest(rest); rule.n_bytes > 0) {
    return {rule.n_bytes, rule.replacement};
  }
  const CodePoint point = decode_utf8(rest);  // broken only where a rule has ended inside a character
  if (!point.is_valid) return {1, "\uFFFD"};
  const auto n_bytes = static_cast<size_t>(point.n_bytes);
  return {n_bytes, rest.substr(0, n_bytes)};
}

std::string_view SentencePieceNormalizer::space() const { return rules_.escapes_spaces ? kMark : " "; }

void SentencePieceNormalizer::append(std::string_view text, size_t origin, Output& out) const {
  for (const char c : text) {
    if (c == ' ') {
      out.text += space();
    } else {
      out.text += c;
    }
  }
  out.origins.resize(out.text.size(), static_cast<uint32_t>(origin));
}

size_t SentencePieceNormalizer::skip_leading_spaces(std::string_view text) const {
  size_t pos = 0;
  while (pos < text.size()) {
    const Chunk chunk = next_chunk(text.substr(pos));
    if (chunk.text != " ") break;
    pos += chunk.n_bytes;
  }
  return pos;
}

/// Marks at the end go, those that the text itself had too; what follows counts from where they began.
size_t SentencePieceNormalizer::drop_trailing_spaces(size_t pos, Output& out) const {
  while (out.text.ends_with(space())) {
    const size_t n_bytes = out.text.size() - space().size();
    pos = out.origins[n_bytes];
    out.text.resize(n_bytes);
    out.origins.resize(n_bytes);
  }
  return pos;
}

Result<SentencePieceNormalizer::Output> SentencePieceNormalizer::normalize(std::string_view text,
                                                                           size_t max_bytes) const {
  Output out;
  size_t pos = rules_.removes_extra_spaces ? skip_leading_spaces(text) : 0;
  if (pos == text.size()) return out;
  if (rules_.adds_dummy_prefix && !rules_.has_space_suffix) append(" ", pos, out);
  bool follows_space = rules_.removes_extra_spaces;
  while (pos < text.size()) {
    Chunk chunk = next_chunk(text.substr(pos));
    while (follows_space && chunk.text.starts_with(' ')) chunk.text.remove_prefix(1);
    append(chunk.text, pos, out);
    if (out.text.size() > max_bytes) {
      return fail(ErrorCode::kUnsupported, "[tokenizer] the normaliser makes the text too long (over {} bytes here)",
                  max_bytes);
    }
    if (!chunk.text.empty()) follows_space = rules_.removes_extra_spaces && chunk.text.ends_with(' ');
    pos += chunk.n_bytes;
  }
  if (rules_.removes_extra_spaces) pos = drop_trailing_spaces(pos, out);
  if (rules_.adds_dummy_prefix && rules_.has_space_suffix) append(" ", pos, out);
  out.origins.push_back(static_cast<uint32_t>(pos));
  if (!charsmap_.empty() && !is_valid_utf8(out.text)) {
    return fail(ErrorCode::kCorrupt, "[tokenizer] a rule of precompiled_charsmap writes what is not UTF-8");
  }
  return out;
}

}  // namespace vitro
