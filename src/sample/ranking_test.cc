// The quickselect by mass against a full sort and a plain walk.
#include "sample/ranking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"

namespace vitro {
namespace {

Ranked walk_sorted(std::vector<Ranked> items, double wanted, MassReached reached) {
  std::sort(items.begin(), items.end(), ranks_before);
  double mass = 0;
  for (const Ranked& r : items) {
    mass += r.weight;
    if (reached == MassReached::kAtLeast ? mass >= wanted : mass > wanted) return r;
  }
  return items.back();
}

// Weights are whole numbers, so that sums are exact in any order and edges can be hit exactly.
std::vector<Ranked> random_items(size_t n, uint64_t seed, int n_weights) {
  std::vector<Ranked> items(n);
  for (size_t i = 0; i < n; ++i) {
    const double weight = 1 + static_cast<int>(uniform_at(seed, 0, i) * n_weights);
    items[i] = {-weight, static_cast<int32_t>(i), static_cast<int32_t>(i), weight};
  }
  return items;
}

TEST(Ranking, MatchesASortedWalk) {
  for (const size_t n : {1u, 2u, 63u, 64u, 65u, 129u, 300u, 5000u}) {
    for (const int n_weights : {1, 3, 1000}) {
      const std::vector<Ranked> items = random_items(n, n, n_weights);
      double total = 0;
      for (const Ranked& r : items) total += r.weight;
      for (int step = 0; step <= 40; ++step) {
        const double wanted = step == 40 ? total + 1 : std::floor(total * step / 39);
        for (const MassReached reached : {MassReached::kAtLeast, MassReached::kAbove}) {
          std::vector<Ranked> scratch = items;
          EXPECT_EQ(last_of_walk(scratch, wanted, reached).id, walk_sorted(items, wanted, reached).id)
              << n << " " << wanted;
        }
      }
    }
  }
}

TEST(Ranking, TiesGoByTheTie) {
  const Ranked low{-1.0, 3, 3, 1.0}, high{-1.0, -3, 3, 1.0};
  EXPECT_TRUE(ranks_before(high, low));
  EXPECT_FALSE(ranks_before(low, high));
  EXPECT_FALSE(ranks_before(low, low));
}

}  // namespace
}  // namespace vitro
