// The steps that turn a text into words before a tokenizer's model sees it: normalisers and pre-tokenizers. Each is
// plain data; the components that tokenizer files name (NFC, Replace, Metaspace, ByteLevel, Digits, Split ...) are
// lists of these four.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "text/aligned_text.h"
#include "text/byte_range.h"
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

struct NfcStep {};
/// Every occurrence of `pattern` becomes `content`, which stands for the last character of the occurrence.
struct ReplaceStep {
  std::string pattern;
  std::string content;
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
using TextStep = std::variant<NfcStep, ReplaceStep, PrependStep, SplitStep>;

/// Applies one step to all pieces. Unsupported as SplitPattern::find_all.
Status apply_step(const TextStep& step, PieceList& list);
Status apply_steps(const std::vector<TextStep>& steps, PieceList& list);

}  // namespace vitro
