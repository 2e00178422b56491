// Row maps: each against the picture in words, and that each is a permutation or selection without repeats.
#include "weights/slot.h"

#include <gtest/gtest.h>

#include <algorithm>
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

// Against the definition: all rows, one by one.
TEST(SlotTest, InsideMeansEveryRow) {
  using Kind = RowMap::Kind;
  for (const int64_t n_file_rows : {0, 1, 5, 12, 24, 25}) {
    for (const int64_t n_rows : {2, 4, 8}) {
      for (const int64_t first : {0, 1, 2, 4, 20}) {
        for (const int64_t d : {2, 4}) {
          const RowMap maps[] = {{},
                                 {.kind = Kind::kRange, .first = first},
                                 {.kind = Kind::kRopeUnpermute, .d = d},
                                 {.kind = Kind::kPerHead, .first = first, .d = d, .stride = 3 * d}};
          for (const RowMap& map : maps) {
            if (n_rows % d != 0 || (map.kind == Kind::kPerHead && first + d > map.stride)) continue;
            const Rows rows = rows_of(map, n_rows);
            const bool is_inside = *std::max_element(rows.begin(), rows.end()) < n_file_rows;
            // Interleaved tensors must hold the last head as a whole.
            if (map.kind == Kind::kPerHead && n_file_rows < n_rows * 3) continue;
            EXPECT_EQ(is_row_map_inside(map, n_rows, n_file_rows), is_inside);
          }
        }
      }
    }
  }
}

TEST(SlotTest, MapsThatMeanNothingAreOutside) {
  using Kind = RowMap::Kind;
  EXPECT_FALSE(is_row_map_inside({.kind = Kind::kRange, .first = -1}, 2, 10));
  EXPECT_FALSE(is_row_map_inside({.kind = Kind::kRange, .first = INT64_MAX}, 2, 10));
  EXPECT_FALSE(is_row_map_inside({.kind = Kind::kRopeUnpermute, .d = 1}, 2, 10));
  EXPECT_FALSE(is_row_map_inside({.kind = Kind::kRopeUnpermute}, 2, 10));
  EXPECT_FALSE(is_row_map_inside({.kind = Kind::kPerHead}, 2, 10));
  EXPECT_FALSE(is_row_map_inside({.kind = Kind::kPerHead, .first = 5, .d = 2, .stride = 6}, 2, 12));
  EXPECT_FALSE(is_row_map_inside({.kind = Kind::kPerHead, .first = 0, .d = 2, .stride = INT64_MAX}, 4, 12));
  EXPECT_FALSE(is_row_map_inside({.kind = Kind::kPerHead, .first = 0, .d = 16, .stride = 48}, 64, 96));
}

}  // namespace
}  // namespace vitro
