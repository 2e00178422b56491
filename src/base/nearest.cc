#include "base/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/letters.h"

namespace vitro {
namespace {

/// Distance, with a part of a name nearer than any misspelling; SIZE_MAX: too far.
size_t rank(const std::string& typed, const std::string& name) {
  constexpr size_t kMinPart = 3;
  const bool is_part = typed.size() >= kMinPart && name.find(typed) != std::string::npos;
  const bool holds_it = name.size() >= kMinPart && typed.find(name) != std::string::npos;
  if (is_part || holds_it) return 0;
  const size_t distance = edit_distance(typed, name);
  return 3 * distance <= std::max(typed.size(), name.size()) ? distance : SIZE_MAX;
}

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substitute = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substitute, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::vector<std::string> nearest_names(std::string_view text, const std::vector<std::string>& names, size_t n) {
  const std::string typed = lower_case(text);
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const std::string& name : names) {
    if (const size_t at = rank(typed, lower_case(name)); at != SIZE_MAX) ranked.emplace_back(at, name);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> out;
  for (size_t i = 0; i < ranked.size() && i < n; ++i) out.push_back(ranked[i].second);
  return out;
}

}  // namespace vitro
