// Matching. A class that can be followed by something is tried from its longest run downwards; the recursion goes over
// the elements of a sequence (at most kMaxElements), never over the text.
#include "text/split_pattern.h"

#include <limits>

#include "text/utf8.h"

namespace vitro {
namespace {

constexpr size_t kNoMatch = std::numeric_limits<size_t>::max();
constexpr size_t kWorkPerByte = 400;  // published patterns need less than forty

size_t step_back(std::string_view text, size_t pos) {
  do --pos;
  while ((static_cast<uint8_t>(text[pos]) & 0xC0U) == 0x80);
  return pos;
}

/// One run over a text; counts its work.
class Matcher {
 public:
  explicit Matcher(std::string_view text) : text_(text), budget_(1024 + kWorkPerByte * text.size()) {}

  bool is_exhausted() const { return n_steps_ > budget_; }

  /// End of the match of elements [idx, end of sequence) at pos, or kNoMatch.
  size_t match(const SplitPattern::Sequence& sequence, size_t idx, size_t pos) {
    using Kind = SplitPattern::Element::Kind;
    if (idx == sequence.size()) return pos;
    const SplitPattern::Element& element = sequence[idx];
    if (element.kind == Kind::kClass) return match_class(sequence, idx, pos);
    if (element.kind == Kind::kGroup) return match_group(sequence, idx, pos);
    ++n_steps_;
    const bool holds = element.kind == Kind::kEnd
                           ? pos == text_.size()
                           : is_followed_by(element.set, pos) == (element.kind == Kind::kFollowedBy);
    return holds ? match(sequence, idx + 1, pos) : kNoMatch;
  }

 private:
  /// Length of the character at pos if it is in the set, else 0.
  size_t accept(const CharClass& set, size_t pos) const {
    const auto byte = static_cast<uint8_t>(text_[pos]);
    if (byte < 0x80) return (set.ascii[byte >> 6] >> (byte & 63)) & 1;
    const CodePoint point = decode_utf8(text_.substr(pos));
    return set.contains(point.value) ? static_cast<size_t>(point.n_bytes) : 0;
  }

  bool is_followed_by(const CharClass& set, size_t pos) const { return pos < text_.size() && accept(set, pos) > 0; }

  size_t match_class(const SplitPattern::Sequence& sequence, size_t idx, size_t pos) {
    const SplitPattern::Element& element = sequence[idx];
    uint32_t n = 0;
    size_t end = pos;
    while (n < element.n_max && end < text_.size()) {
      const size_t n_bytes = accept(element.set, end);
      if (n_bytes == 0) break;
      end += n_bytes;
      ++n;
    }
    n_steps_ += n + 1;
    if (n < element.n_min) return kNoMatch;
    if (idx + 1 == sequence.size()) return end;
    while (!is_exhausted()) {
      const size_t found = match(sequence, idx + 1, end);
      if (found != kNoMatch || n == element.n_min) return found;
      end = step_back(text_, end);
      --n;
    }
    return kNoMatch;
  }

  size_t match_group(const SplitPattern::Sequence& sequence, size_t idx, size_t pos) {
    const SplitPattern::Element& element = sequence[idx];
    for (const SplitPattern::Sequence& alternative : element.group) {
      const size_t end = match(alternative, 0, pos);
      if (end == kNoMatch) continue;
      const size_t found = match(sequence, idx + 1, end);
      if (found != kNoMatch) return found;
    }
    return element.n_min == 0 ? match(sequence, idx + 1, pos) : kNoMatch;
  }

  std::string_view text_;
  size_t budget_;
  size_t n_steps_ = 0;
};

/// Characters with which a sequence may start: bit c of the answer, bit 128 for everything beyond ASCII.
std::array<bool, 129> first_characters(const SplitPattern::Sequence& sequence) {
  using Kind = SplitPattern::Element::Kind;
  std::array<bool, 129> first{};
  for (const SplitPattern::Element& element : sequence) {
    first[128] = true;
    if (element.kind == Kind::kClass) {
      for (unsigned c = 0; c < 128; ++c) first[c] = first[c] || ((element.set.ascii[c >> 6] >> (c & 63)) & 1) != 0;
      if (element.n_min > 0) return first;
    } else if (element.kind == Kind::kGroup) {
      for (const SplitPattern::Sequence& alternative : element.group) {
        const std::array<bool, 129> inner = first_characters(alternative);
        for (size_t c = 0; c < 128; ++c) first[c] = first[c] || inner[c];
      }
      if (element.n_min > 0) return first;
    }
  }
  first.fill(true);  // may match nothing, or only tests what follows
  return first;
}

}  // namespace

bool CharClass::contains(char32_t code) const {
  bool is_in = (properties & properties_of(code)) != 0;
  for (size_t i = 0; i < ranges.size() && !is_in; ++i) is_in = code >= ranges[i].first && code <= ranges[i].second;
  return is_in != is_negated;
}

void CharClass::finish() {
  ascii = {};
  for (unsigned c = 0; c < 128; ++c) ascii[c >> 6] |= static_cast<uint64_t>(contains(c)) << (c & 63);
}

SplitPattern::SplitPattern(std::vector<Sequence> alternatives) : alternatives_(std::move(alternatives)) {
  for (size_t i = 0; i < alternatives_.size(); ++i) {
    const std::array<bool, 129> first = first_characters(alternatives_[i]);
    for (size_t c = 0; c < first.size(); ++c) candidates_[c] |= static_cast<uint64_t>(first[c]) << i;
  }
}

SplitPattern SplitPattern::literal(std::string_view text) {
  Sequence sequence;
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint point = decode_utf8(text.substr(pos));
    Element element;
    element.set.ranges = {{point.value, point.value}};
    element.set.finish();
    sequence.push_back(std::move(element));
    pos += static_cast<size_t>(point.n_bytes);
  }
  return SplitPattern({std::move(sequence)});
}

Result<std::vector<ByteRange>> SplitPattern::find_all(std::string_view text) const {
  std::vector<ByteRange> out;
  Matcher matcher(text);
  for (size_t pos = 0; pos < text.size();) {
    const auto byte = static_cast<uint8_t>(text[pos]);
    size_t end = kNoMatch;
    for (uint64_t left = candidates_[byte < 0x80 ? byte : 128]; left != 0 && end == kNoMatch; left &= left - 1) {
      end = matcher.match(alternatives_[static_cast<size_t>(__builtin_ctzll(left))], 0, pos);
    }
    if (matcher.is_exhausted()) {
      return fail(ErrorCode::kUnsupported, "[split pattern] needs more than {} steps a byte on this text",
                  kWorkPerByte);
    }
    if (end == kNoMatch || end == pos) {
      pos += static_cast<size_t>(decode_utf8(text.substr(pos)).n_bytes);
      continue;
    }
    out.push_back({pos, end});
    pos = end;
  }
  return out;
}

}  // namespace vitro
