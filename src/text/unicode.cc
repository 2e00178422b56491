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

static_assert(kBlockBits == kCategoryBlockBits && kBlockBits + kShelfBits == kCategoryShelfBits);
constexpr size_t kBlockSize = size_t{1} << kBlockBits;

constexpr Category category_of_letter(char letter) { return static_cast<Category>(letter - '`'); }

constexpr auto kBlockCategories = [] {
  std::array<CategoryMask, std::size(kBlocks)> out{};
  for (size_t block = 0; block < out.size(); ++block) {
    for (size_t i = 0; i < kBlockSize; ++i) out[block] |= bit_of(category_of_letter(kBlocks[block][i]));
  }
  return out;
}();

using Range = std::pair<char32_t, char32_t>;
constexpr Range kControlSpaces[] = {{0x09, 0x0D}, {0x85, 0x85}};
// Join control, and the letters in circles and squares: symbols that have the property Alphabetic.
constexpr Range kOtherWords[] = {
    {0x200C, 0x200D}, {0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};

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

bool has_property(char32_t code, const CodePointProperty& property) {
  if ((bit_of(category_of(code)) & property.categories) != 0) return true;
  return std::any_of(property.others.begin(), property.others.end(),
                     [&](const Range& range) { return code >= range.first && code <= range.second; });
}

}  // namespace

size_t category_shelf(char32_t code) { return kShelfOf[code >> (kBlockBits + kShelfBits)]; }

size_t category_block(char32_t code) {
  return kBlockOf[category_shelf(code)][(code >> kBlockBits) & ((1U << kShelfBits) - 1)];
}

size_t n_category_shelves() { return std::size(kBlockOf); }

size_t n_category_blocks() { return kBlockCategories.size(); }

Category category_in_block(size_t number, size_t idx) { return category_of_letter(kBlocks[number][idx]); }

CategoryMask categories_in_block(size_t number) { return kBlockCategories[number]; }

Category category_of(char32_t code) {
  if (code > 0x10FFFF) return Category::kCn;
  return category_in_block(category_block(code), code & (kBlockSize - 1));
}

CodePointProperty white_space() {
  return {bit_of(Category::kZs) | bit_of(Category::kZl) | bit_of(Category::kZp), kControlSpaces};
}

CodePointProperty word_characters() {
  constexpr CategoryMask kLetters = bit_of(Category::kLu) | bit_of(Category::kLl) | bit_of(Category::kLt) |
                                    bit_of(Category::kLm) | bit_of(Category::kLo);
  constexpr CategoryMask kMarks = bit_of(Category::kMn) | bit_of(Category::kMc) | bit_of(Category::kMe);
  constexpr CategoryMask kNumbers = bit_of(Category::kNd) | bit_of(Category::kNl);
  return {kLetters | kMarks | kNumbers | bit_of(Category::kPc), kOtherWords};
}

bool is_white_space(char32_t code) {
  if (code < 0x80) return code == ' ' || (code >= 0x09 && code <= 0x0D);
  return has_property(code, white_space());
}

bool is_word_character(char32_t code) { return has_property(code, word_characters()); }

std::optional<CategoryMask> category_mask(std::string_view name) {
  if (name.empty() || name.size() > 2) return std::nullopt;
  CategoryMask mask = 0;
  for (int i = 0; i < kCategoryCount; ++i) {
    const std::string_view category = kCategoryNames.substr(2 * static_cast<size_t>(i), 2);
    if (category.substr(0, name.size()) == name) mask |= CategoryMask{1} << i;
  }
  return mask == 0 ? std::nullopt : std::optional(mask);
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
