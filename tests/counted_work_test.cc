// FLOPs that the plan says against those that the kernels were asked for: a table of kernels that count, over the
// reference ones. A multiply-add is two; of attention the pairs that the mask lets through. Kernels take keys in tiles,
// whose masked columns are computed and thrown away: that overhead is counted beside, at most a tile less one key at
// each end of what a row sees (a prompt of n tokens: about 32 keys a row and head, whatever n).
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <utility>

#include "kernels/matmul_tables.h"
#include "plan/session_plan.h"
#include "plan/work.h"
#include "testing/engine.h"
#include "testing/goldens.h"

namespace vitro::testing {
namespace {

// Kernels are plain functions, so what they count has no other place.
struct Counts {
  std::atomic<int64_t> products{0};   ///< FLOPs of matrix products
  std::atomic<int64_t> attention{0};  ///< FLOPs of scores and weighted sums, visible pairs
  std::atomic<int64_t> tiles{0};      ///< the same for whole tiles of kAttendTile keys, masked columns included
  std::atomic<int64_t> key_flops{0};  ///< of one key, summed over rows and heads
};
Counts g_counts;

const KernelTable& reference() { return *find_kernel_table("reference"); }

template <int kType>
void counted_matmul(const MatmulArgs& args) noexcept {
  g_counts.products += 2 * args.n_rows * args.n_cols * args.n_tokens;
  reference().matmul[kType](args);
}

template <int kType>
void counted_attend(const AttendArgs& args) noexcept {
  for (int64_t i = 0; i < args.n_rows; ++i) {
    const AttendRow& row = args.rows[i];
    const int64_t n_keys = std::max<int64_t>(row.last_pos - row.first_pos + 1, 0);
    const int64_t n_tiles = n_keys == 0 ? 0 : row.last_pos / kAttendTile - row.first_pos / kAttendTile + 1;
    g_counts.attention += 2 * 2 * n_keys * args.kv.d_head;  // q k, and the weighted sum of v
    g_counts.key_flops += 2 * 2 * args.kv.d_head;
    g_counts.tiles += 2 * 2 * n_tiles * kAttendTile * args.kv.d_head;
  }
  reference().attend[kType](args);
}

template <int... kTypes>
std::array<MatmulFn, sizeof...(kTypes)> counted_matmuls(std::integer_sequence<int, kTypes...>) {
  return {(reference().matmul[kTypes] ? &counted_matmul<kTypes> : nullptr)...};
}

template <int... kTypes>
void count_attend(KernelTable* table, std::integer_sequence<int, kTypes...>) {
  ((table->attend[kTypes] = &counted_attend<kTypes>), ...);
}

class CountedWork : public ::testing::TestWithParam<Golden> {
 protected:
  CountedWork() : matmuls_(counted_matmuls(std::make_integer_sequence<int, kNMatmulTypes>())), table_(reference()) {
    table_.matmul = matmuls_.data();
    count_attend(&table_, std::make_integer_sequence<int, kNCacheTypes>());
    bench_ = std::make_unique<Bench>(table_, n_threads());
    const Checkpoint checkpoint = Checkpoint::open(golden_path(GetParam())).value();
    const ModelDescription description = describe_model(checkpoint).value();
    const auto slots = description.arch->tensor_slots(checkpoint.format(), description.config);
    const auto bound = bind_tensors(checkpoint, slots, description.arch->ignorable_tensors).value();
    weights_ = plan_weights(description.config, bound, true);
    model_ = load_model(checkpoint, {}, bench_->pool).value();
  }

  // One family with several threads, which cut heads and panels.
  static int n_threads() { return std::string_view(GetParam().name) == "llama-gqa" ? 3 : 1; }
  Session session(SessionShape shape) {
    shape.n_threads = n_threads();
    return Session::create(model_, shape, bench_->ctx).value();
  }

  PassWork planned(const PassShape& shape) const { return pass_work(model_->config, weights_, shape, {}); }

