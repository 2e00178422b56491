// The same bits whatever the threads, the chunks of the prompt, the pages of the cache, the company in the batch, and
// who looks on: for every kernel table and every weight type.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "generate/logits_source.h"
#include "generate/score.h"
#include "inspect/record.h"
#include "tensor/quant_block.h"
#include "testing/engine.h"
#include "testing/random_model.h"
#include "testing/sanitizers.h"

namespace vitro::testing {
namespace {

struct Case {
  const KernelTable* table;
  DType dtype;
  int64_t d_head;
};

// Slow tables and sanitizer builds leave the second head width out, and both together all weight types but two: the
// reference decodes every type by the same loop.
constexpr bool kIsInstrumented = VITRO_HAS_ASAN || VITRO_HAS_TSAN;

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const KernelTable* table : all_tables()) {
    const bool is_reference = std::string_view(table->name) == "reference";
    const bool is_slow = kIsInstrumented || is_reference;
    for (const DType dtype : kPanelTypes) {
      if (kIsInstrumented && is_reference && dtype != DType::kBF16 && dtype != DType::kQ4_K) continue;
      for (const int64_t d_head : {32, 64}) {
        if (!is_slow || d_head == 32) out.push_back({table, dtype, d_head});
      }
    }
  }
  return out;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  return std::string(info.param.table->name) + "_" + std::string(dtype_info(info.param.dtype).name) + "_" +
         std::to_string(info.param.d_head);
}

class Invariance : public ::testing::TestWithParam<Case> {
 protected:
  Invariance() : path_(write_random_model(folder_.path(), {.dtype = GetParam().dtype, .d_head = GetParam().d_head})) {}

  std::vector<float> run(std::span<const int32_t> ids, const RunShape& shape, int n_threads = 1,
                         HookSink* hooks = nullptr) {
    Bench bench(*GetParam().table, n_threads);
    Session session = make_session(load(path_, bench), static_cast<int64_t>(ids.size()), shape, bench);
    session.set_hooks(hooks);
    return all_logits(session, ids);
  }

  TempFolder folder_;
  std::filesystem::path path_;
};

TEST_P(Invariance, ThreadsChunksPagesAndHooks) {
  const std::vector<int32_t> ids = random_ids(100, 2);
  const std::vector<float> whole = run(ids, {});
  ASSERT_TRUE(std::all_of(whole.begin(), whole.end(), [](float x) { return std::isfinite(x); }));
  EXPECT_TRUE(same_bits(run(ids, {}, 2), whole)) << "two threads";
  for (const int64_t chunk : {1, 2, 7, 64})
    EXPECT_TRUE(same_bits(run(ids, {.n_batch = chunk}), whole)) << "chunks of " << chunk;
  for (const int64_t page : {8, 64})
    EXPECT_TRUE(same_bits(run(ids, {.page_size = page}, 2), whole)) << "pages of " << page;
  Recorder recorder(HookMask::all());
  EXPECT_TRUE(same_bits(run(ids, {}, 1, &recorder), whole)) << "hooks";
  EXPECT_NE(recorder.find(HookPoint::kMlpPost, 1), nullptr);
}

TEST_P(Invariance, CacheOnAndOff) {
  Bench bench(*GetParam().table, 2);
  const std::vector<int32_t> ids = random_ids(20, 3);
  Session session = make_session(load(path_, bench), 40, {.n_sequences = 2}, bench);
  CachedLogits cached(session, 0, 12);
  UncachedLogits uncached(session, 1);
  const std::span<const int32_t> all(ids);
  for (size_t n = 12; n <= ids.size(); ++n) {
    const auto next = n == 12 ? all.first(12) : all.subspan(n - 1, 1);
    const auto with = cached.feed(next);
    ASSERT_TRUE(with.has_value());
    const std::vector<float> kept(with->begin(), with->end());
    const auto without = uncached.feed(next);
    ASSERT_TRUE(without.has_value());
    EXPECT_TRUE(same_bits(kept, *without)) << n << " tokens";
  }
}

