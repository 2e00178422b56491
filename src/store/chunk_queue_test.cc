// Chunks in, one order out, whatever order the workers work in.
#include "store/chunk_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "testing/expect_error.h"

namespace vitro {
namespace {

using testing::expect_error;

/// All that next() gives until it is done.
std::string drain(ChunkQueue& queue) {
  std::string out;
  while (!queue.is_done()) out += queue.next(0.01).value();
  return out;
}

TEST(ChunkQueue, GivesWhatCameEarlyInItsTurn) {
  ChunkQueue queue({10, 16}, 1);
  const auto first = queue.take(4);
  const auto second = queue.take(4);
  EXPECT_EQ(first.range.begin, 10U);
  EXPECT_EQ(first.range.end, 14U);
  EXPECT_EQ(second.range.end, 16U);
  EXPECT_EQ(queue.take(4).chunk, nullptr);
  ASSERT_TRUE(queue.put(second.chunk, "ef"));
  EXPECT_EQ(queue.next(0).value(), "");
  ASSERT_TRUE(queue.put(first.chunk, "ab"));
  EXPECT_EQ(queue.next(0).value(), "ab");
  EXPECT_FALSE(queue.is_done());
  ASSERT_TRUE(queue.put(first.chunk, "cd"));
  EXPECT_EQ(drain(queue), "cdef");
}

TEST(ChunkQueue, SharesTheRestOut) {
  ChunkQueue queue({0, 4 * kLargestChunk}, 4);
  EXPECT_EQ(queue.take(UINT64_MAX).range.end, kLargestChunk);
  ChunkQueue small({0, kSmallestChunk + 1}, 4);
  EXPECT_EQ(small.take(UINT64_MAX).range.end, kSmallestChunk);
  EXPECT_EQ(small.take(UINT64_MAX).range.end, kSmallestChunk + 1);
}

TEST(ChunkQueue, BoundsWhatIsUnderWay) {
  ChunkQueue queue({0, 100 * kSmallestChunk}, 2);
  std::atomic<int> n_taken = 0;
  std::thread worker([&] {
    for (int i = 0; i < 5; ++i) n_taken += queue.take(kSmallestChunk).chunk != nullptr;
  });
  while (n_taken < 3) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(n_taken, 3);
  queue.stop({ErrorCode::kCancelled, "stopped"});
  worker.join();
  EXPECT_EQ(n_taken, 3);
}

TEST(ChunkQueue, GivesTheFirstErrorAfterWhatIsInOrder) {
  ChunkQueue queue({0, 8}, 1);
  const auto taken = queue.take(8);
  ASSERT_TRUE(queue.put(taken.chunk, "abc"));
  queue.stop({ErrorCode::kIoError, "cable"});
  queue.stop({ErrorCode::kCancelled, "later"});
  EXPECT_TRUE(queue.is_stopped());
  EXPECT_EQ(queue.next(0).value(), "abc");
  expect_error(queue.next(0), ErrorCode::kIoError, "cable");
  expect_error(queue.put(taken.chunk, "d"), ErrorCode::kCancelled, "stopped");
}

TEST(ChunkQueue, PassesSentencesOn) {
  ChunkQueue queue({0, 1}, 1);
  queue.say("one");
  queue.say("two");
  EXPECT_EQ(queue.sentences(), (std::deque<std::string>{"one", "two"}));
  EXPECT_TRUE(queue.sentences().empty());
}

TEST(ChunkQueue, KeepsTheOrderUnderManyWorkers) {
  constexpr int kWorkers = 6;
  std::string bytes(3'000'001, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 2654435761U >> 24);
  ChunkQueue queue({0, bytes.size()}, kWorkers);
  std::vector<std::thread> workers;
  for (unsigned seed = 0; seed < kWorkers; ++seed) {
    workers.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (auto taken = queue.take(1000 + random() % 50'000); taken.chunk != nullptr;) {
        for (uint64_t begin = taken.range.begin; begin < taken.range.end;) {
          const uint64_t n_bytes = std::min<uint64_t>(1 + random() % 20'000, taken.range.end - begin);
          if (!queue.put(taken.chunk, std::string_view(bytes).substr(begin, n_bytes))) return;
          begin += n_bytes;
        }
        taken = queue.take(1000 + random() % 50'000);
      }
    });
  }
  EXPECT_TRUE(drain(queue) == bytes);
  for (std::thread& worker : workers) worker.join();
}

}  // namespace
}  // namespace vitro
