// How much two names differ, for "did you mean".
#pragma once

#include <cstddef>
#include <string_view>

namespace vitro {

/// Levenshtein distance: the fewest bytes to insert, delete or replace. a.size() x b.size() steps.
size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace vitro
