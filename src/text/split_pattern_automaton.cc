// Pattern -> automaton. The tree becomes a program of sets, tests and splits; a state of the automaton is the list of
// places that wait for the next character, the preferred first, so that the order of alternatives survives. A match
// ends the list: what comes after it is less wanted. Matches and tests are seen one character late, when the next one
// is known.
#include <algorithm>
#include <bit>
#include <map>
#include <string>

#include "text/split_pattern.h"
#include "text/split_pattern_classes.h"
#include "text/split_pattern_syntax.h"

namespace vitro {
namespace {

constexpr size_t kMaxInstructions = 8192;
constexpr size_t kMaxStates = 4096;
constexpr size_t kMaxCells = size_t{1} << 19;
constexpr size_t kMaxSteps = size_t{1} << 16;  // published patterns need less than 2^12
constexpr size_t kCellsPerStep = 16;

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

}  // namespace

class AutomatonBuilder {
 public:
  AutomatonBuilder(const Program& program, CharacterClasses classes)
      : program_(program), classes_(std::move(classes)), seen_(program.code().size()), arrived_(program.code().size()) {
    end_class_ = classes_.n;
    for (size_t i = 0; i <= end_class_; ++i) all_.set(i);
    befores_ = {all_};
    for (const Instruction& i : program.code()) {
      if (i.kind == Instruction::Kind::kTest && i.is_behind) split(befores_, accepted(i));
    }
  }

  Result<SplitPattern> build() {
    out_.end_class_ = end_class_;
    out_.class_bits_ = static_cast<size_t>(std::bit_width(end_class_));
    add_state({});  // the dead one
    out_.starts_.resize(end_class_ + 1);
    for (size_t before = 0; before < befores_.size(); ++before) {
      const size_t start = add_state({{program_.start()}, before});
      fill(out_.starts_.data(), befores_[before], start);
    }
    for (size_t state = 0; state < states_.size(); ++state) VITRO_TRY(fill_row(state));
    fill_pages();
    return std::move(out_);
  }

 private:
  struct State {
    std::vector<uint32_t> places;
    size_t before = 0;  ///< of befores_: of which the character before was
    friend bool operator<(const State& a, const State& b) {
      return a.before != b.before ? a.before < b.before : a.places < b.places;
    }
  };
  struct Arrival {
    ClassBits classes;
    uint32_t place = 0;
  };

  /// Counts work as it is done, and says whether there may be more of it: one row alone can need too much.
  bool spend(size_t n_steps) {
    n_steps_ += n_steps;
    return n_steps_ <= kMaxSteps;
  }

  /// Divides each part into what is in the set and what is not.
  void split(std::vector<ClassBits>& parts, const ClassBits& set) {
    if (!spend(parts.size())) return;
    for (size_t i = parts.size(); i-- > 0;) {
      const ClassBits inside = parts[i] & set;
      if (inside.none() || inside == parts[i]) continue;
      parts[i] &= ~set;
      parts.push_back(inside);
    }
  }

  void fill(SplitPattern::Entry* row, const ClassBits& classes, size_t entry) const {
    for (size_t i = 0; i <= end_class_; ++i) {
      if (classes[i]) row[i] = static_cast<SplitPattern::Entry>(entry);
    }
  }

  size_t add_state(State state) {
    if (state.places.empty()) state.before = 0;
    const auto [place, is_new] = numbers_.try_emplace(std::move(state), states_.size());
    if (is_new) states_.push_back(&place->first);
    return place->second;
  }

  /// Classes that the state does not tell apart share their entry. What is left undone when the steps are spent is
  /// never seen.
  Status fill_row(size_t state) {
    const size_t n_columns = size_t{1} << out_.class_bits_;
    if (states_.size() > kMaxStates || states_.size() * n_columns > kMaxCells) return too_large("too many states");
    out_.table_.resize((state + 1) * n_columns);
    const ClassBits matched = follow(*states_[state]);
    std::vector<ClassBits> parts = befores_;
    split(parts, matched);
    for (const Arrival& arrival : arrivals_) split(parts, arrival.classes);
    for (const ClassBits& part : parts) {
      if (!spend(arrivals_.size() + n_columns / kCellsPerStep)) return too_large("too much work to be compiled");
      const size_t target = add_state(target_of(part));
      fill(&out_.table_[state * n_columns], part, 2 * target + ((part & matched).any() ? 1 : 0));
    }
    return {};
  }

