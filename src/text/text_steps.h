// The steps that turn a text into words before a tokenizer's model sees it: normalisers and pre-tokenizers. Each is
// plain data; the components that tokenizer files name (NFC, Replace, Metaspace, ByteLevel, Digits, Split ...) are
// lists of these.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "text/aligned_text.h"
#include "text/byte_range.h"
#include "text/normalize.h"
#include "text/precompiled_charsmap.h"
#include "text/sentencepiece_normalizer.h"
#include "text/split_pattern.h"

namespace vitro {

/// A stretch of text and the pieces it was cut into so far (one piece at first).
struct PieceList {
  AlignedText text;
  std::vector<ByteRange> pieces;  ///< not empty ranges, ascending; bytes between them are dropped
  static PieceList whole(AlignedText text);
};

/// What happens to the matches of a pattern, as the reference tokenizers name it.
enum class SplitBehavior : uint8_t { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

/// The longest text that steps may work on. Later stages keep up to fifty bytes for each byte of it and count in 32
/// bits.
inline constexpr size_t kMaxTextBytes = size_t{64} << 20;

/// How many bytes one job may still add to its texts. Steps come out of files, and a few that replace "a" by "aa" would
/// fill any memory; what real files do (a mark of three bytes for each space) is far below.
class TextBudget {
 public:
  /// 16 bytes for each of the job's and 1 MiB, at most 256 MiB.
  explicit TextBudget(size_t n_bytes)
      : n_left_(n_bytes < kMost / kPerByte ? std::min(kPerByte * n_bytes + kFree, kMost) : kMost) {}

  /// The longest that a text of n bytes may become.
  size_t longest(size_t n_bytes) const { return std::min(n_bytes + n_left_, std::max(n_bytes, kMaxTextBytes)); }
  /// A text of n_before bytes has become one of n_after, at most longest(n_before).
  void charge(size_t n_before, size_t n_after) { n_left_ -= n_after > n_before ? n_after - n_before : 0; }

 private:
  static constexpr size_t kPerByte = 16;
  static constexpr size_t kFree = size_t{1} << 20;
  static constexpr size_t kMost = size_t{256} << 20;
  size_t n_left_;
};

struct NormalFormStep {
  NormalForm form = NormalForm::kNfc;
};
/// What becomes of each character for itself.
enum class CharacterMap : uint8_t {
  kLowercase,
  kRemoveMarks,         ///< StripAccents
  kRemoveNonspacing,    ///< BertNormalizer, after NFD
  kClean,               ///< BertNormalizer: no controls, every white space a space
  kSpaceAroundChinese,  ///< BertNormalizer
  kNmt,                 ///< the rules of the normalizer of that name
};
struct CharacterMapStep {
  CharacterMap map = CharacterMap::kLowercase;
};
/// White space at the ends of each piece goes.
struct StripStep {
  bool strips_left = true;
  bool strips_right = true;
};
/// Every occurrence of `pattern` becomes `content`, which stands for the last character of the occurrence.
struct ReplaceStep {
  std::string pattern;
  std::string content;
};
/// The same for the matches of a pattern.
struct ReplacePatternStep {
  SplitPattern pattern;
  std::string content;
};
/// SentencePiece's table of rules as `tokenizers` applies it: a cluster of less than six bytes becomes what the
/// shortest rule at its start says; else each character what the shortest rule at its own start says.
struct PrecompiledStep {
  PrecompiledCharsmap charsmap;
};
/// `prefix` goes before each piece and stands for its first character. With unless_present not before a piece that
/// starts with it; with at_start_only not before pieces that do not start the original text.
struct PrependStep {
  std::string prefix;
  bool unless_present = false;
  bool at_start_only = false;
};
struct SplitStep {
  SplitPattern pattern;
  SplitBehavior behavior = SplitBehavior::kIsolated;
  bool is_inverted = false;  ///< what does not match counts as the match
};
/// The matches are single characters.
enum class CharacterTest : uint8_t { kWhiteSpace, kPunctuation, kNumeric, kDelimiter };
struct CharacterSplitStep {
  CharacterTest test = CharacterTest::kWhiteSpace;
  SplitBehavior behavior = SplitBehavior::kRemoved;
  char32_t delimiter = 0;  ///< of kDelimiter
};
/// Runs of word characters, and runs of what is neither that nor white space.
struct WordSplitStep {};
/// A cut where the script changes. Spaces and characters without a script belong to what is before them; at the start
/// they are dropped.
struct ScriptSplitStep {};
/// Pieces of n_characters; the last may be shorter.
struct LengthSplitStep {
  size_t n_characters = 1;  ///< > 0
};
/// Every byte becomes its character in the alphabet of byte_level.h and stands for the character it came from.
struct ByteLevelStep {};
/// All that SentencePiece does before its model sees the text. A byte stands for what lies between its origin and the
/// next byte's.
struct SentencePieceStep {
  SentencePieceNormalizer normalizer;
};
using TextStep = std::variant<NormalFormStep, CharacterMapStep, StripStep, ReplaceStep, ReplacePatternStep,
                              PrecompiledStep, PrependStep, SplitStep, CharacterSplitStep, WordSplitStep,
                              ScriptSplitStep, LengthSplitStep, ByteLevelStep, SentencePieceStep>;

/// Applies one step to all pieces. Unsupported as SplitPattern::find_all, and if the text grows beyond the budget or
/// kMaxTextBytes.
Status apply_step(const TextStep& step, PieceList& list, TextBudget& budget);
Status apply_steps(const std::vector<TextStep>& steps, PieceList& list, TextBudget& budget);

}  // namespace vitro
