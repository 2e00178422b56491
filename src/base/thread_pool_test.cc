// The team of threads under stress; run under the thread sanitizer, too (preset tsan).
#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <numeric>

#include "base/checked_math.h"
#include "base/cpu.h"
#include "base/rng.h"

namespace vitro {
namespace {

struct Range {
  int64_t begin, end;
  int worker;
};

std::vector<Range> ranges_of(ThreadPool& pool, int64_t n_items, int64_t grain) {
  std::mutex mutex;
  std::vector<Range> ranges;
  pool.parallel_for(n_items, grain, "test", [&](int64_t begin, int64_t end, int worker) {
    const std::lock_guard lock(mutex);
    ranges.push_back({begin, end, worker});
  });
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  return ranges;
}

TEST(ThreadPool, RangesCoverAllOnceAndRespectTheGrain) {
  for (int n_threads = 1; n_threads <= 4; ++n_threads) {
    ThreadPool pool(n_threads);
    for (const int64_t n_items : {1, 2, 3, 7, 8, 9, 63, 64, 65, 1000}) {
      for (const int64_t grain : {1, 2, 8, 64, 5000}) {
        const std::vector<Range> ranges = ranges_of(pool, n_items, grain);
        ASSERT_LE(ranges.size(), static_cast<size_t>(n_threads));
        int64_t next = 0;
        for (const Range& r : ranges) {
          EXPECT_EQ(r.begin, next);
          EXPECT_EQ(r.begin % grain, 0);
          EXPECT_LT(r.begin, r.end);
          EXPECT_TRUE(r.worker >= 0 && r.worker < n_threads);
          next = r.end;
        }
        EXPECT_EQ(next, n_items) << n_threads << " threads, grain " << grain;
      }
    }
  }
}

TEST(ThreadPool, SharesAreEven) {
  for (int n_threads = 1; n_threads <= 4; ++n_threads) {
    ThreadPool pool(n_threads);
    for (const Range& r : ranges_of(pool, 1000, 8)) {
      EXPECT_LE(ceil_div(r.end - r.begin, 8), ceil_div(125, n_threads));
    }
  }
}

TEST(ThreadPool, NoItemsNoCall) {
  ThreadPool pool(3);
  EXPECT_TRUE(ranges_of(pool, 0, 4).empty());
  EXPECT_TRUE(ranges_of(pool, -5, 4).empty());
}

TEST(ThreadPool, WhoComputesWhatDependsOnTheThreadsOnly) {
  ThreadPool pool(3), other(3);
  const auto describe = [](const std::vector<Range>& ranges) {
    std::vector<int64_t> out;
    for (const Range& r : ranges) out.insert(out.end(), {r.begin, r.end, r.worker});
    return out;
  };
  const std::vector<int64_t> first = describe(ranges_of(pool, 1234, 4));
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(describe(ranges_of(pool, 1234, 4)), first);
    EXPECT_EQ(describe(ranges_of(other, 1234, 4)), first);
  }
}

// Plain memory, no atomics: each loop reads what other workers wrote in the loop before.
TEST(ThreadPool, ManyLoopsSeeEachOthersWrites) {
  for (int n_threads = 1; n_threads <= 4; ++n_threads) {
    ThreadPool pool(n_threads);
    std::vector<int64_t> values(257, 0), next(257, 0);
    constexpr int kLoops = 3000;
    for (int loop = 0; loop < kLoops; ++loop) {
      pool.parallel_for(257, 1 + loop % 5, "add neighbour", [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t from = (i + 100) % 257;
          next[static_cast<size_t>(i)] = values[static_cast<size_t>(from)] + 1;
        }
      });
      values.swap(next);
    }
    for (const int64_t v : values) ASSERT_EQ(v, kLoops) << n_threads;
  }
}

// Pauses longer than the polling: workers sleep in the kernel and must still wake for every loop.
TEST(ThreadPool, WakesFromSleep) {
  ThreadPool pool(4);
  std::atomic<int64_t> sum{0};
  for (int loop = 0; loop < 20; ++loop) {
    std::this_thread::sleep_for(std::chrono::milliseconds(loop % 4 == 0 ? 20 : 3));
    pool.parallel_for(40, 1, "sum", [&](int64_t begin, int64_t end, int worker) {
      if (worker == loop % 4)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the others, or the owner, wait
      sum += end - begin;
    });
  }
  EXPECT_EQ(sum.load(), 20 * 40);
}

TEST(ThreadPool, MadeAndEndedAtOnce) {
  for (int i = 0; i < 300; ++i) {
    ThreadPool pool(1 + i % 4);
    if (i % 3 == 0) continue;  // never used
    std::atomic<int> n{0};
    pool.parallel_for(8, 1, "count", [&](int64_t begin, int64_t end, int) { n += static_cast<int>(end - begin); });
    ASSERT_EQ(n.load(), 8);
  }
}

TEST(ThreadPool, TwoPoolsAtATime) {
  const auto work = [] {
    ThreadPool pool(2);
    int64_t total = 0;
    for (int loop = 0; loop < 500; ++loop) {
      std::array<int64_t, 2> partial{};
      pool.parallel_for(100, 1, "sum", [&](int64_t begin, int64_t end, int worker) {
        for (int64_t i = begin; i < end; ++i) partial[static_cast<size_t>(worker)] += i;
      });
      total += partial[0] + partial[1];
    }
    EXPECT_EQ(total, 500 * 4950);
  };
  std::jthread other(work);
  work();
}

TEST(Cpu, HasAtLeastOne) { EXPECT_GE(n_usable_cpus(), 1); }

}  // namespace
}  // namespace vitro