TEST_P(Invariance, AloneAndAmongOthers) {
  Bench bench(*GetParam().table, 2);
  const auto model = load(path_, bench);
  const std::vector<int32_t> ids = random_ids(33, 4);
  Session alone = make_session(model, 80, {}, bench);
  const auto expected_last = alone.feed(0, ids);
  ASSERT_TRUE(expected_last.has_value());
  const std::vector<float> expected(expected_last->begin(), expected_last->end());

  // Five others of other lengths and ages share the passes; ours is the third, and comes in two parts.
  Session shared = make_session(model, 80, {.n_batch = 128, .page_size = 8, .n_sequences = 6}, bench);
  std::vector<std::vector<int32_t>> others;
  for (uint64_t s = 0; s < 6; ++s) others.push_back(random_ids(static_cast<int64_t>(3 + 5 * s), 10 + s));
  others[2].assign(ids.begin(), ids.begin() + 20);
  for (const size_t part : {size_t{0}, size_t{1}}) {
    if (part == 1) others[2].assign(ids.begin() + 20, ids.end());
    std::vector<SequenceInput> inputs;
    for (SequenceId s = 0; s < 6; ++s) inputs.push_back({s, others[static_cast<size_t>(s)]});
    const auto logits = shared.feed_batch(inputs);
    ASSERT_TRUE(logits.has_value()) << logits.error().message;
    if (part == 0) continue;
    EXPECT_TRUE(same_bits({logits->row(2), static_cast<size_t>(logits->width)}, expected));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Invariance, ::testing::ValuesIn(cases()), case_name);

// The same for every type of the cache, on a model whose first layer attends a window.
struct CacheCase {
  const KernelTable* table;
  CacheType type;
};

std::vector<CacheCase> cache_cases() {
  std::vector<CacheCase> out;
  for (const KernelTable* table : all_tables()) {
    for (const CacheType type : all_cache_types()) out.push_back({table, type});
  }
  return out;
}

std::string cache_case_name(const ::testing::TestParamInfo<CacheCase>& info) {
  return std::string(info.param.table->name) + "_" + std::string(cache_type_info(info.param.type).name);
}

class CacheInvariance : public ::testing::TestWithParam<CacheCase> {
 protected:
  CacheInvariance() : one_(*GetParam().table, 1), two_(*GetParam().table, 2) {
    const auto path = write_random_model(folder_.path(), {.d_model = 64, .d_ff = 64, .d_head = 32, .n_kv_head = 1});
    model_ = load_turned(path, one_, [](ModelConfig& config) {
      config.blocks[0].attn.mask = MaskKind::kWindow;
      config.blocks[0].attn.window = 21;
    });
  }
  Session session(RunShape shape, Bench& bench, int64_t n_ctx = 100) {
    shape.cache_type = GetParam().type;
    return make_session(model_, n_ctx, shape, bench);
  }
  std::vector<float> run(std::span<const int32_t> ids, const RunShape& shape, Bench& bench) {
    Session session = this->session(shape, bench);
    return all_logits(session, ids);
  }

  TempFolder folder_;
  Bench one_, two_;
  std::shared_ptr<const Model> model_;
};

TEST_P(CacheInvariance, ThreadsChunksPagesAndWindows) {
  const std::vector<int32_t> ids = random_ids(100, 2);
  const std::vector<float> whole = run(ids, {}, one_);
  ASSERT_TRUE(std::all_of(whole.begin(), whole.end(), [](float x) { return std::isfinite(x); }));
  for (const bool keeps_only_windows : {false, true}) {
    for (const int64_t page : {8, 16, 64}) {
      for (const int64_t chunk : {1, 2, 7, 64, 256}) {
        const RunShape shape{.n_batch = chunk, .page_size = page, .keeps_only_windows = keeps_only_windows};
        EXPECT_TRUE(same_bits(run(ids, shape, chunk % 2 == 0 ? two_ : one_), whole))
            << "chunks of " << chunk << ", pages of " << page << ", windows alone kept: " << keeps_only_windows;
      }
    }
  }
}

TEST_P(CacheInvariance, CacheOnAndOffAloneAndAmongOthers) {
  const std::vector<int32_t> ids = random_ids(60, 3);
  Session session = this->session({.n_sequences = 2, .keeps_only_windows = true}, one_);
  Session shared = this->session({.page_size = 8, .n_sequences = 6, .keeps_only_windows = true}, two_);
  CachedLogits cached(session, 0, 40);
  UncachedLogits uncached(session, 1);
  const std::span<const int32_t> all(ids);
  for (size_t n = 40; n <= ids.size(); ++n) {
    const auto next = n == 40 ? all.first(40) : all.subspan(n - 1, 1);
    const auto with = cached.feed(next);
    ASSERT_TRUE(with.has_value());
    const std::vector<float> kept(with->begin(), with->end());
    const auto without = uncached.feed(next);
    ASSERT_TRUE(without.has_value());
    EXPECT_TRUE(same_bits(kept, *without)) << n << " tokens";
    std::vector<SequenceInput> inputs;
    for (SequenceId s = 0; s < 6; ++s) inputs.push_back({s, s == 2 ? next : all.subspan(n / 2, n % 3 + 1)});
    const auto among = shared.feed_batch(inputs);
    ASSERT_TRUE(among.has_value()) << among.error().message;
    EXPECT_TRUE(same_bits({among->row(2), static_cast<size_t>(among->width)}, kept)) << n << " tokens among others";
  }
}

// A test of bits alone would not see a type that is not used at all.
TEST_P(CacheInvariance, TheTypeMatters) {
  const std::vector<int32_t> ids = random_ids(40, 4);
  const std::vector<float> rounded = run(ids, {}, one_);
  Session session = make_session(model_, 40, {}, one_);
  const std::vector<float> exact = all_logits(session, ids);
  double worst = 0, largest = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(rounded[i]) - static_cast<double>(exact[i])));
    largest = std::max(largest, std::abs(static_cast<double>(exact[i])));
  }
  EXPECT_EQ(worst == 0, GetParam().type == CacheType::kF32);
  EXPECT_LT(worst, 0.1 * largest);
}

