// Recursive descent over the pattern, to a bounded depth. The tree is built from sets and tests on neighbours alone:
// ^, $, \b, possessive quantifiers and look-around of one character are all written with these.
#include "text/split_pattern_syntax.h"

#include <algorithm>
#include <optional>

#include "text/split_pattern_class.h"
#include "text/utf8.h"

namespace vitro {
namespace {

constexpr size_t kMaxPatternBytes = 16384;
constexpr size_t kMaxNodes = 8192;
constexpr size_t kMaxSets = 250;
constexpr int kMaxDepth = 32;
constexpr uint32_t kMaxCount = 1024;

using Kind = RegexNode::Kind;

RegexNode node_of(Kind kind, std::vector<RegexNode> children) {
  RegexNode out;
  out.kind = kind;
  out.children = std::move(children);
  return out;
}

bool can_be_empty(const RegexNode& node) {
  const auto child_can = [](const RegexNode& child) { return can_be_empty(child); };
  switch (node.kind) {
    case Kind::kSet:
      return false;
    case Kind::kSequence:
      return std::all_of(node.children.begin(), node.children.end(), child_can);
    case Kind::kAlternatives:
      return std::any_of(node.children.begin(), node.children.end(), child_can);
    case Kind::kRepeat:
      return node.n_min == 0 || can_be_empty(node.children[0]);
    case Kind::kTest:
      return true;
  }
  return true;
}

class Parser {
 public:
  Parser(std::string_view pattern, RegexDialect dialect) : in_(pattern), dialect_(dialect), classes_(in_, dialect) {}

  Result<Regex> parse() {
    if (in_.text().size() > kMaxPatternBytes) return in_.unsupported("a pattern this long");
    if (!is_valid_utf8(in_.text())) return in_.unsupported("bytes that are not UTF-8");
    Regex out;
    VITRO_TRY_ASSIGN(out.root, alternatives(0));
    if (!in_.at_end()) return in_.unsupported("')' without '('");
    if (can_be_empty(out.root)) return in_.unsupported("a pattern that can match nothing");
    out.sets = std::move(sets_);
    return out;
  }

 private:
  Result<RegexNode> alternatives(int depth) {
    if (depth > kMaxDepth) return in_.unsupported("nesting this deep");
    std::vector<RegexNode> out;
    do {
      RegexNode sequence;
      while (!in_.at_end() && !in_.looking_at("|") && !in_.looking_at(")")) {
        if (++n_nodes_ > kMaxNodes) return in_.unsupported("a pattern this long");
        VITRO_TRY_ASSIGN(RegexNode next, quantified(depth));
        sequence.children.push_back(std::move(next));
      }
      out.push_back(std::move(sequence));
    } while (in_.take("|"));
    return out.size() == 1 ? std::move(out[0]) : node_of(Kind::kAlternatives, std::move(out));
  }

  Result<RegexNode> quantified(int depth) {
    VITRO_TRY_ASSIGN(RegexNode item, atom(depth));
    const size_t start = in_.pos();
    RegexNode repeat;
    repeat.kind = Kind::kRepeat;
    VITRO_TRY(counts(repeat));
    if (in_.pos() == start) return item;
    const bool is_interval = in_.text()[start] == '{';
    if (item.kind == Kind::kTest || can_be_empty(item)) return in_.unsupported("repeating what can be empty");
    const bool plus_repeats = is_interval && dialect_ == RegexDialect::kOniguruma;
    const bool fixed_is_optional = is_interval && repeat.n_min == repeat.n_max;  // {n}? in Oniguruma; never of use
    if (!fixed_is_optional && in_.take("?")) {
      repeat.is_lazy = true;
    } else if (!plus_repeats && in_.take("+")) {
      return possessive(std::move(item), repeat);
    }
    repeat.children.push_back(std::move(item));
    if (plus_repeats && !repeat.is_lazy && in_.take("+")) {
      RegexNode again{.kind = Kind::kRepeat, .n_min = 1, .n_max = kNoMaximum};
      again.children.push_back(std::move(repeat));
      if (can_be_empty(again)) return in_.unsupported("repeating what can be empty");
      repeat = std::move(again);
    }
    if (in_.looking_at("?") || in_.looking_at("*") || in_.looking_at("+") || in_.looking_at("{")) {
      return in_.unsupported("a quantifier after a quantifier");
    }
    return repeat;
  }

