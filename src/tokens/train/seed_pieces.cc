// Suffixes are compared over max_length + 1 characters only: more is not needed to tell pieces of max_length apart.
#include "tokens/train/seed_pieces.h"

#include <algorithm>
#include <map>

namespace vitro {
namespace {

/// How many characters two suffixes share before a word ends; `limit` if that is so many, or if both words end there,
/// which makes them equal as far as pieces go.
size_t shared_length(const char32_t* a, const char32_t* b, size_t limit) {
  for (size_t n = 0; n < limit; ++n) {
    if (a[n] != b[n]) return n;
    if (a[n] == kWordEnd) return limit;
  }
  return limit;
}

bool suffix_less(const char32_t* a, const char32_t* b, size_t limit) {
  for (size_t n = 0; n < limit; ++n) {
    if (a[n] != b[n]) return a[n] < b[n];
    if (a[n] == kWordEnd) return false;
  }
  return false;
}

std::vector<uint32_t> sorted_suffixes(const CharacterRow& row, size_t limit) {
  std::vector<uint32_t> out;
  out.reserve(row.characters.size());
  for (size_t i = 0; i < row.characters.size(); ++i) {
    if (row.characters[i] != kWordEnd) out.push_back(static_cast<uint32_t>(i));
  }
  const char32_t* text = row.characters.data();
  std::sort(out.begin(), out.end(), [&](uint32_t a, uint32_t b) { return suffix_less(text + a, text + b, limit); });
  return out;
}

/// Walks the intervals of suffixes that share a beginning: those that share more than both neighbours of the interval
/// are the inner nodes of the suffix tree.
std::vector<SeedPiece> repeated_substrings(const CharacterRow& row, size_t max_length) {
  struct Open {
    size_t begin;
    size_t depth;
  };
  const size_t limit = max_length + 1;
  const std::vector<uint32_t> suffixes = sorted_suffixes(row, limit);
  const char32_t* text = row.characters.data();
  std::vector<SeedPiece> out;
  std::vector<Open> open = {{0, 0}};
  for (size_t i = 1; i <= suffixes.size(); ++i) {
    const size_t depth = i < suffixes.size() ? shared_length(text + suffixes[i - 1], text + suffixes[i], limit) : 0;
    size_t begin = i - 1;
    while (open.back().depth > depth) {
      const Open closed = open.back();
      open.pop_back();
      begin = closed.begin;
      if (closed.depth < 2 || closed.depth > max_length) continue;
      const auto n = static_cast<double>(i - closed.begin);
      out.push_back({suffixes[begin], static_cast<uint32_t>(closed.depth), n * static_cast<double>(closed.depth)});
    }
    if (open.back().depth < depth) open.push_back({begin, depth});
  }
  return out;
}

std::vector<SeedPiece> single_characters(const CharacterRow& row) {
  std::map<char32_t, SeedPiece> found;
  for (size_t w = 0; w < row.begins.size(); ++w) {
    const std::u32string_view word = row.word(w);
    for (size_t i = 0; i < word.size(); ++i) {
      if (word[i] == kWordEnd) continue;
      SeedPiece& piece =
          found.try_emplace(word[i], SeedPiece{row.begins[w] + static_cast<uint32_t>(i), 1, 0}).first->second;
      piece.score += row.counts[w];
    }
  }
  std::vector<SeedPiece> out;
  for (const auto& [code, piece] : found) out.push_back(piece);
  return out;
}

}  // namespace

std::vector<SeedPiece> make_seed_pieces(const CharacterRow& row, size_t max_length, size_t max_pieces) {
  const auto text_of = [&](const SeedPiece& piece) {
    return std::u32string_view(row.characters.data() + piece.begin, piece.length);
  };
  const auto comes_first = [&](const SeedPiece& a, const SeedPiece& b) {
    return a.score != b.score ? a.score > b.score : text_of(a) > text_of(b);
  };
  std::vector<SeedPiece> out = single_characters(row);
  std::sort(out.begin(), out.end(), comes_first);
  std::vector<SeedPiece> longer = repeated_substrings(row, max_length);
  std::sort(longer.begin(), longer.end(), comes_first);
  // The reference looks at the limit after it has taken a piece.
  const size_t n_longer = std::min(longer.size(), std::max<size_t>(max_pieces, out.size() + 1) - out.size());
  out.insert(out.end(), longer.begin(), longer.begin() + static_cast<std::ptrdiff_t>(n_longer));
  return out;
}

}  // namespace vitro
