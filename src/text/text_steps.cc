// Steps that change the text rebuild it piece by piece, so that pieces and origins stay right together.
#include "text/text_steps.h"

#include <algorithm>
#include <string_view>

#include "text/byte_level.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace vitro {
namespace {

size_t character_bytes(std::string_view text, size_t pos) {
  return static_cast<size_t>(decode_utf8(text.substr(pos)).n_bytes);
}

/// A text that is being written, up to a length.
class BoundedText {
 public:
  explicit BoundedText(size_t max_bytes) : max_bytes_(max_bytes) {}

  Status append(const AlignedText& source, ByteRange range) {
    VITRO_TRY(check_room(range.size()));
    text_.append(source, range);
    return {};
  }
  Status append(std::string_view text, ByteRange origin) {
    VITRO_TRY(check_room(text.size()));
    text_.append(text, origin);
    return {};
  }
  size_t size() const { return text_.text().size(); }
  AlignedText take() { return std::move(text_); }

 private:
  Status check_room(size_t n_bytes) const {
    if (n_bytes <= max_bytes_ - size()) return {};
    return fail(ErrorCode::kUnsupported,
                "[tokenizer] the normaliser or pre-tokenizer makes the text too long (over {} bytes here)", max_bytes_);
  }

  size_t max_bytes_;
  AlignedText text_;
};

/// Rewrites every piece with write(piece, new_text), which appends the piece's new form.
template <class Write>
Status rewrite_pieces(PieceList& list, TextBudget& budget, Write&& write) {
  const size_t n_before = list.text.text().size();
  BoundedText out(budget.longest(n_before));
  std::vector<ByteRange> pieces;
  pieces.reserve(list.pieces.size());
  for (const ByteRange& piece : list.pieces) {
    const size_t begin = out.size();
    VITRO_TRY(write(piece, out));
    if (out.size() > begin) pieces.push_back({begin, out.size()});
  }
  budget.charge(n_before, out.size());
  list.text = out.take();
  list.pieces = std::move(pieces);
  return {};
}

Status apply(const NfcStep&, PieceList& list, TextBudget& budget) {
  if (is_trivially_nfc(list.text.text())) return {};
  return rewrite_pieces(list, budget, [&](const ByteRange& piece, BoundedText& out) -> Status {
    const std::string_view text = list.text.text();
    size_t pos = piece.begin;  // the next character of the source that is not used up
    for (const NormalizedChar& c : to_nfc(text.substr(piece.begin, piece.size()))) {
      const bool is_new = c.change > 0 || pos >= piece.end;
      const size_t from = is_new && pos > piece.begin ? pos - 1 : pos;
      const ByteRange origin = list.text.origin({from, from + 1});
      std::string bytes;
      append_utf8(bytes, c.value);
      VITRO_TRY(out.append(bytes, origin));
      for (int i = c.change; i <= 0 && pos < piece.end; ++i) pos += character_bytes(text, pos);
    }
    return {};
  });
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

bool wants_prefix(const PrependStep& step, const PieceList& list, const ByteRange& piece) {
  const std::string_view text = list.text.text().substr(piece.begin, piece.size());
  if (step.unless_present && text.starts_with(step.prefix)) return false;
  return !step.at_start_only || list.text.origin(piece).begin == 0;
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

struct Part {
  ByteRange range;
  bool is_match = false;
};

/// Matches and the gaps between them, in order, covering the whole text.
std::vector<Part> parts_of(const std::vector<ByteRange>& matches, size_t n_bytes, bool is_inverted) {
  std::vector<Part> parts;
  size_t pos = 0;
  for (const ByteRange& match : matches) {
    if (match.begin > pos) parts.push_back({{pos, match.begin}, is_inverted});
    parts.push_back({match, !is_inverted});
    pos = match.end;
  }
  if (pos < n_bytes) parts.push_back({{pos, n_bytes}, is_inverted});
  return parts;
}

/// True if parts[i] joins the part before it.
bool joins_previous(const std::vector<Part>& parts, size_t i, SplitBehavior behavior) {
  const bool before = parts[i - 1].is_match;
  switch (behavior) {
    case SplitBehavior::kMergedWithPrevious:
      return parts[i].is_match && !before;
    case SplitBehavior::kMergedWithNext:
      return before && !parts[i].is_match;
    case SplitBehavior::kContiguous:
      return parts[i].is_match == before;
    case SplitBehavior::kRemoved:
    case SplitBehavior::kIsolated:
      return false;
  }
  return false;
}

Status apply(const SplitStep& step, PieceList& list, TextBudget& /*budget*/) {
  std::vector<ByteRange> out;
  for (const ByteRange& piece : list.pieces) {
    const std::string_view text = list.text.text().substr(piece.begin, piece.size());
    VITRO_TRY_ASSIGN(const std::vector<ByteRange> matches, step.pattern.find_all(text));
    const std::vector<Part> parts = parts_of(matches, text.size(), step.is_inverted);
    for (size_t i = 0; i < parts.size(); ++i) {
      if (step.behavior == SplitBehavior::kRemoved && parts[i].is_match) continue;
      const ByteRange range{piece.begin + parts[i].range.begin, piece.begin + parts[i].range.end};
      if (i > 0 && joins_previous(parts, i, step.behavior)) {
        out.back().end = range.end;
      } else {
        out.push_back(range);
      }
    }
  }
  list.pieces = std::move(out);
  return {};
}

}  // namespace

PieceList PieceList::whole(AlignedText text) {
  PieceList out;
  if (!text.text().empty()) out.pieces.push_back({0, text.text().size()});
  out.text = std::move(text);
  return out;
}

Status apply_step(const TextStep& step, PieceList& list, TextBudget& budget) {
  return std::visit([&](const auto& s) { return apply(s, list, budget); }, step);
}

Status apply_steps(const std::vector<TextStep>& steps, PieceList& list, TextBudget& budget) {
  for (const TextStep& step : steps) VITRO_TRY(apply_step(step, list, budget));
  return {};
}

}  // namespace vitro