INSTANTIATE_TEST_SUITE_P(All, CacheInvariance, ::testing::ValuesIn(cache_cases()), cache_case_name);

// Longer than a span of attention (512 keys), so that spans are combined.
TEST(InvarianceLong, ChunksAcrossSpans) {
  TempFolder folder;
  const auto path = write_random_model(folder.path(), {.n_layer = 1});
  const std::vector<int32_t> ids = random_ids(1100, 5);
  Bench bench(best_kernel_table(), 2);
  const auto model = load(path, bench);
  Session whole_session = make_session(model, 1100, {.n_batch = 1100}, bench);
  const std::vector<float> whole = all_logits(whole_session, ids);
  Session chunked_session = make_session(model, 1100, {.n_batch = 13, .page_size = 8}, bench);
  EXPECT_TRUE(same_bits(all_logits(chunked_session, ids), whole));
}

// One masked pass gives the losses of its prefixes run apart.
TEST(Score, EqualsPrefixesApart) {
  TempFolder folder;
  const auto path = write_random_model(folder.path(), {});
  const std::vector<int32_t> ids = random_ids(24, 6);
  Bench bench(best_kernel_table());
  Session session = make_session(load(path, bench), 24, {}, bench);
  const auto score = score_ids(session, ids, {.window = 24, .stride = 24}, {});
  ASSERT_TRUE(score.has_value());
  double apart = 0;
  for (size_t n = 1; n < ids.size(); ++n) {
    session.begin(0, {});
    const auto logits = session.feed(0, std::span(ids).first(n));
    ASSERT_TRUE(logits.has_value());
    double sum = 0;
    for (const float x : *logits) sum += std::exp(static_cast<double>(x));
    apart += std::log(sum) - static_cast<double>((*logits)[static_cast<size_t>(ids[n])]);
  }
  EXPECT_EQ(score->n_tokens, 23);
  EXPECT_NEAR(score->total_nll, apart, 1e-5 * apart);
}

