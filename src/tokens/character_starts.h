// CharacterStarts: for byte-level encoding, the one or two symbols with which a character of several bytes may begin
// instead of its bytes. Merging its own bytes first changes no token where every merge that reaches over its edges
// comes later than all of its own; tables say between which neighbours that is certain.
//
// Why it is exact: as long as such a character is not finished, one of its own merges waits and goes before every merge
// over its edges. So none of those happens before it is finished, its own happen as if it were alone, and the finished
// symbols offer nothing that would have gone before.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tokens/merge_table.h"
#include "tokens/vocabulary.h"

namespace vitro {

class CharacterStarts {
 public:
  struct Start {
    TokenId first = -1;
    TokenId second = -1;   ///< -1: the first is the whole character
    uint16_t n_first = 0;  ///< bytes of the first; 0: begin with bytes
    uint16_t limits = 0;   ///< 0: none
  };
  /// The neighbours by which a character must begin with bytes.
  struct Limits {
    uint64_t last_bytes = 0;   ///< of a longer character before, a bit for each of 0x80 to 0xBF
    uint64_t first_bytes = 0;  ///< of a longer character after, a bit for each of 0xC0 to 0xFF
    bool ascii_before = false;
    bool ascii_after = false;
    auto operator<=>(const Limits&) const = default;
  };
  static constexpr char32_t kEnd = 0x10000;

  CharacterStarts() = default;
  /// `bytes`: the symbols of all bytes. Pieces are written in the byte-level alphabet.
  CharacterStarts(const MergeTable& merges, const Vocabulary& vocabulary, const std::array<TokenId, 256>& bytes);

  bool empty() const { return starts_.empty(); }
  /// Of a code point below kEnd in valid UTF-8.
  const Start& of(char32_t code) const { return starts_[code]; }
  bool holds_after(const Start& start, uint8_t last_byte) const {
    const Limits& limits = limits_[start.limits];
    return last_byte < 0x80 ? !limits.ascii_before : ((limits.last_bytes >> (last_byte & 0x3F)) & 1) == 0;
  }
  bool holds_before(const Start& start, uint8_t first_byte) const {
    const Limits& limits = limits_[start.limits];
    return first_byte < 0x80 ? !limits.ascii_after : ((limits.first_bytes >> (first_byte & 0x3F)) & 1) == 0;
  }

 private:
  std::vector<Start> starts_;
  std::vector<Limits> limits_;
};

}  // namespace vitro
