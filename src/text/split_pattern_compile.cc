// Reading the notation of regular expressions into sequences. Fails closed: what is not understood is named with its
// place.
#include <algorithm>
#include <optional>

#include "text/split_pattern.h"
#include "text/utf8.h"

namespace vitro {
namespace {

constexpr size_t kMaxElements = 16;
constexpr size_t kMaxAlternatives = 64;
constexpr size_t kMaxPatternBytes = 16384;
constexpr uint32_t kMaxRepeat = 1U << 30;  // stands for "without end"
constexpr uint32_t kMaxCount = 1024;

using Element = SplitPattern::Element;
using Sequence = SplitPattern::Sequence;

class Compiler {
 public:
  explicit Compiler(std::string_view regex) : regex_(regex) {}

  Result<std::vector<Sequence>> compile() {
    if (regex_.size() > kMaxPatternBytes) return unsupported("a pattern this long");
    if (!is_valid_utf8(regex_)) return unsupported("bytes that are not UTF-8");
    VITRO_TRY_ASSIGN(std::vector<Sequence> out, alternatives(false));
    if (!at_end()) return unsupported("')' without '('");
    return out;
  }

 private:
  bool at_end() const { return pos_ >= regex_.size(); }
  bool looking_at(std::string_view text) const { return regex_.substr(pos_, text.size()) == text; }
  bool take(std::string_view text) {
    if (!looking_at(text)) return false;
    pos_ += text.size();
    return true;
  }
  char32_t take_character() {
    const CodePoint point = decode_utf8(regex_.substr(pos_));
    pos_ += static_cast<size_t>(point.n_bytes);
    return point.value;
  }
  tl::unexpected<Error> unsupported(std::string_view what) const {
    return fail(ErrorCode::kUnsupported, "[split pattern] {} at byte {} of '{}' is not supported", what, pos_,
                regex_.substr(0, 300));
  }

  Result<std::vector<Sequence>> alternatives(bool in_group) {
    std::vector<Sequence> out;
    do {
      if (out.size() == kMaxAlternatives) return unsupported("more than 64 alternatives");
      Sequence sequence;
      while (!at_end() && !looking_at("|") && !looking_at(")")) {
        if (sequence.size() == kMaxElements) return unsupported("more than 16 elements in a row");
        VITRO_TRY_ASSIGN(Element next, element(in_group));
        sequence.push_back(std::move(next));
      }
      out.push_back(std::move(sequence));
    } while (take("|"));
    return out;
  }

  Result<Element> element(bool in_group) {
    Element out;
    if (looking_at("(")) {
      if (in_group) return unsupported("a group in a group");
      VITRO_TRY_ASSIGN(out, group());
    } else if (take("$")) {
      out.kind = Element::Kind::kEnd;
    } else {
      VITRO_TRY_ASSIGN(out.set, single());
    }
    VITRO_TRY(quantifier(out, in_group));
    return out;
  }

  /// ?, *, +, {m}, {m,}, {m,n}. Lazy and possessive forms are refused, so are quantifiers that would make groups
  /// backtrack.
  Status quantifier(Element& out, bool in_group) {
    const size_t start = pos_;
    if (take("?")) {
      out.n_min = 0;
    } else if (take("*")) {
      out.n_min = 0;
      out.n_max = kMaxRepeat;
    } else if (take("+")) {
      out.n_max = kMaxRepeat;
    } else if (looking_at("{")) {
      VITRO_TRY(counts(out));
    }
    if (start == pos_) return {};
    if (looking_at("?") || looking_at("+") || looking_at("*")) return unsupported("a lazy or possessive quantifier");
    if (in_group) return unsupported("a quantifier in a group");
    if (out.kind != Element::Kind::kClass && !(out.kind == Element::Kind::kGroup && out.n_max == 1)) {
      return unsupported("this quantifier");
    }
    return {};
  }

  Status counts(Element& out) {
    take("{");
    const std::optional<uint32_t> low = number();
    if (!low) return unsupported("'{'");
    out.n_min = out.n_max = *low;
    if (take(",")) out.n_max = number().value_or(kMaxRepeat);
    if (!take("}") || out.n_max < out.n_min || out.n_max == 0) return unsupported("this count");
    return {};
  }

  std::optional<uint32_t> number() {
    uint32_t value = 0;
    const size_t start = pos_;
    while (!at_end() && regex_[pos_] >= '0' && regex_[pos_] <= '9' && value <= kMaxCount) {
      value = value * 10 + static_cast<uint32_t>(regex_[pos_++] - '0');
    }
    if (start == pos_ || value > kMaxCount) return std::nullopt;
    return value;
  }

  Result<Element> group() {
    Element out;
    if (looking_at("(?!") || looking_at("(?=")) {
      out.kind = take("(?!") ? Element::Kind::kNotFollowedBy : Element::Kind::kFollowedBy;
      take("(?=");
      VITRO_TRY_ASSIGN(out.set, single());
    } else {
      const bool ignored_case = ignore_case_;
      ignore_case_ = take("(?i:");
      if (!ignore_case_ && !take("(?:") && looking_at("(?")) return unsupported("this kind of group");
      if (!ignore_case_) take("(");
      out.kind = Element::Kind::kGroup;
      VITRO_TRY_ASSIGN(out.group, alternatives(true));
      ignore_case_ = ignored_case;
    }
    if (!take(")")) return unsupported("a group without ')'");
    return out;
  }

