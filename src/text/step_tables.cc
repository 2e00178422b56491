// Binary searches in the generated tables. What is frequent (ASCII) is answered before.
#include "text/step_tables.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace vitro {
namespace {

struct CodeRange {
  uint32_t first;
  uint32_t last;
};
struct CaseRun {
  uint32_t first;
  uint32_t last;
  uint8_t step;
  int32_t difference;
};
struct CompatibleRun {
  uint32_t first;
  uint16_t count;
  uint8_t length;
  uint16_t at;
};
struct ValueRun {
  uint32_t first;
  uint32_t last;
  uint8_t value;
};

#include "text/step_tables.inc"

/// The last entry that starts at the code point or before; null if there is none.
template <class Run>
const Run* last_from(std::span<const Run> runs, char32_t code) {
  const auto it = std::upper_bound(runs.begin(), runs.end(), code,
                                   [](char32_t value, const Run& item) { return value < item.first; });
  return it == runs.begin() ? nullptr : &*std::prev(it);
}

bool is_within(std::span<const CodeRange> runs, char32_t code) {
  const CodeRange* run = last_from(runs, code);
  return run != nullptr && code <= run->last;
}

uint8_t value_in(std::span<const ValueRun> runs, char32_t code) {
  const ValueRun* run = last_from(runs, code);
  return run != nullptr && code <= run->last ? run->value : 0;
}

}  // namespace

bool is_in(CodeSet set, char32_t code) {
  switch (set) {
    case CodeSet::kPunctuation:
      return is_within(kPunctuation, code);
    case CodeSet::kNumeric:
      return is_within(kNumeric, code);
    case CodeSet::kMarks:
      return is_within(kMarks, code);
    case CodeSet::kNonspacing:
      return is_within(kNonspacing, code);
    case CodeSet::kUnclean:
      return is_within(kUnclean, code);
  }
  return false;
}

char32_t lower_case(char32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
  if (code == 0x130) return 'i';
  const CaseRun* run = last_from<CaseRun>(kLowerCase, code);
  if (run == nullptr || code > run->last || (code - run->first) % run->step != 0) return code;
  return static_cast<char32_t>(static_cast<int32_t>(code) + run->difference);
}

std::u32string_view decompose_compatible(char32_t code) {
  if (code < 0xA0) return {};
  const CompatibleRun* run = last_from<CompatibleRun>(kCompatible, code);
  if (run == nullptr || code - run->first >= run->count) return {};
  return {kCompatiblePool + run->at + (code - run->first) * run->length, run->length};
}

bool is_stable(char32_t code, NormalForm form) {
  if (code < 0xA0) return true;
  switch (form) {
    case NormalForm::kNfc:
      return code < 0x300 || !is_within(kUnstableNfc, code);
    case NormalForm::kNfd:
      return !is_within(kUnstableNfd, code);
    case NormalForm::kNfkc:
      return !is_within(kUnstableNfkc, code);
    case NormalForm::kNfkd:
      return !is_within(kUnstableNfkd, code);
  }
  return false;
}

uint8_t script_of(char32_t code) { return value_in(kScripts, code); }

uint8_t grapheme_kind(char32_t code) { return value_in(kGraphemeKinds, code); }

}  // namespace vitro
