// Attention: every table against the twin, and the promises of AttendArgs bit for bit: neither page size, nor the other
// rows, nor their number, nor what lies in unused slots of pages changes a row.
#include <algorithm>
#include <numeric>

#include "kernels/kernels_test_util.h"

namespace vitro::testing {
namespace {

/// A row's score is off by eps * sqrt(d_head) of its terms, its sum of n values by eps * sqrt(n): kAttendSlack covers
/// both.
constexpr double kAttendSlack = 6;

/// Keys and values of positions 0..n-1 in pages of a chosen size, in shuffled order; every slot that holds no position
/// is NaN, and there is no page id beyond the last position.
class PagedKv {
 public:
  PagedKv(int64_t n_keys, int64_t d_head, int64_t page_size, double magnitude = 1)
      : page_size_(page_size), d_head_(d_head) {
    const int64_t n_pages = (n_keys + page_size - 1) / page_size;
    const int64_t stride = page_stride();
    data_.assign(static_cast<size_t>((2 * n_pages + 1) * stride), kNaN);
    for (int64_t p = 0; p < n_pages; ++p) page_ids_.push_back(static_cast<int32_t>(2 * n_pages - 2 * p));
    const std::vector<float> keys = random_values(n_keys * d_head, 21, magnitude),
                             values = random_values(n_keys * d_head, 22);
    for (int64_t pos = 0; pos < n_keys; ++pos) {
      float* page = &data_[static_cast<size_t>(page_ids_[static_cast<size_t>(pos / page_size)] * stride)];
      const int64_t column = pos % page_size;
      for (int64_t i = 0; i < d_head; ++i) {
        page[i * page_size + column] = keys[static_cast<size_t>(pos * d_head + i)];
        page[(page_size + column) * d_head + i] = values[static_cast<size_t>(pos * d_head + i)];
      }
    }
  }
  /// Overwrites position pos, which no row of the test attends.
  void poison(int64_t pos) {
    float* page = &data_[static_cast<size_t>(page_ids_[static_cast<size_t>(pos / page_size_)] * page_stride())];
    for (int64_t i = 0; i < d_head_; ++i) {
      page[i * page_size_ + pos % page_size_] = kNaN;
      page[(page_size_ + pos % page_size_) * d_head_ + i] = kNaN;
    }
  }
  KvHead head() const {
    const float* base = data_.data();
    return {.k_base = reinterpret_cast<const std::byte*>(base),
            .v_base = reinterpret_cast<const std::byte*>(base + page_size_ * d_head_),
            .page_ids = page_ids_.data(),
            .page_stride = page_stride() * static_cast<int64_t>(sizeof(float)),
            .page_size = page_size_,
            .d_head = d_head_};
  }

