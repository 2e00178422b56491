// Ignoring case is done for ASCII letters (and the two characters beyond that fold to them); what else has case is
// refused there, and so are neighbours that Oniguruma would also match by one ligature.
#include "text/split_pattern_class.h"

#include <algorithm>
#include <array>

#include "text/scripts.h"
#include "text/utf8.h"

namespace vitro {
namespace {

constexpr int kMaxBracketDepth = 8;
constexpr char32_t kLongS = 0x17F, kKelvin = 0x212A;

bool is_ascii_letter(char32_t code) { return (code | 0x20) >= 'a' && (code | 0x20) <= 'z'; }

std::optional<char32_t> control_character(char32_t letter) {
  constexpr std::array<std::pair<char, char>, 7> kControls = {
      {{'t', '\t'}, {'n', '\n'}, {'r', '\r'}, {'f', '\f'}, {'v', '\v'}, {'a', '\a'}, {'e', 0x1B}}};
  for (const auto& [name, value] : kControls) {
    if (letter == static_cast<char32_t>(name)) return static_cast<char32_t>(value);
  }
  return std::nullopt;
}

/// ss, st, ff, fi, fl: pairs of ASCII letters with a ligature in Unicode's full case folding.
bool has_ligature(char32_t first, char32_t second) {
  first |= 0x20;
  second |= 0x20;
  if (first == 's') return second == 's' || second == 't';
  return first == 'f' && (second == 'f' || second == 'i' || second == 'l');
}

}  // namespace

bool RegexCursor::take(std::string_view text) {
  if (!looking_at(text)) return false;
  pos_ += text.size();
  return true;
}

char32_t RegexCursor::take_character() {
  const CodePoint point = decode_utf8(text_.substr(pos_));
  pos_ += static_cast<size_t>(point.n_bytes);
  return point.value;
}

tl::unexpected<Error> RegexCursor::unsupported(std::string_view what) const {
  return fail(ErrorCode::kUnsupported, "[split pattern] {} at byte {} of '{}' is not supported", what, pos_,
              text_.substr(0, complete_utf8_prefix(text_.substr(0, 300))));
}

Result<CodePointSet> RegexClassReader::single() {
  CodePointSet out;
  if (in_.at_end()) return in_.unsupported("the end");
  if (in_.take("[")) {
    VITRO_TRY_ASSIGN(out, bracket(0));
  } else if (in_.looking_at("\\")) {
    VITRO_TRY_ASSIGN(out, escape());
    if (ignores_case_) return with_other_case(std::move(out));
  } else if (in_.take(".")) {
    return CodePointSet('\n', '\n').complement();
  } else if (in_.looking_at("*") || in_.looking_at("+") || in_.looking_at("?") || in_.looking_at("{")) {
    return in_.unsupported("this character");
  } else {
    return literal();
  }
  return out;
}

Result<CodePointSet> RegexClassReader::literal() {
  const bool is_next = in_.pos() == last_end_;
  const char32_t code = in_.take_character();
  if (!ignores_case_) return CodePointSet(code, code);
  if (dialect_ == RegexDialect::kOniguruma && is_next && has_ligature(last_folded_, code)) {
    return in_.unsupported("ignoring case of letters with a ligature before this place, which");
  }
  last_folded_ = code;
  last_end_ = in_.pos();
  return with_other_case(CodePointSet(code, code));
}

/// After '[': the rest up to its ']'. "a&&b" is what both sides have.
Result<CodePointSet> RegexClassReader::bracket(int depth) {
  if (depth > kMaxBracketDepth) return in_.unsupported("classes nested this deep");
  const bool is_negated = in_.take("^");
  if (in_.looking_at("]")) return in_.unsupported("']' as the first character of a class");
  VITRO_TRY_ASSIGN(CodePointSet out, bracket_union(depth));
  while (in_.take("&&")) {
    VITRO_TRY_ASSIGN(const CodePointSet other, bracket_union(depth));
    out = out & other;
  }
  if (!in_.take("]")) return in_.unsupported("a class without ']'");
  if (ignores_case_) {
    VITRO_TRY_ASSIGN(out, with_other_case(std::move(out)));
  }
  return is_negated ? out.complement() : out;
}

Result<CodePointSet> RegexClassReader::bracket_union(int depth) {
  std::vector<CodePointSet::Range> ranges;  // joined in the end, all at once
  CodePointSet others;
  const size_t start = in_.pos();
  while (!in_.at_end() && !in_.looking_at("]") && !in_.looking_at("&&")) {
    if (in_.looking_at("[:")) return in_.unsupported("a POSIX class");
    if (dialect_ == RegexDialect::kFancyRegex && (in_.looking_at("--") || in_.looking_at("~~"))) {
      return in_.unsupported("a difference of classes");
    }
    VITRO_TRY_ASSIGN(const CodePointSet item, bracket_item(depth));
    if (const auto range = item.as_range()) {
      ranges.push_back(*range);
    } else {
      others = others | item;
    }
  }
  if (in_.pos() == start) return in_.unsupported("an empty class");
  return others | CodePointSet::of(std::move(ranges));
}

/// A character, a range a-b, an escape or a class inside [...].
Result<CodePointSet> RegexClassReader::bracket_item(int depth) {
  if (in_.take("[")) return bracket(depth + 1);
  CodePointSet out;
  const auto read = [&](CodePointSet& set) -> Status {
    if (in_.at_end()) return in_.unsupported("a class without ']'");
    if (!in_.looking_at("\\")) {
      const char32_t code = in_.take_character();
      set = CodePointSet(code, code);
      return {};
    }
    VITRO_TRY_ASSIGN(set, escape());
    return {};
  };
  const auto one_character = [](const CodePointSet& set) -> std::optional<char32_t> {
    const auto range = set.as_range();
    return range && range->first == range->second ? std::optional(range->first) : std::nullopt;
  };
  VITRO_TRY(read(out));
  const bool is_range = in_.looking_at("-") && !in_.looking_at("-]") && !in_.looking_at("-&&") && !in_.looking_at("-[");
  if (!is_range) return out;
  in_.take("-");
  CodePointSet upper;
  VITRO_TRY(read(upper));
  const auto first = one_character(out);
  const auto last = one_character(upper);
  if (!first || !last || *last < *first) return in_.unsupported("this range");
  return CodePointSet(*first, *last);
}

/// \p{..}, \P{..}, \s, \d, \w and their complements, control characters, \xHH, \uHHHH, and escaped punctuation.
Result<CodePointSet> RegexClassReader::escape() {
  in_.take("\\");
  if (in_.at_end()) return in_.unsupported("a lone backslash");
  const auto same_or_complement = [](const CodePointSet& set, bool is_negated) {
    return is_negated ? set.complement() : set;
  };
  if (in_.looking_at("x") || in_.looking_at("u")) {
    VITRO_TRY_ASSIGN(const char32_t code, hex_character());
    return CodePointSet(code, code);
  }
  const char32_t code = in_.take_character();
  if (code == 'p' || code == 'P') return property(code == 'P');
  if (code == 's' || code == 'S') return same_or_complement(CodePointSet::of_property(white_space()), code == 'S');
  if (code == 'd' || code == 'D')
    return same_or_complement(CodePointSet::of_categories(bit_of(Category::kNd)), code == 'D');
  if (code == 'w' || code == 'W') return same_or_complement(words(), code == 'W');
  if (const auto control = control_character(code)) return CodePointSet(*control, *control);
  const bool is_letter_or_digit = (code >= '0' && code <= '9') || is_ascii_letter(code) || code >= 0x80;
  if (is_letter_or_digit) return in_.unsupported("the escape before this place, which");
  return CodePointSet(code, code);
}

/// \xHH, \x{H..}, \uHHHH.
Result<char32_t> RegexClassReader::hex_character() {
  const bool is_long = in_.take("x{");
  const size_t n_most = is_long ? 6 : in_.looking_at("u") ? 4 : 2;
  if (!is_long) in_.advance(1);
  char32_t value = 0;
  size_t n_digits = 0;
  for (; n_digits < n_most && !in_.at_end(); ++n_digits) {
    const char c = in_.peek();
    const bool is_digit = c >= '0' && c <= '9';
    const bool is_letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'f';
    if (!is_digit && !is_letter) break;
    value = 16 * value + static_cast<char32_t>(is_digit ? c - '0' : (c | 0x20) - 'a' + 10);
    in_.advance(1);
  }
  const bool is_complete = is_long ? n_digits > 0 && in_.take("}") : n_digits == n_most;
  // Oniguruma takes \x80 and above for a byte of UTF-8.
  const bool is_byte = !is_long && n_most == 2 && value >= 0x80;
  if (!is_complete || is_byte || value > CodePointSet::kLast) return in_.unsupported("this number of a character");
  return value;
}

Result<CodePointSet> RegexClassReader::property(bool is_negated) {
  const size_t close = in_.text().find('}', in_.pos());
  if (!in_.take("{") || close == std::string_view::npos) return in_.unsupported("\\p without {..}");
  const std::string_view name = in_.text().substr(in_.pos(), close - in_.pos());
  const std::optional<CategoryMask> mask = category_mask(name);
  const std::optional<CodePointSet> set = mask ? CodePointSet::of_categories(*mask) : script_set(name);
  if (!set) return in_.unsupported("this property");
  in_.advance(close + 1 - in_.pos());
  return is_negated ? set->complement() : *set;
}

Result<CodePointSet> RegexClassReader::with_other_case(CodePointSet set) {
  std::vector<CodePointSet::Range> ranges;
  for (char32_t code = 'A'; code <= 'Z'; ++code) {
    const bool is_special = (code == 'S' && set.contains(kLongS)) || (code == 'K' && set.contains(kKelvin));
    if (!set.contains(code) && !set.contains(code | 0x20) && !is_special) continue;
    ranges.emplace_back(code, code);
    ranges.emplace_back(code | 0x20, code | 0x20);
    if (code == 'S') ranges.emplace_back(kLongS, kLongS);
    if (code == 'K') ranges.emplace_back(kKelvin, kKelvin);
  }
  VITRO_TRY(refuse_case_beyond_ascii(set));
  return set | CodePointSet::of(std::move(ranges));
}

/// Beyond ASCII, either all letters that have case are in the set or none.
Status RegexClassReader::refuse_case_beyond_ascii(const CodePointSet& set) {
  constexpr CategoryMask kCased = bit_of(Category::kLu) | bit_of(Category::kLl) | bit_of(Category::kLt) |
                                  bit_of(Category::kMn) | bit_of(Category::kNl) | bit_of(Category::kSo);
  const CodePointSet two = CodePointSet::of({{kLongS, kLongS}, {kKelvin, kKelvin}});  // fold to ASCII
  const CodePointSet with_case =
      CodePointSet::of_categories(kCased) & CodePointSet(0x80, CodePointSet::kLast) & two.complement();
  if ((set & with_case).is_empty() || (with_case & set.complement()).is_empty()) return {};
  return in_.unsupported("ignoring case of letters beyond ASCII before this place, which");
}

CodePointSet RegexClassReader::words() const {
  const CodePointSet words = CodePointSet::of_property(word_characters());
  if (dialect_ == RegexDialect::kFancyRegex) return words;
  // Oniguruma leaves out the joiners, and adds the numbers of Latin-1 that are no digits.
  return (words & CodePointSet(0x200C, 0x200D).complement()) |
         CodePointSet::of({{0xB2, 0xB3}, {0xB9, 0xB9}, {0xBC, 0xBE}});
}

}  // namespace vitro