  /// One character or class outside brackets.
  Result<CharClass> single() {
    CharClass out;
    if (at_end()) return unsupported("the end");
    if (take("[")) {
      VITRO_TRY_ASSIGN(out, bracket());
    } else if (looking_at("\\")) {
      VITRO_TRY(escape(out, false));
    } else if (take(".")) {
      out.ranges = {{'\n', '\n'}};
      out.is_negated = true;
    } else if (looking_at("*") || looking_at("+") || looking_at("?") || looking_at("^") || looking_at("{")) {
      return unsupported("this character");
    } else {
      const char32_t code = take_character();
      out.ranges = {{code, code}};
    }
    if (ignore_case_) add_other_case(out);
    out.finish();
    return out;
  }

  Result<CharClass> bracket() {
    CharClass out;
    out.is_negated = take("^");
    if (looking_at("]")) return unsupported("']' as the first character of a class");
    while (!take("]")) {
      if (at_end()) return unsupported("a class without ']'");
      if (looking_at("[") || looking_at("&&")) return unsupported("a nested class");
      VITRO_TRY(bracket_item(out));
    }
    return out;
  }

  /// A character, a range a-b, or an escape inside [...].
  Status bracket_item(CharClass& out) {
    const size_t n_ranges = out.ranges.size();
    if (looking_at("\\")) {
      VITRO_TRY(escape(out, true));
      if (out.ranges.size() == n_ranges) return {};
    } else {
      const char32_t code = take_character();
      out.ranges.emplace_back(code, code);
    }
    if (!looking_at("-") || regex_.substr(pos_ + 1, 1) == "]") return {};
    take("-");
    CharClass upper;
    if (looking_at("\\")) {
      VITRO_TRY(escape(upper, true));
    } else if (!at_end()) {
      const char32_t code = take_character();
      upper.ranges.emplace_back(code, code);
    }
    if (upper.ranges.size() != 1 || upper.ranges[0].first < out.ranges.back().first) return unsupported("this range");
    out.ranges.back().second = upper.ranges[0].second;
    return {};
  }

  /// \p{..}, \P{..}, \s, \S, \d, control characters, and escaped punctuation.
  Status escape(CharClass& out, bool in_bracket) {
    take("\\");
    if (at_end()) return unsupported("a lone backslash");
    if (looking_at("p") || looking_at("P")) return property(out);
    if (looking_at("S") && in_bracket) return unsupported("\\S in a class");
    const char32_t code = take_character();
    if (code == 's' || code == 'S') {
      out.properties |= kWhiteSpaceBit;
      if (code == 'S') out.is_negated = true;
    } else if (code == 'd') {
      out.properties |= category_mask("Nd").value_or(0);
    } else if (const std::optional<char32_t> meant = escaped_character(code)) {
      out.ranges.emplace_back(*meant, *meant);
    } else {
      return unsupported("this escape");
    }
    return {};
  }

  static std::optional<char32_t> escaped_character(char32_t code) {
    if (code == 'r') return '\r';
    if (code == 'n') return '\n';
    if (code == 't') return '\t';
    const bool is_letter_or_digit = (code >= '0' && code <= '9') || ((code | 0x20) >= 'a' && (code | 0x20) <= 'z');
    return is_letter_or_digit ? std::nullopt : std::optional(code);
  }

  Status property(CharClass& out) {
    const bool is_complement = take("P");
    if (!is_complement) take("p");
    const size_t close = regex_.find('}', pos_);
    if (!take("{") || close == std::string_view::npos) return unsupported("\\p without {..}");
    const std::optional<PropertyMask> mask = category_mask(regex_.substr(pos_, close - pos_));
    if (!mask) return unsupported("this property");
    out.properties |= is_complement ? kAllCategories & ~*mask : *mask;
    pos_ = close + 1;
    return {};
  }

  static void add_other_case(CharClass& set) {
    const std::vector<std::pair<char32_t, char32_t>> given = set.ranges;
    for (const auto& [first, last] : given) {
      if (first != last || first >= 128) continue;
      const char32_t lower = first | 0x20;
      if (lower < 'a' || lower > 'z') continue;
      set.ranges.emplace_back(first ^ 0x20, first ^ 0x20);
      if (lower == 's') set.ranges.emplace_back(0x17F, 0x17F);    // long s
      if (lower == 'k') set.ranges.emplace_back(0x212A, 0x212A);  // kelvin sign
    }
  }

  std::string_view regex_;
  size_t pos_ = 0;
  bool ignore_case_ = false;
};

}  // namespace

Result<SplitPattern> SplitPattern::compile(std::string_view regex) {
  VITRO_TRY_ASSIGN(std::vector<Sequence> alternatives, Compiler(regex).compile());
  return SplitPattern(std::move(alternatives));
}

}  // namespace vitro
