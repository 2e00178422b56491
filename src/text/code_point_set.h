// CodePointSet: a set of code points, with the set algebra of character classes. It is kept in pieces, each with the
// categories that belong to the set there, so that \p{L} or \W costs as little as a letter.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "text/unicode.h"

namespace vitro {

class CodePointSet {
 public:
  static constexpr char32_t kLast = 0x10FFFF;
  using Range = std::pair<char32_t, char32_t>;  ///< inclusive
  /// From `first` up to the next piece, what has one of the categories is in the set.
  struct Piece {
    char32_t first = 0;
    CategoryMask categories = 0;
    friend bool operator==(const Piece&, const Piece&) = default;
  };

  CodePointSet() = default;
  CodePointSet(char32_t first, char32_t last) : CodePointSet(of({{first, last}})) {}
  static CodePointSet all() { return {0, kLast}; }
  /// From ranges in any order, overlaps allowed.
  static CodePointSet of(std::vector<Range> ranges);
  static CodePointSet of_categories(CategoryMask categories);
  static CodePointSet of_property(const CodePointProperty& property);

  /// Ascending; the first begins at 0; neighbours differ.
  const std::vector<Piece>& pieces() const { return pieces_; }
  /// The set, if it was written as one range without categories.
  std::optional<Range> as_range() const;
  bool is_empty() const;
  bool contains(char32_t code) const;

  CodePointSet complement() const;
  friend CodePointSet operator|(const CodePointSet& a, const CodePointSet& b);
  friend CodePointSet operator&(const CodePointSet& a, const CodePointSet& b);
  /// True of the same pieces; sets with the same code points may be told apart by categories that a piece does not
  /// have.
  friend bool operator==(const CodePointSet&, const CodePointSet&) = default;

 private:
  void add_piece(char32_t first, CategoryMask categories);
  template <typename Operation>
  static CodePointSet merge(const CodePointSet& a, const CodePointSet& b, Operation operation);

  std::vector<Piece> pieces_ = {{0, 0}};
};

}  // namespace vitro
