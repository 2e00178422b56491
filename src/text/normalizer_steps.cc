// Steps that change the text rebuild it piece by piece, so that pieces and origins stay right together.
#include <algorithm>
#include <string>
#include <string_view>

#include "text/byte_level.h"
#include "text/graphemes.h"
#include "text/step_kinds.h"
#include "text/step_tables.h"
#include "text/step_writing.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace vitro {
namespace {

size_t character_bytes(std::string_view text, size_t pos) {
  return static_cast<size_t>(decode_utf8(text.substr(pos)).n_bytes);
}

/// Writes characters that say how they relate to those of a piece.
class RelatedWriter {
 public:
  RelatedWriter(const AlignedText& source, ByteRange piece, BoundedText& out)
      : source_(source), piece_(piece), pos_(piece.begin), out_(out) {}

  Status add(const NormalizedChar& c) {
    bytes_.clear();
    append_utf8(bytes_, c.value);
    const bool is_new = c.change > 0 || pos_ >= piece_.end;
    const size_t from = is_new && pos_ > piece_.begin ? pos_ - 1 : pos_;
    VITRO_TRY(out_.append(bytes_, source_.origin({from, from + 1})));
    for (int i = c.change; i <= 0 && pos_ < piece_.end; ++i) pos_ += character_bytes(source_.text(), pos_);
    return {};
  }
  /// What comes next in the source stays as it is, up to `end`.
  Status keep(size_t end) {
    VITRO_TRY(out_.append(source_, {pos_, end}));
    pos_ = end;
    return {};
  }

 private:
  const AlignedText& source_;
  ByteRange piece_;
  size_t pos_;  // the next character of the source that is not used up
  BoundedText& out_;
  std::string bytes_;
};

/// The next stretch of `text` from `pos` on that the form may change: characters that are not stable, with the one
/// before them. Empty at the end of the text if there is none.
ByteRange next_unstable(std::string_view text, size_t pos, NormalForm form) {
  size_t before = pos;
  while (pos < text.size()) {
    const CodePoint point = decode_utf8(text.substr(pos));
    if (!is_stable(point.value, form)) break;
    before = pos;
    pos += static_cast<size_t>(point.n_bytes);
  }
  ByteRange out{pos == text.size() ? pos : before, pos};
  while (out.end < text.size()) {
    const CodePoint point = decode_utf8(text.substr(out.end));
    if (is_stable(point.value, form)) break;
    out.end += static_cast<size_t>(point.n_bytes);
  }
  return out;
}

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0U) != 0x80; }));
}

/// `old_text` becomes `new_text`: one for one as far as both go, then insertions; what is left of the old is swallowed
/// by whatever was written last. Nothing swallows it where nothing was written, and an insertion that swallows one
/// stands for that one: so does the reference.
void replace(std::string_view old_text, std::string_view new_text, std::vector<NormalizedChar>& out) {
  const size_t n_old = count_characters(old_text);
  size_t n_new = 0;
  for (size_t pos = 0; pos < new_text.size(); ++n_new) {
    const CodePoint point = decode_utf8(new_text.substr(pos));
    out.push_back({point.value, n_new < n_old ? 0 : 1});
    pos += static_cast<size_t>(point.n_bytes);
  }
  if (n_new < n_old && !out.empty()) out.back().change -= static_cast<int>(n_old - n_new);
}

/// Applies the rules to one piece. False if none applied.
bool apply_rules(const PrecompiledCharsmap& charsmap, std::string_view text, std::vector<NormalizedChar>& out) {
  constexpr size_t kLongest = 5;  // bytes of a cluster that is looked up as a whole
  bool is_changed = false;
  const auto try_rule = [&](std::string_view part) {
    const PrecompiledCharsmap::Rule rule = charsmap.shortest(part);
    if (rule.n_bytes == 0) return false;
    replace(part, rule.replacement, out);
    is_changed = true;
    return true;
  };
  for (size_t pos = 0; pos < text.size();) {
    const std::string_view cluster = text.substr(pos, first_grapheme_bytes(text.substr(pos)));
    pos += cluster.size();
    if (cluster.size() <= kLongest && try_rule(cluster)) continue;
    for (size_t i = 0; i < cluster.size();) {
      const CodePoint point = decode_utf8(cluster.substr(i));
      if (!try_rule(cluster.substr(i, static_cast<size_t>(point.n_bytes)))) out.push_back({point.value, 0});
      i += static_cast<size_t>(point.n_bytes);
    }
  }
  return is_changed;
}

ByteRange stripped(std::string_view text, const StripStep& step) {
  ByteRange out{0, text.size()};
  while (step.strips_left && !out.empty()) {
    const CodePoint point = decode_utf8(text.substr(out.begin));
    if (!is_white_space(point.value)) break;
    out.begin += static_cast<size_t>(point.n_bytes);
  }
  while (step.strips_right && !out.empty()) {
    size_t last = out.end - 1;
    while (last > out.begin && (static_cast<uint8_t>(text[last]) & 0xC0U) == 0x80) --last;
    if (!is_white_space(decode_utf8(text.substr(last)).value)) break;
    out.end = last;
  }
  return out;
}

