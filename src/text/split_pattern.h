// SplitPattern: the regular expressions with which tokenizers cut text into words, as a table-driven automaton.
//
// Semantics are leftmost-first, as of a matcher that backtracks, but each character is looked at once: the pattern is
// compiled into a deterministic automaton over classes of characters whose states are lists of places in the pattern,
// the preferred first. Tests look at one character ahead or behind. Texts on which matches are looked for in vain
// again and again are read once more from the end, so that time is linear in the text for any pattern.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/byte_range.h"
#include "text/unicode.h"

namespace vitro {

/// Whose reading of the notation: they differ in {m,n}+ (there possessive, here repeated), $ and ^ (here at lines), \w.
enum class RegexDialect : uint8_t {
  kOniguruma,   ///< tokenizer.json
  kFancyRegex,  ///< tiktoken
};

class SplitPattern {
 public:
  /// Unsupported: names what is not understood and where it stands, or that the automaton would be too large.
  static Result<SplitPattern> compile(std::string_view regex, RegexDialect dialect = RegexDialect::kOniguruma);
  /// Matches exactly this text.
  static SplitPattern literal(std::string_view text);

  /// All matches from left to right, not overlapping, none empty. `text` is valid UTF-8. Unsupported if the text is too
  /// long for the work that a pattern with many states needs.
  Result<std::vector<ByteRange>> find_all(std::string_view text) const;

 private:
  friend class AutomatonBuilder;
  friend class SplitMatcher;
  using Entry = uint16_t;  ///< next state * 2 + whether a match ends before the character
  static constexpr size_t kPageBits = kCategoryBlockBits;

  SplitPattern() = default;
  size_t class_of(char32_t code) const {
    return pages_[(size_t{page_of_[code >> kPageBits]} << kPageBits) + (code & ((1U << kPageBits) - 1))];
  }
  size_t n_states() const { return table_.size() >> class_bits_; }

  std::string literal_;        ///< not empty: matches only this; nothing below is used
  std::vector<Entry> table_;   ///< [state, class]; state 0 is the dead one
  std::vector<Entry> starts_;  ///< by class of the character before; the last for none
  size_t class_bits_ = 0;
  size_t end_class_ = 0;              ///< the class that stands for the end of the text
  std::array<uint8_t, 128> ascii_{};  ///< classes
  std::vector<uint16_t> page_of_;
  std::vector<uint8_t> pages_;
};

}  // namespace vitro
