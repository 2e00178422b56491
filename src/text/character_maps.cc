// Normalizers that look at one character at a time. Runs that stay as they are get copied as a whole.
#include <array>
#include <optional>
#include <string>

#include "text/step_kinds.h"
#include "text/step_tables.h"
#include "text/step_writing.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace vitro {
namespace {

/// What a character becomes: up to three characters.
struct Mapped {
  std::array<char32_t, 3> chars{};
  size_t n_chars = 0;
};
using MaybeMapped = std::optional<Mapped>;  // nothing: it stays

constexpr Mapped kRemoved{};
constexpr Mapped kSpace{{U' '}, 1};

MaybeMapped lowercase(char32_t code) {
  if (code == 0x130) return Mapped{{U'i', U'\u0307'}, 2};
  const char32_t lower = lower_case(code);
  if (lower == code) return std::nullopt;
  return Mapped{{lower}, 1};
}

MaybeMapped remove(CodeSet set, char32_t code) {
  if (code < 0x80 || !is_in(set, code)) return std::nullopt;
  return kRemoved;
}

MaybeMapped clean(char32_t code) {
  if (code == '\t' || code == '\n' || code == '\r') return kSpace;
  if (code < 0x80) return code < 0x20 || code == 0x7F ? MaybeMapped(kRemoved) : std::nullopt;
  if (is_in(CodeSet::kUnclean, code)) return kRemoved;
  if (is_white_space(code)) return kSpace;
  return std::nullopt;
}

bool is_chinese(char32_t code) {
  return (code >= 0x3400 && code <= 0x4DBF) || (code >= 0x4E00 && code <= 0x9FFF) ||
         (code >= 0xF900 && code <= 0xFAFF) || (code >= 0x20000 && code <= 0x2A6DF) ||
         (code >= 0x2A700 && code <= 0x2B81F) || (code >= 0x2B920 && code <= 0x2CEAF) ||
         (code >= 0x2F800 && code <= 0x2FA1F);
}

MaybeMapped space_around_chinese(char32_t code) {
  if (!is_chinese(code)) return std::nullopt;
  return Mapped{{U' ', code, U' '}, 3};
}

MaybeMapped nmt(char32_t code) {
  switch (code) {
    case 0x0B:
    case 0x7F:
    case 0x8F:
    case 0x9F:
      return kRemoved;
    case 0x09:
    case 0x0A:
    case 0x0C:
    case 0x0D:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x2581:
    case 0xFEFF:
    case 0xFFFD:
      return kSpace;
    default:
      break;
  }
  if ((code >= 0x01 && code <= 0x08) || (code >= 0x0E && code <= 0x1F)) return kRemoved;
  return code >= 0x200B && code <= 0x200F ? MaybeMapped(kSpace) : std::nullopt;
}

MaybeMapped map_character(CharacterMap map, char32_t code) {
  switch (map) {
    case CharacterMap::kLowercase:
      return lowercase(code);
    case CharacterMap::kRemoveMarks:
      return remove(CodeSet::kMarks, code);
    case CharacterMap::kRemoveNonspacing:
      return remove(CodeSet::kNonspacing, code);
    case CharacterMap::kClean:
      return clean(code);
    case CharacterMap::kSpaceAroundChinese:
      return space_around_chinese(code);
    case CharacterMap::kNmt:
      return nmt(code);
  }
  return std::nullopt;
}

/// The next character that changes, from `pos` on.
struct Change {
  ByteRange range;  ///< empty, at the end of the text: none does
  Mapped mapped;
};

Change next_change(CharacterMap map, std::string_view text, size_t pos) {
  while (pos < text.size()) {
    const CodePoint point = decode_utf8(text.substr(pos));
    const size_t end = pos + static_cast<size_t>(point.n_bytes);
    if (const MaybeMapped mapped = map_character(map, point.value)) return {{pos, end}, *mapped};
    pos = end;
  }
  return {{pos, pos}, {}};
}

}  // namespace

Status apply(const CharacterMapStep& step, PieceList& list, TextBudget& budget) {
  if (next_change(step.map, list.text.text(), 0).range.empty()) return {};
  return rewrite_pieces(list, budget, [&](const ByteRange& piece, BoundedText& out) -> Status {
    const std::string_view text = list.text.text().substr(0, piece.end);
    std::string bytes;
    for (size_t pos = piece.begin; pos < piece.end;) {
      const Change change = next_change(step.map, text, pos);
      VITRO_TRY(out.append(list.text, {pos, change.range.begin}));
      pos = change.range.end;
      if (change.mapped.n_chars == 0) continue;
      bytes.clear();
      for (size_t i = 0; i < change.mapped.n_chars; ++i) append_utf8(bytes, change.mapped.chars[i]);
      VITRO_TRY(out.append(bytes, list.text.origin(change.range)));
    }
    return {};
  });
}

}  // namespace vitro
