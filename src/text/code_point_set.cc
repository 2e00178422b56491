#include "text/code_point_set.h"

#include <algorithm>

namespace vitro {
namespace {

/// Whether a code point from first to last has one of the categories: whole blocks at a time.
bool has_any(char32_t first, char32_t last, CategoryMask categories) {
  constexpr char32_t kBlock = char32_t{1} << kCategoryBlockBits;
  while (first <= last) {
    const bool is_whole = first % kBlock == 0 && last - first >= kBlock - 1;
    const CategoryMask here = is_whole ? categories_in_block(category_block(first)) : bit_of(category_of(first));
    if ((here & categories) != 0) return true;
    first += is_whole ? kBlock : 1;
  }
  return false;
}

}  // namespace

CodePointSet CodePointSet::of(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end());
  CodePointSet out;
  char32_t next = 0;  // what comes before is done
  for (const auto& [first, last] : ranges) {
    if (last < next) continue;
    out.add_piece(std::max(first, next), kAllCategories);
    next = last + 1;
    if (next <= kLast) out.add_piece(next, 0);
  }
  return out;
}

CodePointSet CodePointSet::of_categories(CategoryMask categories) {
  CodePointSet out;
  out.pieces_ = {{0, categories}};
  return out;
}

CodePointSet CodePointSet::of_property(const CodePointProperty& property) {
  return of_categories(property.categories) | of({property.others.begin(), property.others.end()});
}

/// At or after the last piece; one that begins at the same place is replaced.
void CodePointSet::add_piece(char32_t first, CategoryMask categories) {
  if (!pieces_.empty() && pieces_.back().first == first) pieces_.pop_back();
  if (pieces_.empty() || pieces_.back().categories != categories) pieces_.push_back({first, categories});
}

std::optional<CodePointSet::Range> CodePointSet::as_range() const {
  const auto piece = std::find_if(pieces_.begin(), pieces_.end(), [](const Piece& p) { return p.categories != 0; });
  if (piece == pieces_.end() || piece->categories != kAllCategories || pieces_.end() - piece > 2) return std::nullopt;
  if (piece + 1 == pieces_.end()) return Range(piece->first, kLast);
  if ((piece + 1)->categories != 0) return std::nullopt;
  return Range(piece->first, (piece + 1)->first - 1);
}

bool CodePointSet::is_empty() const {
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const char32_t last = i + 1 < pieces_.size() ? pieces_[i + 1].first - 1 : kLast;
    if (pieces_[i].categories != 0 && has_any(pieces_[i].first, last, pieces_[i].categories)) return false;
  }
  return true;
}

bool CodePointSet::contains(char32_t code) const {
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), code,
                                      [](char32_t value, const Piece& piece) { return value < piece.first; });
  return (std::prev(after)->categories & bit_of(category_of(code))) != 0;
}

template <typename Operation>
CodePointSet CodePointSet::merge(const CodePointSet& a, const CodePointSet& b, Operation operation) {
  CodePointSet out;
  out.pieces_.clear();
  for (size_t i = 0, j = 0; i < a.pieces_.size() && j < b.pieces_.size();) {
    const char32_t first = std::max(a.pieces_[i].first, b.pieces_[j].first);
    out.add_piece(first, operation(a.pieces_[i].categories, b.pieces_[j].categories));
    const char32_t a_end = i + 1 < a.pieces_.size() ? a.pieces_[i + 1].first : kLast + 1;
    const char32_t b_end = j + 1 < b.pieces_.size() ? b.pieces_[j + 1].first : kLast + 1;
    i += a_end <= b_end ? 1 : 0;
    j += b_end <= a_end ? 1 : 0;
  }
  return out;
}

CodePointSet CodePointSet::complement() const {
  CodePointSet out = *this;
  for (Piece& piece : out.pieces_) piece.categories ^= kAllCategories;
  return out;
}

CodePointSet operator|(const CodePointSet& a, const CodePointSet& b) {
  return CodePointSet::merge(a, b, [](CategoryMask x, CategoryMask y) { return x | y; });
}

CodePointSet operator&(const CodePointSet& a, const CodePointSet& b) {
  return CodePointSet::merge(a, b, [](CategoryMask x, CategoryMask y) { return x & y; });
}

}  // namespace vitro