  /// ?, *, +, {m}, {m,}, {m,n}.
  Status counts(RegexNode& out) {
    out.n_min = 0;
    out.n_max = kNoMaximum;
    if (in_.take("?")) {
      out.n_max = 1;
    } else if (in_.take("+")) {
      out.n_min = 1;
    } else if (!in_.take("*") && in_.take("{")) {
      const std::optional<uint32_t> low = number();
      if (!low) return in_.unsupported("'{'");
      out.n_min = out.n_max = *low;
      if (in_.take(",")) out.n_max = number().value_or(kNoMaximum);
      if (!in_.take("}") || out.n_max < out.n_min || out.n_max == 0) return in_.unsupported("this count");
    }
    return {};
  }

  std::optional<uint32_t> number() {
    uint32_t value = 0;
    const size_t start = in_.pos();
    while (!in_.at_end() && in_.peek() >= '0' && in_.peek() <= '9' && value <= kMaxCount) {
      value = value * 10 + static_cast<uint32_t>(in_.peek() - '0');
      in_.advance(1);
    }
    if (start == in_.pos() || value > kMaxCount) return std::nullopt;
    return value;
  }

  /// Of a set, "as many as there are, and never fewer" is the repeat with a test that no more follows where it stops
  /// before its maximum.
  Result<RegexNode> possessive(RegexNode item, RegexNode repeat) {
    if (item.kind != Kind::kSet) return in_.unsupported("a possessive quantifier of more than one character");
    if (in_.looking_at("?") || in_.looking_at("*") || in_.looking_at("+")) {
      return in_.unsupported("a quantifier after a quantifier");
    }
    VITRO_TRY_ASSIGN(RegexNode stop, test(sets_[item.set].complement(), false, true));
    const uint32_t n_min = repeat.n_min;
    if (repeat.n_max == kNoMaximum) {
      repeat.children.push_back(std::move(item));
      return node_of(Kind::kSequence, {std::move(repeat), std::move(stop)});
    }
    if (repeat.n_max > kMaxDepth) return in_.unsupported("a possessive count this large");
    RegexNode rest;  // innermost first: nothing is tested after the last one
    for (uint32_t n = repeat.n_max; n > n_min; --n) {
      rest = node_of(Kind::kAlternatives, {node_of(Kind::kSequence, {item, std::move(rest)}), stop});
    }
    std::vector<RegexNode> out(n_min, item);
    out.push_back(std::move(rest));
    return node_of(Kind::kSequence, std::move(out));
  }

  Result<RegexNode> atom(int depth) {
    if (in_.looking_at("(")) return group(depth);
    if (in_.take("^")) return line_start();
    if (in_.take("$")) return line_end();
    if (in_.take("\\A")) return test({}, true, true);
    if (in_.take("\\z")) return test({}, false, true);
    if (in_.take("\\b")) return word_border(true);
    if (in_.take("\\B")) return word_border(false);
    VITRO_TRY_ASSIGN(CodePointSet set, classes_.single());
    return set_node(std::move(set));
  }

  Result<RegexNode> group(int depth) {
    for (const auto& [opening, is_behind, is_negated] :
         {std::tuple("(?=", false, false), std::tuple("(?!", false, true), std::tuple("(?<=", true, false),
          std::tuple("(?<!", true, true)}) {
      if (in_.take(opening)) return look(depth, is_behind, is_negated);
    }
    const bool ignored_case = classes_.ignores_case();
    if (in_.take("(?i:")) {
      classes_.set_ignores_case(true);
    } else if (!in_.take("(?:")) {
      if (in_.looking_at("(?")) return in_.unsupported("this kind of group");
      in_.take("(");
    }
    VITRO_TRY_ASSIGN(RegexNode out, alternatives(depth + 1));
    classes_.set_ignores_case(ignored_case);
    if (!in_.take(")")) return in_.unsupported("a group without ')'");
    // A sequence of its own, so that a quantifier takes the group and not a part of it.
    return node_of(Kind::kSequence, {std::move(out)});
  }

