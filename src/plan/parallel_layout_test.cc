#include "plan/parallel_layout.h"

#include <gtest/gtest.h>

#include "plan/plan_test_util.h"

namespace vitro {
namespace {

using testing::planned_model;

int64_t n_on_rank(const testing::PlannedModel& model, const ParallelLayout& layout, int64_t stage) {
  int64_t n = 0;
  const auto stages = rank_tensors(model.config, model.slots, layout);
  for (const RankTensor& tensor : stages[static_cast<size_t>(stage)]) n += tensor.n();
  return n;
}

TEST(ParallelLayout, OneRankHoldsTheModel) {
  EXPECT_EQ(n_on_rank(planned_model("llama2-70b"), {}, 0), 68'976'648'192);
  EXPECT_EQ(n_on_rank(planned_model("gpt2"), {}, 0), 124'439'808);
}

// Matrices and the vocabulary are divided, norms are not.
TEST(ParallelLayout, TensorParallelRanksDivideMatrices) {
  const auto model = planned_model("llama2-70b");
  const int64_t n_norms = 8192 * 161;
  EXPECT_EQ(n_on_rank(model, {.tensor = 8}, 0), (68'976'648'192 - n_norms) / 8 + n_norms);
}

// 8 heads of keys and values on 16 ranks: each is there twice.
TEST(ParallelLayout, HeadsOfKeysAreRepeatedOnRanks) {
  const auto model = planned_model("llama2-70b");
  const int64_t n_norms = 8192 * 161, n_kv = int64_t{80} * 2 * 1024 * 8192;
  EXPECT_EQ(n_on_rank(model, {.tensor = 16}, 0), (68'976'648'192 - n_norms - n_kv) / 16 + n_kv / 8 + n_norms);
}

TEST(ParallelLayout, StagesHoldTheirLayers) {
  const auto model = planned_model("llama-7b");
  const int64_t n_layer = 202'383'360, n_embedding = 131'072'000;
  EXPECT_EQ(n_on_rank(model, {.pipeline = 4}, 0), 8 * n_layer + n_embedding);
  EXPECT_EQ(n_on_rank(model, {.pipeline = 4}, 1), 8 * n_layer);
  EXPECT_EQ(n_on_rank(model, {.pipeline = 4}, 3), 8 * n_layer + n_embedding + 4096);
}

// A tied head needs the embedding on both ends of the pipeline.
TEST(ParallelLayout, ATiedHeadIsOnTheLastStageOnceMore) {
  const auto model = planned_model("gpt2");
  int64_t n = 0;
  for (int64_t stage = 0; stage < 2; ++stage) n += n_on_rank(model, {.pipeline = 2}, stage);
  EXPECT_EQ(n, 124'439'808 + 50'257 * 768);
}

TEST(ParallelLayout, ChunksGoRoundTheStages) {
  const ParallelLayout layout{.pipeline = 2, .n_chunks = 2};
  std::vector<int64_t> stages;
  for (int64_t layer = 0; layer < 8; ++layer) stages.push_back(stage_of_layer(layout, 8, layer));
  EXPECT_EQ(stages, (std::vector<int64_t>{0, 0, 1, 1, 0, 0, 1, 1}));
}

// Experts are one slot a projection: [n_expert, rows, cols].
TEST(ParallelLayout, ExpertParallelRanksDivideExperts) {
  ModelConfig config{.d_model = 64, .vocab_size = 100, .n_ctx = 128};
  config.blocks.resize(1);
  config.blocks[0].ffn.moe = {.n_expert = 8, .n_expert_used = 2, .d_ff_expert = 32};
  const std::vector<TensorSlot> slots = {{.name = "blocks.0.ffn.experts.w_gate", .shape = {8, 32, 64}},
                                         {.name = "blocks.0.ffn.experts.w_down", .shape = {8, 64, 32}},
                                         {.name = "blocks.0.ffn.router.w", .shape = {8, 64}}};
  const auto tensors = rank_tensors(config, slots, {.data = 4, .tensor = 2, .expert = 4})[0];
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors[0].n_matrices, 2);
  EXPECT_EQ(tensors[0].rows, 16);
  EXPECT_EQ(tensors[0].cols, 64);
  EXPECT_EQ(tensors[1].n(), 2 * 64 * 16);
  EXPECT_EQ(tensors[2].n(), 8 * 64);
}

TEST(ParallelLayout, ErrorsNameTheOption) {
  struct Case {
    ParallelLayout layout;
    std::string_view words;
  };
  const auto llama = planned_model("llama-7b");
  const Case cases[] = {
      {{.data = 0}, "--dp 0"},
      {{.data = -4}, "--dp -4"},
      {{.data = int64_t{1} << 40}, "--dp 1099511627776"},
      {{.tensor = 3}, "--tp 3: does not divide 32 heads"},
      {{.tensor = 64}, "--tp 64"},
      {{.pipeline = 64}, "--pp 64: more stages than 32 layers"},
      {{.pipeline = 5}, "--pp 5 x --interleave 1: does not divide 32 layers"},
      {{.pipeline = 4, .n_chunks = 3}, "--interleave 3: does not divide"},
      {{.n_chunks = 2}, "--interleave 2: needs --pp"},
      {{.expert = 8}, "--ep 8: the model has no experts"},
      {{.is_sequence_parallel = true}, "--sequence-parallel: needs --tp"},
      {{.zero_stage = 4}, "--zero 4"},
      {{.data = 4, .zero_stage = 2, .zero_unit = ZeroUnit::kTensor}, "--gather tensor: with --zero 2 and --dp 4"},
      {{.zero_stage = 3, .zero_unit = ZeroUnit::kTensor}, "--gather tensor: with --zero 3 and --dp 1"},
      {{.bucket_bytes = -1}, "bucket bytes -1"},
  };
  for (const Case& one : cases) {
    const Status status = check_layout(llama.config, one.layout, 4096, 8);
    ASSERT_FALSE(status) << one.words;
    EXPECT_NE(status.error().message.find(one.words), std::string::npos) << status.error().message;
  }
  EXPECT_FALSE(check_layout(llama.config, {.tensor = 8, .is_sequence_parallel = true}, 4097, 1));
  EXPECT_FALSE(check_layout(llama.config, {.pipeline = 4, .n_chunks = 2}, 4096, 6));  // 6 micro-batches, 4 stages
  EXPECT_TRUE(check_layout(llama.config, {.data = 4, .tensor = 8, .pipeline = 4, .n_chunks = 2}, 4096, 8));
}

}  // namespace
}  // namespace vitro
