// How SentencePiece prepares a text: its rewriting rules, spaces collapsed and written as "\u2581", one in front (or
// behind). Symbols that the model's maker named stay as they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/precompiled_charsmap.h"

namespace vitro {

/// Strings looked up at a place in a text, the longest first.
class SymbolSet {
 public:
  static constexpr size_t kMaxSymbolBytes = 256;  // bounds the work at each place

  SymbolSet() = default;
  /// Unsupported: a symbol longer than kMaxSymbolBytes. Empty ones match nothing.
  static Result<SymbolSet> make(const std::vector<std::string_view>& symbols);

  /// Bytes of the longest symbol that `text` starts with; 0: none.
  size_t longest(std::string_view text) const;

 private:
  struct Node {
    uint32_t first_child = 0;  ///< 0: none; the root is no child
    uint32_t sibling = 0;
    uint8_t byte = 0;
    bool is_end = false;
  };
  uint32_t child(uint32_t node, uint8_t byte) const;
  std::vector<Node> nodes_;
};

class SentencePieceNormalizer {
 public:
  struct Rules {
    bool adds_dummy_prefix = true;
    bool removes_extra_spaces = true;
    bool escapes_spaces = true;
    bool has_space_suffix = false;  ///< the dummy goes behind the text
  };
  /// The new text, and for each of its bytes, and for its end, the place in the old text where what it was made from
  /// starts.
  struct Output {
    std::string text;
    std::vector<uint32_t> origins;
  };

  SentencePieceNormalizer(Rules rules, PrecompiledCharsmap charsmap, SymbolSet symbols)
      : rules_(rules), charsmap_(std::move(charsmap)), symbols_(std::move(symbols)) {}

  /// `text` is valid UTF-8. Unsupported if the result has more than max_bytes bytes.
  Result<Output> normalize(std::string_view text, size_t max_bytes) const;

 private:
  struct Chunk {
    size_t n_bytes = 0;
    std::string_view text;
  };
  Chunk next_chunk(std::string_view rest) const;
  std::string_view space() const;
  void append(std::string_view text, size_t origin, Output& out) const;
  size_t skip_leading_spaces(std::string_view text) const;
  size_t drop_trailing_spaces(size_t pos, Output& out) const;

  Rules rules_;
  PrecompiledCharsmap charsmap_;
  SymbolSet symbols_;
};

}  // namespace vitro
