// Row maps: each against the picture in words, and that each is a permutation or selection without repeats.
#include "weights/slot.h"

#include <gtest/gtest.h>

#include <set>

namespace vitro {
namespace {

std::vector<int64_t> rows_of(const RowMap& map, int64_t n) {
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < n; ++row) rows.push_back(source_row(map, row));
  return rows;
}

using Rows = std::vector<int64_t>;

TEST(SlotTest, IdentityAndRange) {
  EXPECT_EQ(rows_of({}, 3), (Rows{0, 1, 2}));
  EXPECT_EQ(rows_of({.kind = RowMap::Kind::kRange, .first = 5}, 3), (Rows{5, 6, 7}));
}

TEST(SlotTest, PerHeadTakesOneOfThreeFromEachHead) {
  // Two heads of width 2 stored as [head][q, k, v][2]: rows q0 q0 k0 k0 v0 v0 q1 q1 k1 k1 v1 v1.
  const RowMap k = {.kind = RowMap::Kind::kPerHead, .first = 2, .d = 2, .stride = 6};
  EXPECT_EQ(rows_of(k, 4), (Rows{2, 3, 8, 9}));
}

TEST(SlotTest, RopeUnpermuteGathersEvenThenOddRows) {
  // A head of width 6 in adjacent order: pairs (0,1) (2,3) (4,5). In halves the first members come first.
  const RowMap map = {.kind = RowMap::Kind::kRopeUnpermute, .d = 6};
  EXPECT_EQ(rows_of(map, 12), (Rows{0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11}));
}

TEST(SlotTest, QkvOfAFusedTensorCoverItOnce) {
  std::set<int64_t> seen;
  for (int64_t which = 0; which < 3; ++which) {
    for (const int64_t row : rows_of({.kind = RowMap::Kind::kPerHead, .first = which * 8, .d = 8, .stride = 24}, 32)) {
      EXPECT_TRUE(seen.insert(row).second);
    }
  }
  EXPECT_EQ(seen.size(), 96u);
  EXPECT_EQ(*seen.rbegin(), 95);
}

}  // namespace
}  // namespace vitro
