// Look-ups in the generated tables: three stages for categories, binary search for the rarer facts of composition.
#include "text/unicode.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace vitro {
namespace {

struct ClassRun {
  uint32_t first;
  uint32_t last;
  uint8_t combining_class;
};
struct Decomposition {
  uint32_t code;
  uint32_t first;
  uint32_t second;
};

#include "text/unicode_tables.inc"

constexpr std::string_view kCategoryNames = "LuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCsCoCn";

// Hangul syllables are composed by arithmetic (Unicode Standard, section 3.12).
constexpr char32_t kSyllableBase = 0xAC00, kLeadBase = 0x1100, kVowelBase = 0x1161, kTailBase = 0x11A7;
constexpr char32_t kLeadCount = 19, kVowelCount = 21, kTailCount = 28,
                   kSyllableCount = kLeadCount * kVowelCount * kTailCount;

char32_t compose_hangul(char32_t first, char32_t second) {
  if (first - kLeadBase < kLeadCount && second - kVowelBase < kVowelCount) {
    return kSyllableBase + ((first - kLeadBase) * kVowelCount + (second - kVowelBase)) * kTailCount;
  }
  const bool is_open = first - kSyllableBase < kSyllableCount && (first - kSyllableBase) % kTailCount == 0;
  if (is_open && second > kTailBase && second - kTailBase < kTailCount) return first + (second - kTailBase);
  return 0;
}

std::array<char32_t, 2> decompose_hangul(char32_t code) {
  const char32_t idx = code - kSyllableBase;
  const char32_t tail = idx % kTailCount;
  if (tail != 0) return {code - tail, kTailBase + tail};
  return {kLeadBase + idx / (kVowelCount * kTailCount), kVowelBase + idx / kTailCount % kVowelCount};
}

}  // namespace

Category category_of(char32_t code) {
  if (code > 0x10FFFF) return Category::kCn;
  const uint32_t block = code >> kBlockBits;
  const uint8_t shelf = kShelfOf[block >> kShelfBits];
  const char* letters = kBlocks[kBlockOf[shelf][block & ((1U << kShelfBits) - 1)]];
  const char letter = letters[code & ((1U << kBlockBits) - 1)];
  return static_cast<Category>(letter >= 'a' ? letter - 'a' + 26 : letter - 'A');
}

bool is_white_space(char32_t code) {
  if (code < 0x80) return code == ' ' || (code >= 0x09 && code <= 0x0D);
  if (code == 0x85) return true;
  const Category category = category_of(code);
  return category == Category::kZs || category == Category::kZl || category == Category::kZp;
}

PropertyMask properties_of(char32_t code) {
  const PropertyMask mask = PropertyMask{1} << static_cast<int>(category_of(code));
  return is_white_space(code) ? mask | kWhiteSpaceBit : mask;
}

std::optional<PropertyMask> category_mask(std::string_view name) {
  if (name.empty() || name.size() > 2) return std::nullopt;
  PropertyMask mask = 0;
  for (int i = 0; i < kCategoryCount; ++i) {
    const std::string_view category = kCategoryNames.substr(2 * static_cast<size_t>(i), 2);
    if (category.substr(0, name.size()) == name) mask |= PropertyMask{1} << i;
  }
  return mask == 0 ? std::nullopt : std::optional(mask);
}

bool is_word_character(char32_t code) {
  if (code == 0x200C || code == 0x200D) return true;
  // The letters in circles and squares are symbols that have the property Alphabetic.
  const bool is_circled = (code >= 0x24B6 && code <= 0x24E9) || (code >= 0x1F130 && code <= 0x1F149) ||
                          (code >= 0x1F150 && code <= 0x1F169) || (code >= 0x1F170 && code <= 0x1F189);
  if (is_circled) return true;
  switch (category_of(code)) {
    case Category::kLu:
    case Category::kLl:
    case Category::kLt:
    case Category::kLm:
    case Category::kLo:
    case Category::kMn:
    case Category::kMc:
    case Category::kMe:
    case Category::kNd:
    case Category::kNl:
    case Category::kPc:
      return true;
    default:
      return false;
  }
}

int combining_class(char32_t code) {
  const auto* run = std::upper_bound(std::begin(kClassRuns), std::end(kClassRuns), code,
                                     [](char32_t value, const ClassRun& item) { return value < item.first; });
  if (run == std::begin(kClassRuns)) return 0;
  --run;
  return code <= run->last ? run->combining_class : 0;
}

std::optional<std::array<char32_t, 2>> decompose_once(char32_t code) {
  if (code - kSyllableBase < kSyllableCount) return decompose_hangul(code);
  const auto* entry = std::lower_bound(std::begin(kDecompositions), std::end(kDecompositions), code,
                                       [](const Decomposition& item, char32_t value) { return item.code < value; });
  if (entry == std::end(kDecompositions) || entry->code != code) return std::nullopt;
  return std::array<char32_t, 2>{entry->first, entry->second};
}

char32_t compose_pair(char32_t first, char32_t second) {
  if (const char32_t syllable = compose_hangul(first, second)) return syllable;
  const std::pair<uint32_t, uint32_t> wanted(first, second);
  const auto parts_of = [](uint16_t idx) { return std::pair(kDecompositions[idx].first, kDecompositions[idx].second); };
  const auto* idx = std::lower_bound(std::begin(kCompositions), std::end(kCompositions), wanted,
                                     [&](uint16_t item, const auto& value) { return parts_of(item) < value; });
  if (idx == std::end(kCompositions) || parts_of(*idx) != wanted) return 0;
  return kDecompositions[*idx].code;
}

}  // namespace vitro