  State target_of(const ClassBits& part) const {
    State out;
    for (const Arrival& arrival : arrivals_) {
      if ((arrival.classes & part).any()) out.places.push_back(arrival.place);
    }
    while ((befores_[out.before] & part).none()) ++out.before;
    return out;
  }

  /// Follows all places in order of preference up to the character that comes next, for all its classes at once.
  /// Notes in arrivals_ which classes lead where; returns those before which a match ends. Stops when the steps are
  /// spent.
  ClassBits follow(const State& from) {
    forget_last();
    ClassBits matched;
    std::vector<Arrival> stack;
    for (const uint32_t place : from.places) {
      stack.push_back({all_, place});
      while (!stack.empty()) {
        if (!spend(1)) return matched;
        auto [classes, at] = stack.back();
        stack.pop_back();
        classes &= ~(seen_[at] | matched);
        if (classes.none()) continue;
        seen_[at] |= classes;
        visits_.push_back(at);
        const Instruction& instruction = program_.code()[at];
        switch (instruction.kind) {
          case Instruction::Kind::kMatch:
            matched |= classes;
            break;
          case Instruction::Kind::kSplit:
            stack.push_back({classes, instruction.other});
            stack.push_back({classes, instruction.next});
            break;
          case Instruction::Kind::kTest:
            if (!instruction.is_behind) classes &= accepted(instruction);
            if (!instruction.is_behind || (befores_[from.before] & accepted(instruction)).any()) {
              stack.push_back({classes, instruction.next});
            }
            break;
          case Instruction::Kind::kSet:
            arrive(classes & accepted(instruction), instruction.next);
            break;
        }
      }
    }
    return matched;
  }

  void forget_last() {
    for (const uint32_t at : visits_) seen_[at].reset();
    for (const Arrival& arrival : arrivals_) arrived_[arrival.place].reset();
    visits_.clear();
    arrivals_.clear();
  }

  ClassBits accepted(const Instruction& instruction) const {
    ClassBits out = classes_.members[instruction.set];
    out[end_class_] = instruction.at_edge;
    return out;
  }

  void arrive(ClassBits classes, uint32_t place) {
    classes &= ~arrived_[place];
    if (classes.none()) return;
    arrived_[place] |= classes;
    arrivals_.push_back({classes, place});
  }

  void fill_pages() {
    out_.page_of_ = std::move(classes_.page_of);
    out_.pages_ = std::move(classes_.pages);
    for (size_t code = 0; code < out_.ascii_.size(); ++code) {
      out_.ascii_[code] = static_cast<uint8_t>(out_.class_of(static_cast<char32_t>(code)));
    }
  }

  const Program& program_;
  CharacterClasses classes_;
  size_t end_class_ = 0;            ///< stands for the beginning or end of the text
  ClassBits all_;                   ///< end_class_ too
  std::vector<ClassBits> befores_;  ///< classes before a place that no test behind it tells apart
  std::map<State, size_t> numbers_;
  std::vector<const State*> states_;
  size_t n_steps_ = 0;
  // Of the state that is followed.
  std::vector<ClassBits> seen_;     ///< [instruction]
  std::vector<ClassBits> arrived_;  ///< [instruction]
  std::vector<uint32_t> visits_;    ///< where seen_ is not empty
  std::vector<Arrival> arrivals_;
  SplitPattern out_;
};

Result<SplitPattern> SplitPattern::compile(std::string_view regex, RegexDialect dialect) {
  VITRO_TRY_ASSIGN(const Regex parsed, parse_regex(regex, dialect));
  VITRO_TRY_ASSIGN(const Program program, Program::make(parsed.root));
  VITRO_TRY_ASSIGN(CharacterClasses classes, classify(parsed.sets));
  return AutomatonBuilder(program, std::move(classes)).build();
}

}  // namespace vitro