  // Runs, and holds what was counted against the sum of the plans.
  template <class Run>
  void expect_planned(const std::vector<PassShape>& passes, const Run& run) {
    g_counts.products = g_counts.attention = g_counts.tiles = g_counts.key_flops = 0;
    run();
    int64_t n_products = 0, n_attention = 0;
    for (const PassShape& pass : passes) {
      const PassWork work = planned(pass);
      n_attention += work[Part::kScores].flops;
      n_products += work.total().flops - work[Part::kScores].flops;
    }
    EXPECT_EQ(g_counts.products, n_products);
    EXPECT_EQ(g_counts.attention, n_attention);
    EXPECT_GE(g_counts.tiles, g_counts.attention);
    EXPECT_LE(g_counts.tiles, g_counts.attention + 2 * (kAttendTile - 1) * g_counts.key_flops);
  }

  std::array<MatmulFn, kNMatmulTypes> matmuls_;
  KernelTable table_;
  std::unique_ptr<Bench> bench_;
  WeightsPlan weights_;
  std::shared_ptr<const Model> model_;
};

const std::vector<int32_t> kIds(64, 5);
std::span<const int32_t> ids(int64_t n) { return std::span(kIds).first(static_cast<size_t>(n)); }

TEST_P(CountedWork, PrefillDecodeAndChunks) {
  const int64_t n = std::min<int64_t>(37, n_reachable(model_->config) - 2);
  Session whole = session({.n_ctx = n + 2, .n_batch = 64});
  expect_planned({{.n_rows = n}}, [&] { ASSERT_TRUE(whole.feed(0, ids(n)).has_value()); });
  expect_planned({{.n_rows = 1, .n_past = n}, {.n_rows = 1, .n_past = n + 1}}, [&] {
    ASSERT_TRUE(whole.feed(0, ids(1)).has_value());
    ASSERT_TRUE(whole.feed(0, ids(1)).has_value());
  });

  Session chunked = session({.n_ctx = n, .n_batch = 10});
  std::vector<PassShape> chunks;
  for (int64_t first = 0; first < n; first += 10) {
    const int64_t n_rows = std::min<int64_t>(10, n - first);
    chunks.push_back({.n_rows = n_rows, .n_past = first, .n_logits = first + n_rows == n ? 1 : 0});
  }
  expect_planned(chunks, [&] { ASSERT_TRUE(chunked.feed(0, ids(n)).has_value()); });
}

TEST_P(CountedWork, SequencesAndAllLogits) {
  Session three = session({.n_ctx = 20, .n_sequences = 3, .n_batch = 64, .n_logits = 8});
  const std::array inputs{SequenceInput{0, ids(6)}, SequenceInput{1, ids(6)}, SequenceInput{2, ids(6)}};
  expect_planned({{.n_rows = 6, .n_sequences = 3}}, [&] { ASSERT_TRUE(three.feed_batch(inputs).has_value()); });
  const std::array uneven{SequenceInput{0, ids(3)}, SequenceInput{2, ids(1)}};
  expect_planned({{.n_rows = 3, .n_past = 6}, {.n_rows = 1, .n_past = 6}},
                 [&] { ASSERT_TRUE(three.feed_batch(uneven).has_value()); });
  expect_planned({{.n_rows = 5, .n_past = 6, .n_logits = 5}},
                 [&] { ASSERT_TRUE(three.feed_all(1, ids(5), [](int64_t, const Rows&) {}).has_value()); });
}

TEST_P(CountedWork, WindowsThatAreKeptAlone) {
  const int64_t n = std::min<int64_t>(50, n_reachable(model_->config));
  Session session = this->session({.n_ctx = n, .n_batch = 7, .keeps_only_windows = true});
  std::vector<PassShape> chunks;
  for (int64_t first = 0; first < n; first += 7) {
    const int64_t n_rows = std::min<int64_t>(7, n - first);
    chunks.push_back({.n_rows = n_rows, .n_past = first, .n_logits = first + n_rows == n ? 1 : 0});
  }
  expect_planned(chunks, [&] { ASSERT_TRUE(session.feed(0, ids(n)).has_value()); });
}

std::string golden_name(const ::testing::TestParamInfo<Golden>& golden) { return test_name(golden.param); }
INSTANTIATE_TEST_SUITE_P(All, CountedWork, ::testing::ValuesIn(kGoldens), golden_name);

}  // namespace
}  // namespace vitro::testing
