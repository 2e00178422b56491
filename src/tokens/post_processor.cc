// The rules of the reference's post-processors. A step works on a list of parts: one for each text, and after a
// template one for each of its pieces; they are joined at the end.
#include "tokens/post_processor.h"

#include <algorithm>
#include <optional>

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

/// Like skip_characters, but towards the front; broken bytes count one each. Nothing if there are fewer characters.
std::optional<size_t> skip_characters_back(std::string_view text, size_t pos, size_t n) {
  for (; n > 0; --n) {
    if (pos == 0) return std::nullopt;
    size_t begin = pos - 1;
    while (begin > 0 && pos - begin < 4 && (static_cast<uint8_t>(text[begin]) & 0xC0U) == 0x80) --begin;
    pos = decode_utf8(text.substr(begin, pos - begin)).is_valid ? begin : pos - 1;
  }
  return pos;
}

void trim(const TrimOffsets& step, const PostInput& input, Encoding& encoding) {
  for (Encoding& part : encoding.overflow) trim(step, input, part);
  ByteRange blank;  // the last text of a token that was white space only
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    if (encoding.sources[i] == TokenSource::kAdded) continue;
    const std::string_view text = input.texts[encoding.sources[i] == TokenSource::kFirst ? 0 : 1];
    ByteRange& range = encoding.ranges[i];
    const bool is_text = encoding.is_cut_out[i];
    // Added tokens may share the white space they took: counting it for each would be quadratic.
    if (range.end == blank.end && range.begin > blank.begin && range.size() > kMaxCharacterBytes && is_text) {
      range.begin = range.end;
      continue;
    }
    const ByteRange whole = range;
    OuterSpace space =
        outer_space(is_text ? text.substr(range.begin, range.size()) : input.tokenizer->piece(encoding.ids[i]));
    if (space.n_leading > 0) {
      const bool is_first = i == 0 || range.begin == 0;
      if (is_first && step.had_prefix_space && space.n_leading == 1) space.n_leading = 0;
      range.begin = std::min(skip_characters(text, range.begin, space.n_leading), range.end);
    }
    if (space.n_trailing > 0) {
      if (const auto end = skip_characters_back(text, range.end, space.n_trailing)) {
        range.end = std::max(*end, range.begin);
      }
    }
    if (range.empty() && !whole.empty() && is_text) blank = whole;
  }
}

/// Ids that stand for no text.
Encoding added_tokens(const std::vector<TokenId>& ids, int32_t type_id) {
  const size_t n = ids.size();
  return {ids,
          std::vector<ByteRange>(n),
          std::vector<int32_t>(n, type_id),
          std::vector<TokenSource>(n, TokenSource::kAdded),
          std::vector<bool>(n),
          {}};
}

Status surround(Encoding& text, const std::vector<TokenId>& before, const std::vector<TokenId>& after,
                int32_t type_id) {
  if (!before.empty()) {
    Encoding out = added_tokens(before, type_id);
    VITRO_TRY(append_encoding(out, text));
    text = std::move(out);
  }
  return after.empty() ? Status{} : append_encoding(text, added_tokens(after, type_id));
}

void set_type(Encoding& text, int32_t type_id) { std::fill(text.type_ids.begin(), text.type_ids.end(), type_id); }

Status apply(const TrimOffsets& step, const PostInput& input, std::vector<Encoding>& parts) {
  for (Encoding& part : parts) trim(step, input, part);
  return {};
}

Status apply(const AddSpecial& step, const PostInput& input, std::vector<Encoding>& parts) {
  if (!input.add_special) return {};
  for (size_t i = 0; i < parts.size(); ++i) {
    VITRO_TRY(surround(parts[i], step.before, step.after, static_cast<int32_t>(i)));
  }
  return {};
}

Status apply(const ClsSepStep& step, const PostInput& input, std::vector<Encoding>& parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (step.is_roberta) set_type(parts[i], 0);
    if (!input.add_special) continue;
    if (step.is_roberta) {
      for (Encoding& part : parts[i].overflow) set_type(part, 0);
      VITRO_TRY(surround(parts[i], {i == 0 ? step.cls : step.sep}, {step.sep}, 0));
    } else {
      VITRO_TRY(
          surround(parts[i], i == 0 ? std::vector{step.cls} : std::vector<TokenId>{}, {step.sep}, i == 0 ? 0 : 1));
    }
  }
  return {};
}

Status apply(const TemplateStep& step, const PostInput& input, std::vector<Encoding>& parts) {
  if (parts.size() > 2) return fail(ErrorCode::kUnsupported, "[tokenizer] a template for {} texts", parts.size());
  std::vector<Encoding> out;
  for (const TemplateStep::Part& part : parts.size() == 1 ? step.single : step.pair) {
    if (part.kind == TemplateStep::Part::Kind::kSpecial) {
      if (input.add_special) out.push_back(added_tokens(part.ids, part.type_id));
      continue;
    }
    out.push_back(parts[part.kind == TemplateStep::Part::Kind::kFirst ? 0 : 1]);
    set_type(out.back(), part.type_id);
  }
  parts = std::move(out);
  return {};
}

size_t count_added(const TrimOffsets&, bool) { return 0; }
size_t count_added(const AddSpecial& step, bool is_pair) {
  return (step.before.size() + step.after.size()) * (is_pair ? 2 : 1);
}
size_t count_added(const ClsSepStep& step, bool is_pair) {
  if (!is_pair) return 2;
  return step.is_roberta ? 4 : 3;
}
size_t count_added(const TemplateStep& step, bool is_pair) {
  size_t n = 0;
  for (const TemplateStep::Part& part : is_pair ? step.pair : step.single) n += part.ids.size();
  return n;
}

}  // namespace

size_t count_added(std::span<const PostStep> steps, bool is_pair) {
  size_t n = 0;
  for (const PostStep& step : steps) n += std::visit([&](const auto& s) { return count_added(s, is_pair); }, step);
  return n;
}

Result<Encoding> apply_post_steps(std::span<const PostStep> steps, const PostInput& input,
                                  std::vector<Encoding> parts) {
  for (const PostStep& step : steps) {
    VITRO_TRY(std::visit([&](const auto& s) { return apply(s, input, parts); }, step));
  }
  if (parts.empty()) return Encoding{};
  Encoding out = std::move(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) VITRO_TRY(append_encoding(out, parts[i]));
  return out;
}

}  // namespace vitro
