// Matching. From each place the automaton runs until no better match can come. What it reads beyond the end of a match
// it will read again; published patterns do so for a character or two. Where a text makes that much, it is read once
// from its end, noting at every 64th byte which states can still meet a match, and hopeless runs stop there.
#include "text/split_pattern.h"

#include <limits>

#include "text/utf8.h"

namespace vitro {
namespace {

constexpr size_t kNoMatch = std::numeric_limits<size_t>::max();
constexpr size_t kBlock = 64;
constexpr size_t kFreeRereads = 4096;
constexpr size_t kRereadsPerByte = 8;
constexpr size_t kMaxHopeCells = size_t{1} << 30;

bool is_inside_character(char byte) { return (static_cast<uint8_t>(byte) & 0xC0U) == 0x80; }

}  // namespace

/// One run over a text.
class SplitMatcher {
 public:
  SplitMatcher(const SplitPattern& pattern, std::string_view text) : pattern_(pattern), text_(text) {}

  Result<std::vector<ByteRange>> find_all() {
    std::vector<ByteRange> out;
    size_t before = pattern_.end_class_;
    for (size_t pos = 0; pos < text_.size();) {
      const size_t end = match(pos, pattern_.starts_[before]);
      if (n_reread_ > kFreeRereads + kRereadsPerByte * text_.size() && hope_.empty()) VITRO_TRY(find_hope());
      if (end != kNoMatch) out.push_back({pos, end});
      pos = end != kNoMatch ? end : pos + character(pos).n_bytes;
      before = class_before(pos);
    }
    return out;
  }

 private:
  struct Character {
    size_t value_class;
    size_t n_bytes;
  };

  /// The text is valid UTF-8.
  Character character(size_t pos) const {
    const auto byte = [&](size_t i) { return static_cast<char32_t>(static_cast<uint8_t>(text_[pos + i])); };
    const char32_t first = byte(0);
    if (first < 0x80) return {pattern_.ascii_[first], 1};
    if (first < 0xE0) return {pattern_.class_of(((first & 0x1F) << 6) | (byte(1) & 0x3F)), 2};
    if (first < 0xF0) {
      return {pattern_.class_of(((first & 0x0F) << 12) | ((byte(1) & 0x3F) << 6) | (byte(2) & 0x3F)), 3};
    }
    return {pattern_.class_of(((first & 0x07) << 18) | ((byte(1) & 0x3F) << 12) | ((byte(2) & 0x3F) << 6) |
                              (byte(3) & 0x3F)),
            4};
  }

  size_t class_before(size_t pos) const {
    size_t begin = pos - 1;
    while (is_inside_character(text_[begin])) --begin;
    return character(begin).value_class;
  }

  size_t match(size_t begin, size_t state) {
    const SplitPattern::Entry* table = pattern_.table_.data();
    size_t end = kNoMatch;
    size_t pos = begin;
    for (;;) {
      const Character c = pos < text_.size() ? character(pos) : Character{pattern_.end_class_, 1};
      const size_t entry = table[(state << pattern_.class_bits_) + c.value_class];
      if ((entry & 1) != 0) end = pos;
      state = entry >> 1;
      if (state == 0) break;
      const size_t next = pos + c.n_bytes;
      if (!hope_.empty() && next / kBlock != pos / kBlock && !has_hope(next, state)) break;
      pos = next;
    }
    n_reread_ += pos - (end == kNoMatch ? begin : end);
    return end;
  }

  bool has_hope(size_t pos, size_t state) const { return hope_[pos / kBlock * pattern_.n_states() + state]; }

  /// hope_[block][state]: from the first character that begins in the block, the state will meet the end of a match.
  Status find_hope() {
    const size_t n_states = pattern_.n_states();
    const size_t n_blocks = text_.size() / kBlock + 1;
    if (n_blocks > kMaxHopeCells / n_states) {
      return fail(ErrorCode::kUnsupported,
                  "[split pattern] the text of {} bytes is too long for a pattern with {} states that finds so little",
                  text_.size(), n_states);
    }
    hope_.resize(n_blocks * n_states);
    std::vector<uint8_t> meets(n_states);  // not bits: read and written once a state and character
    std::vector<uint8_t> met_before(n_states);
    const auto read_back = [&](size_t value_class) {
      std::swap(meets, met_before);
      for (size_t state = 0; state < n_states; ++state) {
        const size_t entry = pattern_.table_[(state << pattern_.class_bits_) + value_class];
        meets[state] = static_cast<uint8_t>((entry & 1) | met_before[entry >> 1]);
      }
    };
    const auto note = [&](size_t pos) {
      const auto row = hope_.begin() + static_cast<std::ptrdiff_t>(pos / kBlock * n_states);
      std::copy(meets.begin(), meets.end(), row);
    };
    read_back(pattern_.end_class_);
    size_t first = text_.size();  // of the characters that are read, in their block
    for (size_t pos = text_.size(); pos-- > 0;) {
      if (is_inside_character(text_[pos])) continue;
      if (pos / kBlock != first / kBlock) note(first);
      read_back(character(pos).value_class);
      first = pos;
    }
    note(first);
    return {};
  }

  const SplitPattern& pattern_;
  std::string_view text_;
  size_t n_reread_ = 0;
  std::vector<bool> hope_;
};

namespace {

std::vector<ByteRange> find_literal(std::string_view text, std::string_view literal) {
  std::vector<ByteRange> out;
  for (size_t pos = text.find(literal); pos != std::string_view::npos; pos = text.find(literal, pos)) {
    out.push_back({pos, pos + literal.size()});
    pos += literal.size();
  }
  return out;
}

}  // namespace

SplitPattern SplitPattern::literal(std::string_view text) {
  SplitPattern out;
  out.literal_ = text;
  return out;
}

Result<std::vector<ByteRange>> SplitPattern::find_all(std::string_view text) const {
  if (!table_.empty()) return SplitMatcher(*this, text).find_all();
  if (literal_.empty()) return std::vector<ByteRange>();
  return find_literal(text, literal_);
}

}  // namespace vitro
