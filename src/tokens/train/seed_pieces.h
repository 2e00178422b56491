// Seeds of a unigram vocabulary: every substring of the distinct words that occurs at least twice and is followed by
// different characters (the inner nodes of their suffix tree), found by sorting suffixes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace vitro {

/// Ends a word in a row of words; a character of this value within a word ends it, too, as in the reference.
inline constexpr char32_t kWordEnd = 0;

/// Words as code points, one after the other, each followed by kWordEnd.
struct CharacterRow {
  std::vector<char32_t> characters;
  std::vector<uint32_t> begins;  ///< of each word
  std::vector<double> counts;    ///< of each word

  std::u32string_view word(size_t idx) const {
    const size_t end = (idx + 1 < begins.size() ? begins[idx + 1] : characters.size()) - 1;
    return std::u32string_view(characters.data() + begins[idx], end - begins[idx]);
  }
};

/// A piece as a part of the row.
struct SeedPiece {
  uint32_t begin = 0;
  uint32_t length = 0;
  double score = 0;
};

/// Single characters (score: how often they occur in the text), by falling score, then the substrings of 2 to
/// max_length characters (score: length times occurrences in distinct words), by falling score; equal ones from the
/// last in the alphabet to the first. At most max_pieces, and all characters. Time n log n in the row's length.
std::vector<SeedPiece> make_seed_pieces(const CharacterRow& row, size_t max_length, size_t max_pieces);

}  // namespace vitro
