// The rules of the reference's ByteLevel and TemplateProcessing post-processors.
#include "tokens/post_processor.h"

#include <algorithm>

#include "text/unicode.h"
#include "text/utf8.h"

namespace vitro {
namespace {

constexpr size_t kMaxCharacterBytes = 4;

/// Number of leading and trailing characters of a piece that are white space or the byte-level space.
struct OuterSpace {
  size_t n_leading = 0;
  size_t n_trailing = 0;
};

OuterSpace outer_space(std::string_view piece) {
  OuterSpace out;
  bool only_space = true;
  for (size_t pos = 0; pos < piece.size();) {
    const CodePoint point = decode_utf8(piece.substr(pos));
    const bool is_space = point.value == U'Ġ' || is_white_space(point.value);
    only_space = only_space && is_space;
    if (only_space) ++out.n_leading;
    out.n_trailing = is_space ? out.n_trailing + 1 : 0;
    pos += static_cast<size_t>(point.n_bytes);
  }
  return out;
}

size_t skip_characters(std::string_view text, size_t pos, size_t n) {
  for (; n > 0 && pos < text.size(); --n) pos += static_cast<size_t>(decode_utf8(text.substr(pos)).n_bytes);
  return pos;
}

/// Like skip_characters, but towards the front; broken bytes count one each.
size_t skip_characters_back(std::string_view text, size_t pos, size_t n) {
  for (; n > 0 && pos > 0; --n) {
    size_t begin = pos - 1;
    while (begin > 0 && pos - begin < 4 && (static_cast<uint8_t>(text[begin]) & 0xC0U) == 0x80) --begin;
    pos = decode_utf8(text.substr(begin, pos - begin)).is_valid ? begin : pos - 1;
  }
  return pos;
}

bool is_added(TokenKind kind) { return kind == TokenKind::kControl || kind == TokenKind::kUserDefined; }

/// What the reference looks at: the piece, or for added tokens the text they were found in, with the white space they
/// took along.
std::string_view surface(const Tokenizer& tokenizer, TokenId id, std::string_view text, ByteRange range) {
  return is_added(tokenizer.kind(id)) ? text.substr(range.begin, range.size()) : tokenizer.piece(id);
}

void trim(const TrimOffsets& step, const Tokenizer& tokenizer, std::string_view text, Encoding& encoding) {
  ByteRange blank;  // the last surface that was white space only
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    ByteRange& range = encoding.ranges[i];
    // Added tokens may share the white space they took: counting it for each would be quadratic.
    if (range.end == blank.end && range.begin > blank.begin && range.size() > kMaxCharacterBytes &&
        is_added(tokenizer.kind(encoding.ids[i]))) {
      range.begin = range.end;
      continue;
    }
    const ByteRange whole = range;
    OuterSpace space = outer_space(surface(tokenizer, encoding.ids[i], text, range));
    if (space.n_leading > 0) {
      const bool is_first = i == 0 || range.begin == 0;
      if (is_first && step.had_prefix_space && space.n_leading == 1) space.n_leading = 0;
      range.begin = std::min(skip_characters(text, range.begin, space.n_leading), range.end);
    }
    if (space.n_trailing > 0)
      range.end = std::max(skip_characters_back(text, range.end, space.n_trailing), range.begin);
    if (range.empty() && !whole.empty() && is_added(tokenizer.kind(encoding.ids[i]))) blank = whole;
  }
}

void add(const AddSpecial& step, Encoding& encoding) {
  encoding.ids.insert(encoding.ids.begin(), step.before.begin(), step.before.end());
  encoding.ranges.insert(encoding.ranges.begin(), step.before.size(), ByteRange{});
  encoding.ids.insert(encoding.ids.end(), step.after.begin(), step.after.end());
  encoding.ranges.insert(encoding.ranges.end(), step.after.size(), ByteRange{});
}

}  // namespace

void apply_post_steps(const std::vector<PostStep>& steps, const Tokenizer& tokenizer, std::string_view text,
                      bool add_special, Encoding& encoding) {
  for (const PostStep& step : steps) {
    if (const auto* trimming = std::get_if<TrimOffsets>(&step)) trim(*trimming, tokenizer, text, encoding);
    if (const auto* special = std::get_if<AddSpecial>(&step); special != nullptr && add_special)
      add(*special, encoding);
  }
}

}  // namespace vitro
