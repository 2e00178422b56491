// AddedTokens: entries that are cut out of a text before anything else happens to it ("<|im_start|>", runs of spaces).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/aligned_text.h"
#include "text/byte_range.h"
#include "tokens/tokenizer.h"

namespace vitro {

/// One entry, with the flags of tokenizer.json.
struct AddedToken {
  TokenId id = -1;
  std::string content;
  bool is_special = false;      ///< not matched when EncodeOptions::parse_special is false
  bool is_single_word = false;  ///< only where no word character touches it
  bool strips_left = false;     ///< takes white space before it along
  bool strips_right = false;    ///< and after it
  bool is_normalized = false;   ///< looked for in the normalised text
  bool is_verbatim = false;     ///< with is_normalized: the content is not to be normalised itself
};

/// Longest match at every position by an Aho-Corasick automaton over the reversed contents: read from right to left,
/// the state after a byte knows the longest content that begins there. One pass, linear in the text whatever the
/// contents are.
class AddedTokens {
 public:
  struct Match {
    TokenId id = -1;
    ByteRange range;
  };

  AddedTokens() = default;
  /// Empty contents and contents that are not UTF-8 are left out: they can match no text. Of twins the first wins.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  bool empty() const { return tokens_.empty(); }
  /// Which special tokens are to be found.
  struct Filter {
    bool parse_special = true;
    /// Of the original text, ascending, with gaps between them: a special token that shares a byte with one is none.
    std::span<const ByteRange> plain;
  };
  /// Matches from left to right, leftmost first, then longest. Special tokens that the filter forbids still use up
  /// their text, as in the reference, unless they cross the border of a plain range: those are not seen at all.
  std::vector<Match> find_all(const AlignedText& text, const Filter& filter) const;

 private:
  struct Node {
    uint32_t first_child = 0;  ///< 0: none; the root is never a child
    uint32_t sibling = 0;
    uint32_t fail = 0;
    int32_t token = -1;    ///< longest content that ends (reversed: begins) here
    uint32_t shorter = 0;  ///< node of the next shorter one; 0: none
    uint8_t byte = 0;
  };
  struct Hit {
    size_t pos;
    uint32_t node;
  };
  uint32_t child(uint32_t node, uint8_t byte) const;
  uint32_t step(uint32_t node, uint8_t byte) const;
  void insert(std::string_view content, int32_t token);
  void link();
  std::vector<Hit> hits_from_right(std::string_view text) const;
  const AddedToken* token_at(const AlignedText& text, const Hit& hit, const Filter& filter) const;

  std::vector<AddedToken> tokens_;
  std::vector<Node> nodes_;
  std::array<uint32_t, 256> root_{};  ///< children of the root
};

}  // namespace vitro