// Windows that overlap count every token but the first once, with at least window - stride tokens before it.
TEST(Score, StrideCountsEachTokenOnce) {
  TempFolder folder;
  const auto path = write_random_model(folder.path(), {});
  const std::vector<int32_t> ids = random_ids(50, 7);
  Bench bench(best_kernel_table());
  Session session = make_session(load(path, bench), 16, {.n_batch = 5}, bench);
  const auto overlapping = score_ids(session, ids, {.window = 16, .stride = 4}, {});
  ASSERT_TRUE(overlapping.has_value());
  EXPECT_EQ(overlapping->n_tokens, 49);
  const auto apart = score_ids(session, ids, {.window = 16, .stride = 16}, {});
  ASSERT_TRUE(apart.has_value());
  EXPECT_EQ(apart->n_tokens, 50 - 4);  // windows of 16, 16, 16, 2: the first of each is not counted
  EXPECT_NE(overlapping->mean_nll(), apart->mean_nll());
}

// A BOS takes one place of each window, and still no token is skipped.
TEST(Score, BosTakesAPlaceAndNoTokenIsLost) {
  TempFolder folder;
  const auto path = write_random_model(folder.path(), {});
  const std::vector<int32_t> ids = random_ids(50, 8);
  Bench bench(best_kernel_table());
  Session session = make_session(load(path, bench), 16, {}, bench);
  const auto score = score_ids(session, ids, {.window = 16, .stride = 16, .bos_id = 3}, {});
  ASSERT_TRUE(score.has_value());
  EXPECT_EQ(score->n_tokens, 50);  // the first of each window follows the BOS
}

TEST(SessionInput, PlansThatCannotBeAreRefused) {
  TempFolder folder;
  const auto path = write_random_model(folder.path(), {.n_layer = 1});
  Bench bench(best_kernel_table());
  const auto model = load(path, bench);
  SessionShape shape{.n_ctx = 8, .n_threads = 1};
  for (const int64_t page_size : {int64_t{0}, int64_t{12}, int64_t{1} << 62}) {
    shape.page_size = page_size;
    EXPECT_EQ(Session::create(model, shape, bench.ctx).error().code, ErrorCode::kInvalidArgument);
  }
  shape = {.n_ctx = int64_t{1} << 27, .n_sequences = 64, .n_threads = 1};  // terabytes
  EXPECT_EQ(Session::create(model, shape, bench.ctx).error().code, ErrorCode::kOutOfMemory);
  shape = {.n_ctx = 8, .n_batch = int64_t{1} << 40, .n_threads = 1};
  EXPECT_EQ(Session::create(model, shape, bench.ctx).error().code, ErrorCode::kInvalidArgument);
}

TEST(SessionInput, BadInputIsRefusedAndNothingIsAppended) {
  TempFolder folder;
  const auto path = write_random_model(folder.path(), {.n_layer = 1});
  Bench bench(best_kernel_table());
  Session session = make_session(load(path, bench), 8, {.n_sequences = 2}, bench);
  const std::vector<int32_t> nine(9, 1), bad{1, 272}, negative{-1}, fine{1, 2};
  EXPECT_EQ(session.feed(0, nine).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(session.feed(0, bad).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(session.feed(0, negative).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(session.feed(0, {}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(session.feed(5, fine).error().code, ErrorCode::kInvalidArgument);
  const std::vector<SequenceInput> twice{{0, fine}, {0, fine}};
  EXPECT_EQ(session.feed_batch(twice).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(session.length(0), 0);
  EXPECT_TRUE(session.feed(0, fine).has_value());
  EXPECT_EQ(session.length(0), 2);
}

}  // namespace
}  // namespace vitro::testing
