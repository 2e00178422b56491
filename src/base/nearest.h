// Which names are near a misspelt one, for "did you mean".
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace vitro {

/// Levenshtein distance in bytes. Cost a.size() * b.size().
size_t edit_distance(std::string_view a, std::string_view b);

/// Up to `n` of the names, nearest first, that a typist may have meant: at most a third of the longer one's bytes
/// differ, or one is in the other. Letters count the same in both cases.
std::vector<std::string> nearest_names(std::string_view text, const std::vector<std::string>& names, size_t n);

/// Of a table of commands, which is not empty, the entry whose `name` differs least.
template <class Table>
const auto& nearest_entry(const Table& table, std::string_view text) {
  return *std::min_element(std::begin(table), std::end(table), [&](const auto& a, const auto& b) {
    return edit_distance(a.name, text) < edit_distance(b.name, text);
  });
}

}  // namespace vitro
