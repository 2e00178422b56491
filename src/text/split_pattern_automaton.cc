// Pattern -> automaton. The tree becomes a program of sets, tests and splits; a state of the automaton is the list of
// places that wait for the next character, the preferred first, so that the order of alternatives survives. A match
// ends the list: what comes after it is less wanted. Matches and tests are seen one character late, when the next one
// is known.
#include <algorithm>
#include <bit>
#include <map>
#include <string>

#include "text/split_pattern.h"
#include "text/split_pattern_syntax.h"

namespace vitro {
namespace {

constexpr size_t kMaxInstructions = 8192;
constexpr size_t kMaxStates = 4096;
constexpr size_t kMaxCells = size_t{1} << 19;
constexpr size_t kMaxWork = size_t{1} << 22;  // visits of instructions; published patterns need less than 2^17

struct Instruction {
  enum class Kind : uint8_t { kSet, kTest, kSplit, kMatch };
  Kind kind = Kind::kMatch;
  bool is_behind = false;
  bool at_edge = false;
  uint32_t set = 0;
  uint32_t next = 0;
  uint32_t other = 0;  ///< kSplit: taken if nothing comes of next
};

tl::unexpected<Error> too_large(std::string_view what) {
  return fail(ErrorCode::kUnsupported, "[split pattern] the pattern needs {}", what);
}

/// Built from the end: emit(node, next) gives the place where node begins if `next` follows it.
class Program {
 public:
  static Result<Program> make(const RegexNode& root) {
    Program out;
    const uint32_t match = out.add({});
    out.start_ = out.emit(root, match);
    if (out.is_too_large_) return too_large("more than 8192 instructions");
    return out;
  }
  uint32_t start() const { return start_; }
  const std::vector<Instruction>& code() const { return code_; }

 private:
  using Kind = Instruction::Kind;

  uint32_t add(const Instruction& instruction) {
    if (code_.size() < kMaxInstructions) {
      code_.push_back(instruction);
    } else {
      is_too_large_ = true;
    }
    return static_cast<uint32_t>(code_.size() - 1);
  }

  uint32_t emit(const RegexNode& node, uint32_t next) {
    if (is_too_large_) return next;
    switch (node.kind) {
      case RegexNode::Kind::kSet:
        return add({.kind = Kind::kSet, .set = node.set, .next = next});
      case RegexNode::Kind::kTest:
        return add({Kind::kTest, node.is_behind, node.at_edge, node.set, next});
      case RegexNode::Kind::kSequence:
        for (size_t i = node.children.size(); i-- > 0;) next = emit(node.children[i], next);
        return next;
      case RegexNode::Kind::kAlternatives:
        return emit_alternatives(node, next);
      case RegexNode::Kind::kRepeat:
        return emit_repeat(node, next);
    }
    return next;
  }

  uint32_t emit_alternatives(const RegexNode& node, uint32_t next) {
    uint32_t place = emit(node.children.back(), next);
    for (size_t i = node.children.size() - 1; i-- > 0;) {
      const uint32_t preferred = emit(node.children[i], next);
      place = add({.kind = Kind::kSplit, .next = preferred, .other = place});
    }
    return place;
  }

  uint32_t emit_repeat(const RegexNode& node, uint32_t next) {
    const RegexNode& child = node.children[0];
    uint32_t place = next;
    if (node.n_max == kNoMaximum) {
      const uint32_t loop = add({.kind = Kind::kSplit});
      connect(loop, emit(child, loop), next, node.is_lazy);
      place = loop;
    } else {
      for (uint32_t n = node.n_min; n < node.n_max && !is_too_large_; ++n) {
        const uint32_t split = add({.kind = Kind::kSplit});
        connect(split, emit(child, place), next, node.is_lazy);
        place = split;
      }
    }
    for (uint32_t n = 0; n < node.n_min && !is_too_large_; ++n) place = emit(child, place);
    return place;
  }

  void connect(uint32_t split, uint32_t again, uint32_t leave, bool is_lazy) {
    code_[split].next = is_lazy ? leave : again;
    code_[split].other = is_lazy ? again : leave;
  }

