// A quickselect by mass: split at a rank, sum the better part, and go on in the part where the wanted mass is reached.
// The first splits gallop from the top, because most walks end there; then the part is halved.
#include "sample/ranking.h"

#include <algorithm>

namespace vitro {
namespace {

constexpr size_t kFirstSplit = 128;
constexpr size_t kSortedPart = 64;

bool is_reached(double mass, double wanted, MassReached reached) {
  return reached == MassReached::kAtLeast ? mass >= wanted : mass > wanted;
}

std::vector<Ranked>::iterator at(std::vector<Ranked>& items, size_t i) {
  return items.begin() + static_cast<std::ptrdiff_t>(i);
}

double mass_of(const std::vector<Ranked>& items, size_t begin, size_t end) {
  double mass = 0;
  for (size_t i = begin; i < end; ++i) mass += items[i].weight;
  return mass;
}

}  // namespace

Ranked last_of_walk(std::vector<Ranked>& items, double mass_wanted, MassReached reached) {
  size_t begin = 0, end = items.size(), gallop = kFirstSplit;
  double mass_in_front = 0;  // of items before `begin`, all of which rank before the rest
  while (end - begin > kSortedPart) {
    const size_t split = begin + std::min(gallop, (end - begin) / 2);
    std::nth_element(at(items, begin), at(items, split), at(items, end), ranks_before);
    const double mass = mass_in_front + mass_of(items, begin, split);
    if (is_reached(mass, mass_wanted, reached)) {
      end = split;
    } else {
      begin = split;
      mass_in_front = mass;
    }
    gallop *= 16;
  }
  std::sort(at(items, begin), at(items, end), ranks_before);
  for (; begin + 1 < end; ++begin) {
    mass_in_front += items[begin].weight;
    if (is_reached(mass_in_front, mass_wanted, reached)) break;
  }
  return items[begin];
}

}  // namespace vitro
