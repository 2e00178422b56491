// PrecompiledCharsmap: the rewriting rules of a SentencePiece model ("\uFF21" -> "A"), as its trainer compiled them:
// the byte length of a trie (uint32), the trie as a double array (darts-clone), then the replacements, each ended by a
// zero byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/utf8.h"

namespace vitro {

/// Immutable; a copy of the bytes it was made from. A broken table gives wrong rules, never a read outside.
class PrecompiledCharsmap {
 public:
  /// Keys of this many bytes at most are found: a hostile trie may run in circles.
  static constexpr size_t kMaxKeyBytes = 512;

  struct Rule {
    size_t n_bytes = 0;  ///< of the text that the rule replaces; 0: there is none
    std::string_view replacement;
  };

  /// No rules.
  PrecompiledCharsmap() = default;
  /// Corrupt: a length that does not fit.
  static Result<PrecompiledCharsmap> make(std::string_view blob);

  bool empty() const { return units_.empty(); }
  /// The rule with the longest key that `text` starts with.
  Rule longest(std::string_view text) const { return find(text, false); }
  /// False if a replacement may not be UTF-8.
  bool writes_utf8() const { return is_valid_utf8(replacements_); }
  /// The one with the shortest. A zero byte ends the text, as in the reference.
  Rule shortest(std::string_view text) const { return find(text, true); }

 private:
  Rule find(std::string_view text, bool stops_at_first) const;
  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace vitro