  std::vector<Instruction> code_;
  uint32_t start_ = 0;
  bool is_too_large_ = false;
};

/// Code points that no set of the pattern tells apart form a class.
struct Classes {
  std::vector<std::vector<bool>> has;                         ///< [class][set]
  std::vector<std::pair<CodePointSet::Range, uint8_t>> runs;  ///< all code points, ascending, with their class
};

Result<Classes> classify(const std::vector<CodePointSet>& sets) {
  std::vector<std::pair<char32_t, uint32_t>> changes;  // where a set begins or ends
  for (uint32_t i = 0; i < sets.size(); ++i) {
    for (const auto& [first, last] : sets[i].ranges()) {
      changes.emplace_back(first, i);
      changes.emplace_back(last + 1, i);
    }
  }
  std::sort(changes.begin(), changes.end());
  Classes out;
  std::map<std::vector<bool>, uint8_t> known;
  std::vector<bool> has(sets.size());
  size_t next = 0;
  for (char32_t first = 0; first <= CodePointSet::kLast;) {
    for (; next < changes.size() && changes[next].first == first; ++next) has[changes[next].second].flip();
    const char32_t end = next < changes.size() ? changes[next].first : CodePointSet::kLast + 1;
    const auto [place, is_new] = known.try_emplace(has, static_cast<uint8_t>(known.size()));
    if (is_new && known.size() > 250) return too_large("more than 250 classes of characters");
    if (is_new) out.has.push_back(has);
    out.runs.push_back({{first, end - 1}, place->second});
    first = end;
  }
  return out;
}

}  // namespace

class AutomatonBuilder {
 public:
  AutomatonBuilder(const Program& program, Classes classes)
      : program_(program), classes_(std::move(classes)), seen_(program.code().size()) {
    no_class_ = classes_.has.size();
    has_tests_behind_ = std::any_of(program.code().begin(), program.code().end(), [](const Instruction& i) {
      return i.kind == Instruction::Kind::kTest && i.is_behind;
    });
  }

  Result<SplitPattern> build() {
    out_.end_class_ = no_class_;
    out_.class_bits_ = static_cast<size_t>(std::bit_width(no_class_));
    add_state({});  // the dead one
    for (size_t before = 0; before <= no_class_; ++before) {
      out_.starts_.push_back(static_cast<SplitPattern::Entry>(add_state({{program_.start()}, seen_behind(before)})));
    }
    for (size_t state = 1; state < states_.size(); ++state) VITRO_TRY(fill_row(state));
    fill_row_of_dead();
    fill_pages();
    return std::move(out_);
  }

 private:
  struct State {
    std::vector<uint32_t> places;
    size_t before = 0;  ///< class of the character before; 0 where no test looks behind
    friend bool operator<(const State& a, const State& b) {
      return a.before != b.before ? a.before < b.before : a.places < b.places;
    }
  };

  size_t seen_behind(size_t before) const { return has_tests_behind_ ? before : 0; }

  size_t add_state(State state) {
    if (state.places.empty()) state.before = 0;
    const auto [place, is_new] = numbers_.try_emplace(std::move(state), states_.size());
    if (is_new) states_.push_back(&place->first);
    return place->second;
  }

  Status fill_row(size_t state) {
    const size_t n_columns = size_t{1} << out_.class_bits_;
    if (states_.size() > kMaxStates || states_.size() * n_columns > kMaxCells) return too_large("too many states");
    out_.table_.resize((state + 1) * n_columns);
    for (size_t next = 0; next <= no_class_; ++next) {
      State target{{}, seen_behind(next)};
      const bool is_match = step(*states_[state], next, target);
      if (n_visits_ > kMaxWork) return too_large("too much work to be compiled");
      const size_t number = add_state(std::move(target));
      out_.table_[state * n_columns + next] = static_cast<SplitPattern::Entry>(2 * number + (is_match ? 1 : 0));
    }
    return {};
  }

