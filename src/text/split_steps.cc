// Steps that cut pieces into smaller ones and leave the text as it is.
#include <string_view>

#include "text/step_kinds.h"
#include "text/step_tables.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace vitro {
namespace {

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

/// Appends the pieces that `behavior` makes of a piece with these matches in it.
void cut(const ByteRange& piece, const std::vector<Part>& parts, SplitBehavior behavior, std::vector<ByteRange>& out) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (behavior == SplitBehavior::kRemoved && parts[i].is_match) continue;
    const ByteRange range{piece.begin + parts[i].range.begin, piece.begin + parts[i].range.end};
    if (i > 0 && joins_previous(parts, i, behavior)) {
      out.back().end = range.end;
    } else {
      out.push_back(range);
    }
  }
}

bool passes(const CharacterSplitStep& step, char32_t code) {
  switch (step.test) {
    case CharacterTest::kWhiteSpace:
      return is_white_space(code);
    case CharacterTest::kPunctuation:
      return is_in(CodeSet::kPunctuation, code);
    case CharacterTest::kNumeric:
      return code < 0x80 ? code >= '0' && code <= '9' : is_in(CodeSet::kNumeric, code);
    case CharacterTest::kDelimiter:
      return code == step.delimiter;
  }
  return false;
}

/// Calls visit(code, range) for the characters of a piece; the range counts from the start of the text.
template <class Visit>
void each_character(const PieceList& list, const ByteRange& piece, Visit&& visit) {
  const std::string_view text = list.text.text().substr(0, piece.end);
  for (size_t pos = piece.begin; pos < piece.end;) {
    const CodePoint point = decode_utf8(text.substr(pos));
    const size_t end = pos + static_cast<size_t>(point.n_bytes);
    visit(point.value, ByteRange{pos, end});
    pos = end;
  }
}

enum class WordPart : uint8_t { kSpace, kWord, kOther };

WordPart word_part(char32_t code) {
  if (is_word_character(code)) return WordPart::kWord;
  return is_white_space(code) ? WordPart::kSpace : WordPart::kOther;
}

}  // namespace

Status apply(const SplitStep& step, PieceList& list, TextBudget& /*budget*/) {
  std::vector<ByteRange> out;
  for (const ByteRange& piece : list.pieces) {
    const std::string_view text = list.text.text().substr(piece.begin, piece.size());
    VITRO_TRY_ASSIGN(const std::vector<ByteRange> matches, step.pattern.find_all(text));
    cut(piece, parts_of(matches, text.size(), step.is_inverted), step.behavior, out);
  }
  list.pieces = std::move(out);
  return {};
}

Status apply(const CharacterSplitStep& step, PieceList& list, TextBudget& /*budget*/) {
  std::vector<ByteRange> out;
  std::vector<ByteRange> matches;
  for (const ByteRange& piece : list.pieces) {
    matches.clear();
    each_character(list, piece, [&](char32_t code, const ByteRange& at) {
      if (passes(step, code)) matches.push_back({at.begin - piece.begin, at.end - piece.begin});
    });
    cut(piece, parts_of(matches, piece.size(), false), step.behavior, out);
  }
  list.pieces = std::move(out);
  return {};
}

Status apply(const WordSplitStep&, PieceList& list, TextBudget& /*budget*/) {
  std::vector<ByteRange> out;
  for (const ByteRange& piece : list.pieces) {
    WordPart last = WordPart::kSpace;
    each_character(list, piece, [&](char32_t code, const ByteRange& at) {
      const WordPart part = word_part(code);
      if (part != WordPart::kSpace && part == last) {
        out.back().end = at.end;
      } else if (part != WordPart::kSpace) {
        out.push_back(at);
      }
      last = part;
    });
  }
  list.pieces = std::move(out);
  return {};
}

Status apply(const ScriptSplitStep&, PieceList& list, TextBudget& /*budget*/) {
  std::vector<ByteRange> out;
  for (const ByteRange& piece : list.pieces) {
    int last = 0;  // none so far
    each_character(list, piece, [&](char32_t code, const ByteRange& at) {
      const int script = script_of(code);
      if (script != 0 && script != last) {
        out.push_back(at);
      } else if (last != 0) {
        out.back().end = at.end;
      }
      if (script != 0) last = script;
    });
  }
  list.pieces = std::move(out);
  return {};
}

Status apply(const LengthSplitStep& step, PieceList& list, TextBudget& /*budget*/) {
  std::vector<ByteRange> out;
  for (const ByteRange& piece : list.pieces) {
    size_t n_characters = 0;
    each_character(list, piece, [&](char32_t, const ByteRange& at) {
      if (n_characters++ % step.n_characters == 0) {
        out.push_back(at);
      } else {
        out.back().end = at.end;
      }
    });
  }
  list.pieces = std::move(out);
  return {};
}

}  // namespace vitro