  /// (?=..), (?!..), (?<=..), (?<!..) around alternatives of one character; ahead also around tests.
  Result<RegexNode> look(int depth, bool is_behind, bool is_negated) {
    VITRO_TRY_ASSIGN(const RegexNode inner, alternatives(depth + 1));
    if (!in_.take(")")) return in_.unsupported("a group without ')'");
    CodePointSet set;
    bool at_edge = false;
    if (!add_single(inner, is_behind, set, at_edge)) {
      return in_.unsupported("look-around of anything but one character before this place, which");
    }
    return is_negated ? test(set.complement(), is_behind, !at_edge) : test(std::move(set), is_behind, at_edge);
  }

  bool add_single(const RegexNode& node, bool is_behind, CodePointSet& set, bool& at_edge) const {
    if (node.kind == Kind::kSet) {
      set = set | sets_[node.set];
      return true;
    }
    if (node.kind == Kind::kTest) {
      set = set | sets_[node.set];
      at_edge = at_edge || node.at_edge;
      return !is_behind && !node.is_behind;
    }
    if (node.children.empty() || node.kind == Kind::kRepeat) return false;
    if (node.kind == Kind::kSequence && node.children.size() > 1) return false;
    return std::all_of(node.children.begin(), node.children.end(),
                       [&](const RegexNode& child) { return add_single(child, is_behind, set, at_edge); });
  }

  Result<RegexNode> line_start() {
    VITRO_TRY_ASSIGN(RegexNode at_start, test({}, true, true));
    if (dialect_ == RegexDialect::kFancyRegex) return at_start;
    VITRO_TRY_ASSIGN(RegexNode after_newline, test({'\n', '\n'}, true, false));
    VITRO_TRY_ASSIGN(RegexNode before_text, test(CodePointSet::all(), false, false));
    return node_of(Kind::kAlternatives,
                   {std::move(at_start), node_of(Kind::kSequence, {std::move(after_newline), std::move(before_text)})});
  }

  Result<RegexNode> line_end() {
    if (dialect_ == RegexDialect::kFancyRegex) return test({}, false, true);
    return test({'\n', '\n'}, false, true);
  }

  Result<RegexNode> word_border(bool is_border) {
    const CodePointSet word = classes_.words();
    std::vector<RegexNode> ways;
    for (const bool is_word_before : {false, true}) {
      const bool is_word_after = is_word_before != is_border;
      VITRO_TRY_ASSIGN(RegexNode before, test(is_word_before ? word : word.complement(), true, !is_word_before));
      VITRO_TRY_ASSIGN(RegexNode after, test(is_word_after ? word : word.complement(), false, !is_word_after));
      ways.push_back(node_of(Kind::kSequence, {std::move(before), std::move(after)}));
    }
    return node_of(Kind::kAlternatives, std::move(ways));
  }

  Result<RegexNode> set_node(CodePointSet set) {
    RegexNode out;
    out.kind = Kind::kSet;
    VITRO_TRY_ASSIGN(out.set, place_of(std::move(set)));
    return out;
  }

  Result<RegexNode> test(CodePointSet set, bool is_behind, bool at_edge) {
    RegexNode out;
    out.kind = Kind::kTest;
    VITRO_TRY_ASSIGN(out.set, place_of(std::move(set)));
    out.is_behind = is_behind;
    out.at_edge = at_edge;
    return out;
  }

  Result<uint32_t> place_of(CodePointSet set) {
    const auto same = std::find(sets_.begin(), sets_.end(), set);
    if (same != sets_.end()) return static_cast<uint32_t>(same - sets_.begin());
    if (sets_.size() == kMaxSets) return in_.unsupported("this many different classes");
    sets_.push_back(std::move(set));
    return static_cast<uint32_t>(sets_.size() - 1);
  }

  RegexCursor in_;
  RegexDialect dialect_;
  RegexClassReader classes_;
  std::vector<CodePointSet> sets_;
  size_t n_nodes_ = 0;
};

}  // namespace

Result<Regex> parse_regex(std::string_view pattern, RegexDialect dialect) { return Parser(pattern, dialect).parse(); }

}  // namespace vitro