 private:
  int64_t page_stride() const { return 2 * page_size_ * d_head_; }
  int64_t page_size_;
  int64_t d_head_;
  std::vector<float> data_;
  std::vector<int32_t> page_ids_;
};

struct Range {
  int64_t first;
  int64_t last;
};

/// z and lse of every row, in one vector a row.
using Rows = std::vector<std::vector<float>>;

/// Runs the rows (numbered `which` of `ranges`; a row's q depends on its number alone) in one call.
Rows run(const KernelTable& table, const KvHead& kv, const std::vector<Range>& ranges,
         const std::vector<size_t>& which) {
  const auto d_head = static_cast<size_t>(kv.d_head);
  std::vector<std::vector<float>> q;
  Rows out(which.size(), std::vector<float>(d_head + 1, kNaN));
  std::vector<AttendRow> rows(which.size());
  for (const size_t row : which) q.push_back(random_values(kv.d_head, 100 + row, 2));
  for (size_t i = 0; i < which.size(); ++i) {
    rows[i] = {q[i].data(), out[i].data(), &out[i][d_head], ranges[which[i]].first, ranges[which[i]].last};
  }
  // Exactly the promised scratch, from an aligned address, full of NaN.
  std::vector<float> scratch(static_cast<size_t>(attend_scratch_floats(kv.d_head)) + 16, kNaN);
  void* aligned = scratch.data();
  size_t space = scratch.size() * sizeof(float);
  std::align(64, static_cast<size_t>(attend_scratch_floats(kv.d_head)) * sizeof(float), aligned, space);
  table.attend[0]({kv, rows.data(), static_cast<int64_t>(rows.size()), 1 / std::sqrt(static_cast<float>(kv.d_head)), 0,
                   static_cast<float*>(aligned)});
  return out;
}

std::vector<size_t> all_of(const std::vector<Range>& ranges) {
  std::vector<size_t> which(ranges.size());
  std::iota(which.begin(), which.end(), size_t{0});
  return which;
}

/// Causal, windowed, empty, single, across tiles and across the spans' bounds at 512 and 1024.
const std::vector<Range>& ranges() {
  static const std::vector<Range> kRanges = {{0, 0},     {0, 1},    {0, 6},       {0, 63},     {0, 64},   {5, 4},
                                             {0, 511},   {0, 512},  {511, 512},   {100, 900},  {0, 1100}, {1023, 1024},
                                             {600, 610}, {64, 127}, {1037, 1100}, {1100, 1100}};
  return kRanges;
}
constexpr int64_t kKeys = 1101;

TEST(Attend, MatchesTheTwin) {
  for (const KernelTable* table : usable_tables()) {
    for (const int64_t d_head : {1, 2, 8, 16, 24, 64, 80, 128, 256}) {
      const PagedKv kv(kKeys, d_head, 16);
      const Rows out = run(*table, kv.head(), ranges(), all_of(ranges()));
      const Rows expected = run(kReferenceTable, kv.head(), ranges(), all_of(ranges()));
      for (size_t r = 0; r < out.size(); ++r) {
        const double n_keys = static_cast<double>(std::max<int64_t>(ranges()[r].last - ranges()[r].first + 1, 0));
        const double tolerance = kAttendSlack * kEps * (std::sqrt(d_head) + std::sqrt(n_keys));
        for (int64_t i = 0; i < d_head; ++i) {
          ASSERT_NEAR(out[r][i], expected[r][i], tolerance)
              << table->name << " d_head " << d_head << " row " << r << " i " << i;
        }
        const double lse = expected[r].back();
        if (n_keys == 0) {
          ASSERT_EQ(out[r].back(), -INFINITY);
        } else {
          ASSERT_NEAR(out[r].back(), lse, tolerance + 2 * kEps * std::abs(lse)) << table->name << " row " << r;
        }
      }
    }
  }
}

TEST(Attend, LargeScoresDoNotOverflow) {
  for (const KernelTable* table : usable_tables()) {
    const PagedKv kv(300, 64, 16, 1e4);
    const Rows out = run(*table, kv.head(), {{0, 299}}, {0}),
               expected = run(kReferenceTable, kv.head(), {{0, 299}}, {0});
    // One key wins by far (scores are tens of thousands), so z is its value.
    for (size_t i = 0; i < 64; ++i) ASSERT_NEAR(out[0][i], expected[0][i], kAttendSlack * kEps) << table->name;
    ASSERT_NEAR(out[0][64], expected[0][64], kAttendSlack * kEps * 8 * std::abs(expected[0][64])) << table->name;
  }
}

TEST(Attend, PageSizeChangesNoBit) {
  for (const KernelTable* table : usable_tables()) {
    for (const int64_t d_head : {8, 24, 64, 80, 128}) {
      const Rows expected = run(*table, PagedKv(kKeys, d_head, 8).head(), ranges(), all_of(ranges()));
      for (const int64_t page_size : {16, 24, 64, 128, 1104}) {
        const PagedKv kv(kKeys, d_head, page_size);
        const Rows out = run(*table, kv.head(), ranges(), all_of(ranges()));
        for (size_t r = 0; r < out.size(); ++r) {
          ASSERT_TRUE(same_bits(out[r], expected[r]))
              << table->name << " d_head " << d_head << " page " << page_size << " row " << r;
        }
      }
    }
  }
}

TEST(Attend, OtherRowsOfTheCallChangeNoBit) {
  for (const KernelTable* table : usable_tables()) {
    for (const int64_t d_head : {24, 64, 80}) {
      const PagedKv kv(kKeys, d_head, 16);
      const Rows together = run(*table, kv.head(), ranges(), all_of(ranges()));
      for (size_t r = 0; r < ranges().size(); ++r) {
        ASSERT_TRUE(same_bits(run(*table, kv.head(), ranges(), {r})[0], together[r])) << table->name << " row " << r;
      }
      for (const std::vector<size_t>& which :
           {std::vector<size_t>{15, 3}, {7, 7, 7}, {10, 9, 8, 2, 5}, {1, 11, 6, 12, 4, 14, 0}}) {
        const Rows some = run(*table, kv.head(), ranges(), which);
        for (size_t i = 0; i < which.size(); ++i) {
          ASSERT_TRUE(same_bits(some[i], together[which[i]]))
              << table->name << " row " << which[i] << " of " << which.size();
        }
      }
    }
  }
}

/// A chunk of a prompt: sixteen rows at consecutive positions, against each alone with nothing behind it in the cache.
TEST(Attend, CausalChunkEqualsOneByOne) {
  std::vector<Range> chunk;
  for (int64_t i = 0; i < kAttendRows; ++i) chunk.push_back({0, 505 + i});
  for (const KernelTable* table : usable_tables()) {
    const PagedKv all(600, 64, 16);
    const Rows together = run(*table, all.head(), chunk, all_of(chunk));
    for (size_t r = 0; r < chunk.size(); ++r) {
      const PagedKv so_far(600, 64, 16);
      PagedKv poisoned = so_far;
      for (int64_t pos = chunk[r].last + 1; pos < 600; ++pos) poisoned.poison(pos);
      ASSERT_TRUE(same_bits(run(*table, poisoned.head(), chunk, {r})[0], together[r])) << table->name << " row " << r;
    }
  }
}

/// Positions outside a row's keys may hold anything, NaN too, both before a window and after the last key, and even if
/// another row of the call attends them.
TEST(Attend, NeverUsesAKeyOutsideARow) {
  const std::vector<Range> windows = {{70, 90}, {3, 200}, {130, 131}, {64, 71}};
  for (const KernelTable* table : usable_tables()) {
    for (const int64_t page_size : {8, 64}) {
      const PagedKv clean(256, 64, page_size);
      for (size_t r = 0; r < windows.size(); ++r) {
        PagedKv poisoned = clean;
        for (int64_t pos = 0; pos < 256; ++pos) {
          if (pos < windows[r].first || pos > windows[r].last) poisoned.poison(pos);
        }
        const Rows expected = run(*table, clean.head(), windows, {r});
        ASSERT_TRUE(same_bits(run(*table, poisoned.head(), windows, {r})[0], expected[0]))
            << table->name << " row " << r;
        const Rows mixed = run(*table, poisoned.head(), windows, all_of(windows));
        ASSERT_TRUE(same_bits(mixed[r], expected[0])) << table->name << " row " << r << " among others";
      }
    }
  }
}

TEST(Attend, ProbabilitiesAreThoseOfTheScores) {
  for (const KernelTable* table : usable_tables()) {
    for (const int64_t page_size : {8, 16}) {
      const PagedKv kv(kKeys, 64, page_size);
      const std::vector<float> q = random_values(64, 7, 2);
      for (const Range range : {Range{0, 0}, Range{0, 1100}, Range{37, 700}, Range{500, 520}, Range{1099, 1100}}) {
        std::vector<float> z(64), probs(static_cast<size_t>(range.last - range.first + 1)), expected = probs;
        float lse = kNaN;
        const AttendRow row{q.data(), z.data(), &lse, range.first, range.last};
        std::vector<float> scratch(static_cast<size_t>(attend_scratch_floats(64)));
        table->attend[0]({.kv = kv.head(), .rows = &row, .n_rows = 1, .scale = 0.125F, .scratch = scratch.data()});
        table->attend_probs[0]({.kv = kv.head(), .row = row, .scale = 0.125F, .probs = probs.data()});
        kReferenceTable.attend_probs[0]({.kv = kv.head(), .row = row, .scale = 0.125F, .probs = expected.data()});
        double sum = 0;
        for (size_t i = 0; i < probs.size(); ++i) {
          ASSERT_NEAR(probs[i], expected[i], kAttendSlack * kEps * 8 * expected[i]) << table->name << " key " << i;
          sum += probs[i];
        }
        EXPECT_NEAR(sum, 1, kAttendSlack * kEps * std::sqrt(static_cast<double>(probs.size()))) << table->name;
      }
    }
  }
}

/// One key makes its probability e^(score - lse) exactly one: attend_probs computes the very score that attend did.
TEST(Attend, ProbsRecomputeTheSameScoreBits) {
  for (const KernelTable* table : usable_tables()) {
    if (table == &kReferenceTable) continue;  // its lse is rounded from a double score
    for (int64_t pos = 0; pos < 100; ++pos) {
      const PagedKv kv(100, 80, 8);
      const std::vector<float> q = random_values(80, 300 + pos, 2);
      std::vector<float> z(80), scratch(static_cast<size_t>(attend_scratch_floats(80)));
      float lse = kNaN, prob = kNaN;
      const AttendRow row{q.data(), z.data(), &lse, pos, pos};
      table->attend[0]({.kv = kv.head(), .rows = &row, .n_rows = 1, .scale = 0.3F, .scratch = scratch.data()});
      table->attend_probs[0]({.kv = kv.head(), .row = row, .scale = 0.3F, .probs = &prob});
      ASSERT_EQ(prob, 1.0F) << table->name << " pos " << pos;
    }
  }
}

/// Equal operations in equal order: the two tables with fused multiply-add agree bit for bit.
TEST(Attend, FusedTablesAgree) {
  const KernelTable* avx512 = find_kernel_table("avx512");
  const KernelTable* avx2 = find_kernel_table("avx2");
  if (avx512 == nullptr || avx2 == nullptr) GTEST_SKIP() << "needs a processor with AVX-512";
  const PagedKv kv(kKeys, 80, 24);
  const Rows a = run(*avx512, kv.head(), ranges(), all_of(ranges())),
             b = run(*avx2, kv.head(), ranges(), all_of(ranges()));
  for (size_t r = 0; r < a.size(); ++r) EXPECT_TRUE(same_bits(a[r], b[r])) << "row " << r;
}

}  // namespace
}  // namespace vitro::testing
