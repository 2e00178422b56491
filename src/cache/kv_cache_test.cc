#include "cache/kv_cache.h"

#include <gtest/gtest.h>

namespace vitro {
namespace {

KvCacheSpec small_spec() { return {{{2, 4}, {1, 6}}, 8, 5, 2}; }

TEST(KvCache, BytesArePagesTimesShapes) {
  EXPECT_EQ(kv_cache_bytes(small_spec()).value(), 5 * 8 * 2 * (2 * 4 + 1 * 6) * 4);
  EXPECT_EQ(KvCache::allocate(small_spec())->n_bytes(), kv_cache_bytes(small_spec()).value());
}

TEST(KvCache, PageSizeMustBeAMultipleOfEight) {
  KvCacheSpec spec = small_spec();
  for (const int64_t page_size : {int64_t{0}, int64_t{-8}, int64_t{4}, int64_t{12}, int64_t{65544}, int64_t{1} << 62}) {
    spec.page_size = page_size;
    EXPECT_EQ(KvCache::allocate(spec).error().code, ErrorCode::kInvalidArgument) << page_size;
  }
}

TEST(KvCache, SizesThatOverflowAreRefused) {
  KvCacheSpec spec = small_spec();
  spec.n_pages = int64_t{1} << 61;
  EXPECT_EQ(KvCache::allocate(spec).error().code, ErrorCode::kInvalidArgument);
}

// Every position of two interleaved sequences is found where head() says, keys transposed, values in rows.
TEST(KvCache, HoldsWhatWasWritten) {
  KvCache cache = std::move(*KvCache::allocate(small_spec()));
  const auto value = [](int64_t layer, int64_t seq, int64_t pos, int64_t i) {
    return static_cast<float>(layer * 10000 + seq * 1000 + pos * 20 + i);
  };
  const std::vector<int64_t> widths{8, 6};
  for (int64_t pos = 0; pos < 17; ++pos) {
    for (SequenceId seq = 0; seq < 2; ++seq) {
      if (seq == 1 && pos >= 16) continue;  // 3 + 2 pages: the pool is full
      ASSERT_TRUE(cache.reserve(seq, pos + 1).has_value());
      for (int64_t layer = 0; layer < 2; ++layer) {
        std::vector<float> k, v;
        for (int64_t i = 0; i < widths[static_cast<size_t>(layer)]; ++i) {
          k.push_back(value(layer, seq, pos, i));
          v.push_back(-value(layer, seq, pos, i));
        }
        cache.write(layer, seq, pos, k.data(), v.data());
      }
    }
  }
  for (int64_t pos = 0; pos < 16; ++pos) {
    for (SequenceId seq = 0; seq < 2; ++seq) {
      const KvHead head = cache.head(0, seq, 1);  // the second head: values 4..7 of a row
      const int64_t page = head.page_ids[pos / 8], column = pos % 8;
      for (int64_t i = 0; i < 4; ++i) {
        const auto* keys = reinterpret_cast<const float*>(head.k_base + page * head.page_stride);
        const auto* values = reinterpret_cast<const float*>(head.v_base + page * head.page_stride);
        EXPECT_EQ(keys[i * 8 + column], value(0, seq, pos, 4 + i));
        EXPECT_EQ(values[column * 4 + i], -value(0, seq, pos, 4 + i));
      }
    }
  }
}

TEST(KvCache, FullPoolRefusesAndChangesNothing) {
  KvCache cache = std::move(*KvCache::allocate(small_spec()));
  ASSERT_TRUE(cache.reserve(0, 25).has_value());  // 4 of 5 pages
  const Status status = cache.reserve(1, 9);      // 2 pages
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(cache.n_free_pages(), 1);
  cache.truncate(0, 8);
  EXPECT_EQ(cache.n_free_pages(), 4);
  EXPECT_TRUE(cache.reserve(1, 9).has_value());
}

}  // namespace
}  // namespace vitro
