// The automaton, and the rules around a match (single words, stripped white space), which follow the reference
// tokenizers.
#include "tokens/added_tokens.h"

#include <algorithm>
#include <deque>

#include "text/unicode.h"
#include "text/utf8.h"

namespace vitro {
namespace {

/// The character that ends at pos (> 0) of valid UTF-8.
CodePoint character_before(std::string_view text, size_t pos) {
  size_t begin = pos - 1;
  while ((static_cast<uint8_t>(text[begin]) & 0xC0U) == 0x80) --begin;
  return decode_utf8(text.substr(begin));
}

bool touches_word(std::string_view text, ByteRange range) {
  if (range.begin > 0 && is_word_character(character_before(text, range.begin).value)) return true;
  return range.end < text.size() && is_word_character(decode_utf8(text.substr(range.end)).value);
}

/// Start of the white space that ends at pos, not before `floor`.
size_t skip_space_left(std::string_view text, size_t pos, size_t floor) {
  while (pos > floor) {
    const CodePoint point = character_before(text, pos);
    if (!is_white_space(point.value)) break;
    pos -= static_cast<size_t>(point.n_bytes);
  }
  return pos;
}

size_t skip_space_right(std::string_view text, size_t pos) {
  while (pos < text.size()) {
    const CodePoint point = decode_utf8(text.substr(pos));
    if (!is_white_space(point.value)) break;
    pos += static_cast<size_t>(point.n_bytes);
  }
  return pos;
}

/// How a match lies to the plain ranges.
enum class Touch : uint8_t { kNot, kInside, kCrosses };

Touch touch(std::span<const ByteRange> plain, ByteRange match) {
  const auto first = std::partition_point(plain.begin(), plain.end(),
                                          [&](const ByteRange& range) { return range.end <= match.begin; });
  if (first == plain.end() || first->begin >= match.end) return Touch::kNot;
  return first->begin <= match.begin && match.end <= first->end ? Touch::kInside : Touch::kCrosses;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::erase_if(tokens_,
                [](const AddedToken& token) { return token.content.empty() || !is_valid_utf8(token.content); });
  nodes_.emplace_back();
  for (size_t i = 0; i < tokens_.size(); ++i) insert(tokens_[i].content, static_cast<int32_t>(i));
  link();
}

uint32_t AddedTokens::child(uint32_t node, uint8_t byte) const {
  if (node == 0) return root_[byte];
  uint32_t next = nodes_[node].first_child;
  while (next != 0 && nodes_[next].byte != byte) next = nodes_[next].sibling;
  return next;
}

uint32_t AddedTokens::step(uint32_t node, uint8_t byte) const {
  for (;;) {
    const uint32_t next = child(node, byte);
    if (next != 0 || node == 0) return next;
    node = nodes_[node].fail;
  }
}

void AddedTokens::insert(std::string_view content, int32_t token) {
  uint32_t node = 0;
  for (size_t i = content.size(); i-- > 0;) {
    const auto byte = static_cast<uint8_t>(content[i]);
    uint32_t next = child(node, byte);
    if (next == 0) {
      next = static_cast<uint32_t>(nodes_.size());
      nodes_.push_back({0, node == 0 ? 0 : nodes_[node].first_child, 0, -1, 0, byte});
      (node == 0 ? root_[byte] : nodes_[node].first_child) = next;
    }
    node = next;
  }
  if (nodes_[node].token < 0) nodes_[node].token = token;
}

void AddedTokens::link() {
  std::deque<uint32_t> queue;
  for (const uint32_t node : root_) {
    if (node != 0) queue.push_back(node);
  }
  while (!queue.empty()) {
    const uint32_t node = queue.front();
    queue.pop_front();
    for (uint32_t next = nodes_[node].first_child; next != 0; next = nodes_[next].sibling) {
      nodes_[next].fail = step(nodes_[node].fail, nodes_[next].byte);
      // The fail node is nearer to the root, so it is finished: it holds the longest content shorter than this one.
      const Node& fail = nodes_[nodes_[next].fail];
      const bool is_own = nodes_[next].token >= 0;
      nodes_[next].shorter = is_own ? (fail.token >= 0 ? nodes_[next].fail : 0) : fail.shorter;
      if (!is_own) nodes_[next].token = fail.token;
      queue.push_back(next);
    }
  }
}

std::vector<AddedTokens::Hit> AddedTokens::hits_from_right(std::string_view text) const {
  std::vector<Hit> hits;
  uint32_t state = 0;
  for (size_t pos = text.size(); pos-- > 0;) {
    state = step(state, static_cast<uint8_t>(text[pos]));
    if (nodes_[state].token >= 0) hits.push_back({pos, state});
  }
  return hits;
}

/// The longest content at the hit that does not cross the border of a plain range as a special token.
const AddedToken* AddedTokens::token_at(const AlignedText& text, const Hit& hit, const Filter& filter) const {
  for (uint32_t node = hit.node;; node = nodes_[node].shorter) {
    const AddedToken& token = tokens_[static_cast<size_t>(nodes_[node].token)];
    if (!token.is_special || filter.plain.empty()) return &token;
    if (touch(filter.plain, text.origin({hit.pos, hit.pos + token.content.size()})) != Touch::kCrosses) return &token;
    if (nodes_[node].shorter == 0) return nullptr;
  }
}

std::vector<AddedTokens::Match> AddedTokens::find_all(const AlignedText& aligned, const Filter& filter) const {
  std::vector<Match> out;
  if (tokens_.empty()) return out;
  const std::string_view text = aligned.text();
  const std::vector<Hit> hits = hits_from_right(text);
  size_t next_start = 0;  // where the next match may begin
  size_t used_up_to = 0;  // end of the last match with the white space it took
  size_t space_end = 0;   // end of the white space that was last walked to the right
  for (size_t i = hits.size(); i-- > 0;) {
    if (hits[i].pos < next_start) continue;
    const AddedToken* token = token_at(aligned, hits[i], filter);
    if (token == nullptr) continue;
    ByteRange range{hits[i].pos, hits[i].pos + token->content.size()};
    next_start = range.end;
    if (token->is_special) {
      if (!filter.parse_special || touch(filter.plain, aligned.origin(range)) != Touch::kNot) continue;
    }
    if (token->is_single_word && touches_word(text, range)) continue;
    // White space taken to the right may hold the next match, which then overlaps: the reference's rule, kept for equal
    // ids. Every byte is walked over once: a match that ends before space_end stands inside the white space walked
    // last.
    if (token->strips_right) range.end = space_end = skip_space_right(text, std::max(range.end, space_end));
    if (token->strips_left) {
      range.begin = std::min(range.end, std::max(used_up_to, skip_space_left(text, range.begin, used_up_to)));
    }
    used_up_to = range.end;
    out.push_back({token->id, range});
  }
  return out;
}

}  // namespace vitro
