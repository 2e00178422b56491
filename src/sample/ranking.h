// Where a walk from the best candidate downwards has gathered a wanted mass, found without sorting: the vocabulary has
// a quarter of a million ids, and most walks end after a few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vitro {

/// A candidate with what it is ranked by: ascending key, then ascending tie (the id, or its negative where the higher
/// id goes first).
struct Ranked {
  double key = 0;
  int32_t tie = 0;
  int32_t id = 0;
  double weight = 0;
};

inline bool ranks_before(const Ranked& a, const Ranked& b) { return a.key != b.key ? a.key < b.key : a.tie < b.tie; }

/// When a walk ends: once the mass so far, the last one included, is at least, or is above, what is wanted.
enum class MassReached : uint8_t { kAtLeast, kAbove };

/// The last element of the walk in rank order (of all elements, if the mass is never reached). Reorders `items`, which
/// must not be empty. Cost: O(n) on average.
Ranked last_of_walk(std::vector<Ranked>& items, double mass_wanted, MassReached reached);

}  // namespace vitro