  void fill_row_of_dead() {
    if (out_.table_.empty()) out_.table_.resize(size_t{1} << out_.class_bits_);
  }

  /// Follows all places in order of preference up to the character that comes next. True if a match ends before it.
  bool step(const State& from, size_t next, State& target) {
    std::fill(seen_.begin(), seen_.end(), false);
    std::vector<uint32_t> stack;
    for (const uint32_t place : from.places) {
      stack.push_back(place);
      while (!stack.empty()) {
        const uint32_t at = stack.back();
        stack.pop_back();
        if (seen_[at]) continue;
        seen_[at] = true;
        ++n_visits_;
        const Instruction& instruction = program_.code()[at];
        switch (instruction.kind) {
          case Instruction::Kind::kMatch:
            return true;
          case Instruction::Kind::kSplit:
            stack.push_back(instruction.other);
            stack.push_back(instruction.next);
            break;
          case Instruction::Kind::kTest:
            if (holds(instruction, instruction.is_behind ? from.before : next)) stack.push_back(instruction.next);
            break;
          case Instruction::Kind::kSet:
            if (next != no_class_ && classes_.has[next][instruction.set]) add_place(target, instruction.next);
            break;
        }
      }
    }
    return false;
  }

  bool holds(const Instruction& test, size_t neighbour) const {
    return neighbour == no_class_ ? test.at_edge : classes_.has[neighbour][test.set];
  }

  void add_place(State& target, uint32_t place) {
    if (std::find(target.places.begin(), target.places.end(), place) == target.places.end()) {
      target.places.push_back(place);
    }
    n_visits_ += target.places.size() / 8;
  }

  /// Two stages: pages of classes, each kept once.
  void fill_pages() {
    constexpr size_t kPage = size_t{1} << SplitPattern::kPageBits;
    std::string page(kPage, '\0');
    size_t run = 0;
    for (char32_t first = 0; first <= CodePointSet::kLast;) {
      while (classes_.runs[run].first.second < first) ++run;
      size_t n_same = (classes_.runs[run].first.second + 1 - first) / kPage;  // pages of one class
      if (n_same == 0) {
        fill_page(first, run, page);
        n_same = 1;
      } else {
        std::fill(page.begin(), page.end(), static_cast<char>(classes_.runs[run].second));
      }
      add_pages(page, n_same);
      first += static_cast<char32_t>(n_same * kPage);
    }
    for (size_t code = 0; code < out_.ascii_.size(); ++code) {
      out_.ascii_[code] = static_cast<uint8_t>(out_.class_of(static_cast<char32_t>(code)));
    }
  }

  void fill_page(char32_t first, size_t run, std::string& page) const {
    for (size_t i = 0; i < page.size(); ++i) {
      while (classes_.runs[run].first.second < first + i) ++run;
      page[i] = static_cast<char>(classes_.runs[run].second);
    }
  }

  void add_pages(const std::string& page, size_t n_pages) {
    const auto [place, is_new] = pages_.try_emplace(page, static_cast<uint16_t>(pages_.size()));
    if (is_new) out_.pages_.insert(out_.pages_.end(), page.begin(), page.end());
    out_.page_of_.insert(out_.page_of_.end(), n_pages, place->second);
  }

  const Program& program_;
  Classes classes_;
  std::vector<bool> seen_;
  size_t no_class_ = 0;  ///< the beginning or end of the text
  bool has_tests_behind_ = false;
  size_t n_visits_ = 0;
  std::map<State, size_t> numbers_;
  std::vector<const State*> states_;
  std::map<std::string, uint16_t> pages_;
  SplitPattern out_;
};

Result<SplitPattern> SplitPattern::compile(std::string_view regex, RegexDialect dialect) {
  VITRO_TRY_ASSIGN(const Regex parsed, parse_regex(regex, dialect));
  VITRO_TRY_ASSIGN(const Program program, Program::make(parsed.root));
  VITRO_TRY_ASSIGN(Classes classes, classify(parsed.sets));
  return AutomatonBuilder(program, std::move(classes)).build();
}

}  // namespace vitro
