// SplitPattern: the regular expressions with which tokenizers cut text into words, compiled from their own notation.
//
// A subset that covers published tokenizers: alternatives of sequences of characters, classes ([...], \p{..}, \s, \S,
// \d, .) and groups of fixed alternatives, with the quantifiers ? * + {m,n}; (?i:...), (?:...), look-ahead for one
// class, $. Everything else is refused by name. Semantics are leftmost-first with backtracking, as in Oniguruma; a
// match never needs recursion over the text, and a work budget linear in the text bounds hostile patterns.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/byte_range.h"
#include "text/unicode.h"

namespace vitro {

/// A set of code points.
struct CharClass {
  PropertyMask properties = 0;
  std::vector<std::pair<char32_t, char32_t>> ranges;  ///< inclusive
  bool is_negated = false;
  std::array<uint64_t, 2> ascii{};  ///< answers for code points below 128; filled by finish()

  bool contains(char32_t code) const;
  void finish();
};

class SplitPattern {
 public:
  static Result<SplitPattern> compile(std::string_view regex);
  /// Matches exactly this text.
  static SplitPattern literal(std::string_view text);

  /// All matches from left to right, not overlapping, none empty. `text` is valid UTF-8.
  /// Unsupported if the pattern needs more work than a fixed multiple of the text's length.
  Result<std::vector<ByteRange>> find_all(std::string_view text) const;

  struct Element;
  using Sequence = std::vector<Element>;

  /// One step of a sequence: a class repeated n_min to n_max times, a group tried once (n_min 0: may be left out), or a
  /// test.
  struct Element {
    enum class Kind : uint8_t { kClass, kGroup, kFollowedBy, kNotFollowedBy, kEnd };
    Kind kind = Kind::kClass;
    CharClass set;
    std::vector<Sequence> group;
    uint32_t n_min = 1;
    uint32_t n_max = 1;
  };

 private:
  explicit SplitPattern(std::vector<Sequence> alternatives);
  std::vector<Sequence> alternatives_;
  std::array<uint64_t, 129>
      candidates_{};  ///< alternatives that may start with an ASCII character; [128]: with any other
};

}  // namespace vitro