bool wants_prefix(const PrependStep& step, const PieceList& list, const ByteRange& piece) {
  const std::string_view text = list.text.text().substr(piece.begin, piece.size());
  if (step.unless_present && text.starts_with(step.prefix)) return false;
  return !step.at_start_only || list.text.origin(piece).begin == 0;
}

}  // namespace

Status apply(const NormalFormStep& step, PieceList& list, TextBudget& budget) {
  if (is_trivially_normal(list.text.text(), step.form)) return {};
  return rewrite_pieces(list, budget, [&](const ByteRange& piece, BoundedText& out) -> Status {
    RelatedWriter writer(list.text, piece, out);
    const std::string_view text = list.text.text().substr(0, piece.end);
    for (size_t pos = piece.begin; pos < piece.end;) {
      const ByteRange stretch = next_unstable(text, pos, step.form);
      VITRO_TRY(writer.keep(stretch.begin));
      for (const NormalizedChar& c : normalize(text.substr(stretch.begin, stretch.size()), step.form)) {
        VITRO_TRY(writer.add(c));
      }
      pos = stretch.end;
    }
    return {};
  });
}

Status apply(const PrecompiledStep& step, PieceList& list, TextBudget& budget) {
  return rewrite_pieces(list, budget, [&](const ByteRange& piece, BoundedText& out) -> Status {
    std::vector<NormalizedChar> chars;
    if (!apply_rules(step.charsmap, list.text.text().substr(piece.begin, piece.size()), chars)) {
      return out.append(list.text, piece);
    }
    RelatedWriter writer(list.text, piece, out);
    for (const NormalizedChar& c : chars) VITRO_TRY(writer.add(c));
    return {};
  });
}

Status apply(const StripStep& step, PieceList& list, TextBudget& /*budget*/) {
  std::vector<ByteRange> pieces;
  for (const ByteRange& piece : list.pieces) {
    const ByteRange inner = stripped(list.text.text().substr(piece.begin, piece.size()), step);
    if (!inner.empty()) pieces.push_back({piece.begin + inner.begin, piece.begin + inner.end});
  }
  list.pieces = std::move(pieces);
  return {};
}

Status apply(const ReplaceStep& step, PieceList& list, TextBudget& budget) {
  if (list.text.text().find(step.pattern) == std::string_view::npos) return {};
  return rewrite_pieces(list, budget, [&](const ByteRange& piece, BoundedText& out) -> Status {
    const std::string_view text = list.text.text().substr(0, piece.end);
    for (size_t pos = piece.begin; pos < piece.end;) {
      const size_t found = std::min(text.find(step.pattern, pos), piece.end);
      VITRO_TRY(out.append(list.text, {pos, found}));
      if (found == piece.end) break;
      pos = found + step.pattern.size();
      VITRO_TRY(out.append(step.content, list.text.origin({pos - 1, pos})));
    }
    return {};
  });
}

Status apply(const ReplacePatternStep& step, PieceList& list, TextBudget& budget) {
  return rewrite_pieces(list, budget, [&](const ByteRange& piece, BoundedText& out) -> Status {
    const std::string_view text = list.text.text().substr(piece.begin, piece.size());
    VITRO_TRY_ASSIGN(const std::vector<ByteRange> matches, step.pattern.find_all(text));
    size_t pos = piece.begin;
    for (const ByteRange& match : matches) {
      VITRO_TRY(out.append(list.text, {pos, piece.begin + match.begin}));
      pos = piece.begin + match.end;
      VITRO_TRY(out.append(step.content, list.text.origin({pos - 1, pos})));
    }
    return out.append(list.text, {pos, piece.end});
  });
}

Status apply(const PrependStep& step, PieceList& list, TextBudget& budget) {
  return rewrite_pieces(list, budget, [&](const ByteRange& piece, BoundedText& out) -> Status {
    if (wants_prefix(step, list, piece)) {
      VITRO_TRY(out.append(step.prefix, list.text.origin({piece.begin, piece.begin + 1})));
    }
    return out.append(list.text, piece);
  });
}

Status apply(const ByteLevelStep&, PieceList& list, TextBudget& budget) {
  return rewrite_pieces(list, budget, [&](const ByteRange& piece, BoundedText& out) -> Status {
    const std::string_view text = list.text.text();
    for (size_t pos = piece.begin; pos < piece.end; ++pos) {
      VITRO_TRY(out.append(to_byte_level(text.substr(pos, 1)), list.text.origin({pos, pos + 1})));
    }
    return {};
  });
}

Status apply(const SentencePieceStep& step, PieceList& list, TextBudget& budget) {
  const size_t max_bytes = budget.longest(list.text.text().size());
  return rewrite_pieces(list, budget, [&](const ByteRange& piece, BoundedText& out) -> Status {
    VITRO_TRY_ASSIGN(const auto made,
                     step.normalizer.normalize(list.text.text().substr(piece.begin, piece.size()), max_bytes));
    const auto origin_of = [&](size_t i) {
      const size_t pos = piece.begin + made.origins[i];
      return list.text.origin({pos, pos}).begin;
    };
    for (size_t i = 0; i < made.text.size(); ++i) {
      VITRO_TRY(out.append(std::string_view(made.text).substr(i, 1), {origin_of(i), origin_of(i + 1)}));
    }
    return {};
  });
}

}  // namespace vitro
