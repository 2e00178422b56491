#include "cache/kv_cache.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "base/rng.h"

namespace vitro {
namespace {

KvCacheSpec small_spec() {
  return {.layers = {{2, 4}, {1, 6}}, .groups = {{.n_pages = 5}}, .page_size = 8, .n_positions = 40, .n_sequences = 2};
}

TEST(KvCache, BytesArePagesTimesShapes) {
  KvCacheSpec spec = small_spec();
  EXPECT_EQ(kv_cache_bytes(spec).value(), 5 * 8 * 2 * (2 * 4 + 1 * 6) * 4);
  EXPECT_EQ(KvCache::allocate(spec)->n_bytes(), kv_cache_bytes(spec).value());
  // Two float16 scales a head and position (its key's and its value's), pages rounded up to 64 bytes.
  spec.type = CacheType::kInt8;
  EXPECT_EQ(kv_page_bytes(spec, spec.layers[0]), 192);  // 8 * 2 * (2 * 4 + 2 * 2) bytes
  EXPECT_EQ(kv_page_bytes(spec, spec.layers[1]), 128);  // 8 * 2 * (6 + 2) bytes
  EXPECT_EQ(kv_cache_bytes(spec).value(), 5 * (192 + 128));
}

TEST(KvCache, EachTypeTakesItsBytes) {
  KvCacheSpec spec{
      .layers = {{3, 64}}, .groups = {{.n_pages = 2}}, .page_size = 16, .n_positions = 32, .n_sequences = 1};
  const int64_t n_values = 2 * 16 * 2 * 3 * 64, n_heads = 2 * 16 * 2 * 3;
  const auto bytes = [&](CacheType type) {
    spec.type = type;
    return kv_cache_bytes(spec).value();
  };
  EXPECT_EQ(bytes(CacheType::kF32), n_values * 4);
  EXPECT_EQ(bytes(CacheType::kF16), n_values * 2);
  EXPECT_EQ(bytes(CacheType::kBF16), n_values * 2);
  EXPECT_EQ(bytes(CacheType::kQ8_0), n_values + n_heads * 2 * 2);
  EXPECT_EQ(bytes(CacheType::kInt8), n_values + n_heads * 2);
  EXPECT_EQ(bytes(CacheType::kFp8), n_values + n_heads * 2);
}

TEST(KvCache, HeadsThatScalesDoNotDivideAreRefused) {
  KvCacheSpec spec = small_spec();
  spec.layers = {{2, 64}, {2, 40}};
  spec.type = CacheType::kQ8_0;
  const auto refused = KvCache::allocate(spec);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  for (const char* part : {"q8_0", "32", "layer 1", "40", "int8, fp8 and f16"})
    EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
  spec.type = CacheType::kInt8;
  EXPECT_TRUE(KvCache::allocate(spec).has_value());
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
  for (const int64_t n_pages : {int64_t{1} << 31, int64_t{1} << 61}) {
    spec.groups[0].n_pages = n_pages;
    EXPECT_EQ(KvCache::allocate(spec).error().code, ErrorCode::kInvalidArgument);
  }
}

// By brute force: the most pages that window - 1 + n_batch neighbouring positions touch, wherever they begin.
TEST(KvCache, WindowPagesAreEnoughAndNoMore) {
  for (const int64_t page_size : {8, 16}) {
    for (const int64_t window : {1, 2, 7, 8, 9, 30}) {
      for (const int64_t n_batch : {1, 2, 8, 9, 17}) {
        const int64_t n = window - 1 + n_batch;
        int64_t most = 0;
        for (int64_t first = 0; first < page_size; ++first)
          most = std::max(most, (first + n - 1) / page_size - first / page_size + 1);
        EXPECT_EQ(window_pages_for(1000, window, n_batch, page_size), most) << window << " " << n_batch;
        EXPECT_EQ(window_pages_for(page_size, window, n_batch, page_size), 1);
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

// A shared page that is written to is copied, and the copy needs a page.
TEST(KvCache, CopyOnWriteNeedsAPage) {
  KvCache cache = std::move(*KvCache::allocate(small_spec()));
  ASSERT_TRUE(cache.reserve(0, 36).has_value());  // all 5 pages
  cache.share(0, 1, 36);
  EXPECT_EQ(cache.reserve(1, 37).error().code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(cache.length(1), 36);
  cache.truncate(0, 32);  // sequence 1 is the last owner now
  EXPECT_EQ(cache.n_free_pages(), 0);
  EXPECT_TRUE(cache.reserve(1, 37).has_value());
}

TEST(KvCache, AWindowThatIsGoneCannotBeResumed) {
  KvCacheSpec spec = small_spec();
  spec.groups = {{.window = 10, .n_pages = 5}};
  KvCache cache = std::move(*KvCache::allocate(spec));
  ASSERT_TRUE(cache.reserve(0, 30).has_value());
  EXPECT_TRUE(cache.can_resume(0, 3));
  ASSERT_TRUE(cache.reserve(0, 31).has_value());  // row 30 sees keys from 21: pages 0 and 1 go
  EXPECT_EQ(cache.n_free_pages(), 5 - 2);
  EXPECT_TRUE(cache.can_resume(0, 0));
  EXPECT_FALSE(cache.can_resume(0, 24));  // row 24 sees keys from 15
  EXPECT_TRUE(cache.can_resume(0, 25));   // row 25 sees keys from 16
  EXPECT_TRUE(cache.can_resume(0, 31));
  EXPECT_FALSE(cache.can_resume(0, 32));
  cache.truncate(0, 25);
  cache.truncate(0, 0);
  EXPECT_EQ(cache.n_free_pages(), 5);
}

// ---- random operations against a plain model ----

using Row = std::vector<float>;

// What one sequence should hold, with no idea of pages but the size that they are given back in.
struct PlainSequence {
  std::vector<std::array<std::pair<Row, Row>, 2>> positions;  ///< (k, v) of each layer
  int64_t n_dropped = 0;                                      ///< pages that layer 1, which has a window, gave back
};

class RandomOperations : public ::testing::TestWithParam<CacheType> {
 protected:
  static constexpr int64_t kPage = 8, kWindow = 19, kMost = 64;
  static constexpr SequenceId kSequences = 4;

  RandomOperations()
      : pool_(2),
        ctx_{&best_kernel_table(), &pool_},
        spec_{.layers = {{2, 32, 0}, {1, 64, 1}},
              .groups = {{.n_pages = 15}, {.window = kWindow, .n_pages = 10}},
              .type = GetParam(),
              .page_size = kPage,
              .n_positions = kMost,
              .n_sequences = kSequences},
        cache_(std::move(*KvCache::allocate(spec_))) {}

  int64_t draw(int64_t n) { return static_cast<int64_t>(uniform_at(seed_, 0, at_++) * static_cast<double>(n)); }
  SequenceId draw_sequence() { return static_cast<SequenceId>(draw(kSequences)); }
  PlainSequence& plain(SequenceId s) { return plain_[static_cast<size_t>(s)]; }
  int64_t length(SequenceId s) { return static_cast<int64_t>(plain(s).positions.size()); }

  void grow();
  void share();
  void truncate();
  void append_random(SequenceId s, int64_t n);
  bool can_resume(SequenceId s, int64_t n) {
    return n == 0 || (n <= length(s) && plain(s).n_dropped * kPage <= std::max<int64_t>(n - kWindow + 1, 0));
  }
  void check();
  void check_head(int64_t layer, SequenceId s, int64_t head, int64_t pos);

  uint64_t seed_ = 0, at_ = 0;
  ThreadPool pool_;
  OpContext ctx_;
  KvCacheSpec spec_;
  KvCache cache_;
  std::array<PlainSequence, kSequences> plain_;
  int64_t n_grown_ = 0, n_refused_ = 0, n_shared_ = 0;
};

void RandomOperations::append_random(SequenceId s, int64_t n) {
  const int64_t first = length(s);
  plain(s).positions.resize(static_cast<size_t>(first + n));
  for (int64_t layer = 0; layer < 2; ++layer) {
    const auto width = 64;
    std::vector<float> k, v;
    for (int64_t i = 0; i < n; ++i) {
      Row k_row(width), v_row(width);
      for (float& x : k_row) x = static_cast<float>(draw(1 << 20) - (1 << 19)) * 0x1p-17F;
      for (float& x : v_row) x = static_cast<float>(draw(1 << 20) - (1 << 19)) * 0x1p-17F;
      k.insert(k.end(), k_row.begin(), k_row.end());
      v.insert(v.end(), v_row.begin(), v_row.end());
      plain(s).positions[static_cast<size_t>(first + i)][static_cast<size_t>(layer)] = {k_row, v_row};
    }
    cache_.append(layer, s, first, {k.data(), n, width}, {v.data(), n, width}, ctx_);
  }
}

void RandomOperations::grow() {
  const SequenceId s = draw_sequence();
  const int64_t n = std::min(1 + draw(draw(2) == 0 ? 2 : 20), kMost - length(s));
  const std::array n_free{cache_.n_free_pages(0), cache_.n_free_pages(1)};
  if (const Status status = cache_.reserve(s, length(s) + n); !status) {
    EXPECT_EQ(status.error().code, ErrorCode::kOutOfMemory);
    EXPECT_EQ(n_free, (std::array{cache_.n_free_pages(0), cache_.n_free_pages(1)}));
    ++n_refused_;
    return;
  }
  if (n == 0) return;
  ++n_grown_;
  plain(s).n_dropped = std::max(plain(s).n_dropped, std::max<int64_t>(length(s) - kWindow + 1, 0) / kPage);
  append_random(s, n);
}

void RandomOperations::share() {
  const SequenceId from = draw_sequence(), to = draw_sequence();
  const int64_t n = draw(length(from) + 1);
  EXPECT_EQ(cache_.can_resume(from, n), can_resume(from, n));
  if (from == to || !can_resume(from, n)) return;
  cache_.truncate(to, 0);
  cache_.share(from, to, n);
  plain(to) = {{plain(from).positions.begin(), plain(from).positions.begin() + n}, n == 0 ? 0 : plain(from).n_dropped};
  ++n_shared_;
}

void RandomOperations::truncate() {
  const SequenceId s = draw_sequence();
  const int64_t n = draw(3) == 0 ? 0 : length(s) - draw(std::min<int64_t>(length(s) + 1, 12));
  if (!can_resume(s, n)) return;
  cache_.truncate(s, n);
  plain(s).positions.resize(static_cast<size_t>(n));
  plain(s).n_dropped = std::min(plain(s).n_dropped, pages_for(n, kPage));
}

// The stored elements and scales of one head and position are those of the row encoded by itself.
void RandomOperations::check_head(int64_t layer, SequenceId s, int64_t head, int64_t pos) {
  const KvLayerShape& shape = spec_.layers[static_cast<size_t>(layer)];
  const auto& [k, v] = plain(s).positions[static_cast<size_t>(pos)][static_cast<size_t>(layer)];
  const KvHead kv = cache_.head(layer, s, head);
  const int64_t bytes = cache_type_info(spec_.type).element_bytes, n_scales = cache_n_scales(spec_.type, shape.d_head);
  const int64_t page = kv.page_ids[pos / kPage] * kv.page_stride, column = pos % kPage;
  std::vector<std::byte> elements(static_cast<size_t>(shape.d_head * bytes)), scales(static_cast<size_t>(2 * n_scales));
  const auto encode = [&](const Row& row) {
    if (spec_.type == CacheType::kF32) {
      std::memcpy(elements.data(), row.data() + head * shape.d_head, elements.size());
    } else {
      ctx_.kernels->encode[static_cast<int>(spec_.type)](
          {row.data() + head * shape.d_head, shape.d_head, kv.scale_block, elements.data(), scales.data()});
    }
  };
  const auto is_at = [](const std::vector<std::byte>& expected, int64_t i, int64_t n, const std::byte* found) {
    return std::memcmp(expected.data() + i * n, found, static_cast<size_t>(n)) == 0;
  };
  int64_t n_wrong = 0;
  encode(k);
  for (int64_t i = 0; i < shape.d_head; ++i)
    n_wrong += !is_at(elements, i, bytes, kv.k_base + page + (i * kPage + column) * bytes);
  for (int64_t b = 0; b < n_scales; ++b) n_wrong += !is_at(scales, b, 2, kv.k_scales + page + (b * kPage + column) * 2);
  encode(v);
  n_wrong += !is_at(elements, 0, shape.d_head * bytes, kv.v_base + page + column * shape.d_head * bytes);
  if (n_scales > 0) n_wrong += !is_at(scales, 0, n_scales * 2, kv.v_scales + page + column * n_scales * 2);
  ASSERT_EQ(n_wrong, 0) << "layer " << layer << ", sequence " << s << ", head " << head << ", position " << pos;
}

// Every position is there, and every page of the pool is owned by a sequence or free, never both, never neither.
void RandomOperations::check() {
  for (int64_t layer = 0; layer < 2; ++layer) {
    std::set<int32_t> used;
    const int64_t n_pages = spec_.groups[static_cast<size_t>(layer)].n_pages;
    for (SequenceId s = 0; s < kSequences; ++s) {
      ASSERT_EQ(cache_.length(s), length(s));
      const int64_t first_page = layer == 1 ? plain(s).n_dropped : 0;
      const KvHead kv = cache_.head(layer, s, 0);
      std::set<int32_t> own(kv.page_ids + first_page, kv.page_ids + pages_for(length(s), kPage));
      EXPECT_EQ(static_cast<int64_t>(own.size()), pages_for(length(s), kPage) - first_page);
      for (const int32_t page : own) ASSERT_TRUE(page >= 0 && page < n_pages);
      used.merge(own);
      for (int64_t pos = first_page * kPage; pos < length(s); ++pos) {
        for (int64_t head = 0; head < spec_.layers[static_cast<size_t>(layer)].n_kv_head; ++head) {
          ASSERT_NO_FATAL_FAILURE(check_head(layer, s, head, pos));
        }
      }
    }
    ASSERT_EQ(cache_.n_free_pages(layer), n_pages - static_cast<int64_t>(used.size()));
  }
}

TEST_P(RandomOperations, HoldWhatAPlainModelHolds) {
  for (seed_ = 1; seed_ <= 8; ++seed_) {
    for (int step = 0; step < 60; ++step) {
      const int64_t choice = draw(8);
      if (choice < 5) grow();
      if (choice == 5 || choice == 6) share();
      if (choice == 7) truncate();
      ASSERT_NO_FATAL_FAILURE(check()) << "seed " << seed_ << ", step " << step;
    }
  }
  for (SequenceId s = 0; s < kSequences; ++s) cache_.truncate(s, 0);
  EXPECT_EQ(cache_.n_free_pages(0), spec_.groups[0].n_pages);
  EXPECT_EQ(cache_.n_free_pages(1), spec_.groups[1].n_pages);
  EXPECT_GT(n_grown_, 30);  // the pool is neither always full nor never
  EXPECT_GT(n_refused_, 30);
  EXPECT_GT(n_shared_, 30);
}

std::string type_name(const ::testing::TestParamInfo<CacheType>& type) {
  return std::string(cache_type_info(type.param).name);
}
INSTANTIATE_TEST_SUITE_P(All, RandomOperations,
                         ::testing::Values(CacheType::kF32, CacheType::kF16, CacheType::kBF16, CacheType::kQ8_0,
                                           CacheType::kInt8, CacheType::kFp8),
                         type_name);

}  // namespace
}  // namespace vitro
