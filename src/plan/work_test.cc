// FLOPs of a Llama-7B pass and the crossovers, and pairs that masks let through counted one by one.
#include "plan/work.h"

#include <gtest/gtest.h>

#include "plan/plan_test_util.h"

namespace vitro {
namespace {

using testing::planned_model;

// FLOPs of one layer of Llama-7B, prefill of n rows.
struct LayerWork {
  double projections, scores, scores_dense, ffn;
};

LayerWork llama_layer(int64_t n) {
  const auto model = planned_model("llama-7b");
  const PassWork work = pass_work(model.config, model.weights(), {.n_rows = n}, {});
  const auto a_layer = [](int64_t flops) { return static_cast<double>(flops) / 32; };
  return {a_layer(work[Part::kQkv].flops + work[Part::kAttnOut].flops), a_layer(work[Part::kScores].flops),
          a_layer(work[Part::kScores].flops_dense), a_layer(work[Part::kFfn].flops)};
}

TEST(Work, Llama7BLayerAt4096) {
  const LayerWork work = llama_layer(4096);
  EXPECT_NEAR(work.projections, 549.8e9, 0.1e9);
  EXPECT_NEAR(work.scores_dense, 274.9e9, 0.1e9);
  EXPECT_NEAR(work.scores, 137.5e9, 0.1e9);
  EXPECT_NEAR(work.ffn, 1108.1e9, 0.1e9);
}

// First length at which attention costs more than the feed-forward part.
template <class More>
int64_t crossover(More&& more) {
  int64_t below = 1, above = 1 << 17;
  while (above - below > 1) {
    const int64_t middle = (below + above) / 2;
    (more(llama_layer(middle)) ? above : below) = middle;
  }
  return above;
}

TEST(Work, WhereAttentionPassesTheFeedForwardPart) {
  EXPECT_EQ(crossover([](const LayerWork& w) { return w.scores_dense >= w.ffn; }), 16'512);
  EXPECT_NEAR(static_cast<double>(crossover([](const LayerWork& w) { return w.scores >= w.ffn; })), 33'024, 1);
  EXPECT_EQ(crossover([](const LayerWork& w) { return w.scores_dense + w.projections >= w.ffn; }), 8'320);
  EXPECT_NEAR(static_cast<double>(crossover([](const LayerWork& w) { return w.scores + w.projections >= w.ffn; })),
              16'640, 1);
}

TEST(Work, ForwardOfATokenIsTwiceTheMatrices) {
  const auto model = planned_model("llama-7b");
  const PassWork work = pass_work(model.config, model.weights(), {.n_rows = 1}, {});
  const int64_t n_matrix = 6'738'415'616 - 131'072'000 - 266'240;  // embedding is looked up, norms are no products
  EXPECT_EQ(work.total().flops, 2 * n_matrix + int64_t{32} * 4 * 32 * 128);
  EXPECT_EQ(work.total().weight_bytes, 2 * n_matrix);
}

TEST(Work, ATiedHeadIsMultiplied) {
  const auto model = planned_model("llama3.2-1b");
  const PassWork work = pass_work(model.config, model.weights(), {.n_rows = 10, .n_logits = 1}, {});
  EXPECT_EQ(work[Part::kHead].flops, int64_t{2} * 128'256 * 2048);
}

TEST(Work, PastKeysAreReadAndNewOnesWritten) {
  const auto model = planned_model("llama-7b");
  const PassWork work = pass_work(model.config, model.weights(), {.n_rows = 1, .n_past = 1000, .n_sequences = 4}, {});
  EXPECT_EQ(work[Part::kScores].cache_bytes, int64_t{4} * 1001 * 524'288);
}

// The numbers of every product, and its sum is what pass_work counts.
TEST(Work, TheArithmeticIsWrittenOut) {
  const auto llama = planned_model("llama-7b");
  const PassWork prompt = pass_work(llama.config, llama.weights(), {.n_rows = 4096}, {});
  const PlanItem item = work_item(prompt, "FLOPs");
  EXPECT_EQ(item.amount, prompt.total().flops);
  EXPECT_EQ(find_item(item, "feed-forward")->arithmetic, "2 x 4,096 x 4,328,521,728");
  EXPECT_EQ(find_item(item, "q, k, v projections/k")->arithmetic, "2 x 4,096 x 536,870,912");
  const PlanItem& scores = *find_item(item, "scores and weighted sums");
  EXPECT_EQ(scores.formula, "2 x layers x n_head x (d_head + d_head_v) x visible pairs");
  EXPECT_EQ(scores.arithmetic, "2 x 32 x 32 x 256 x 8,390,656");
}

// DeepSeek-V3 behind a past: 61 layers, 128 heads, scores over 512 + 64 values, sums of 512.
TEST(Work, AbsorbedAttentionIsWrittenOut) {
  const auto model = planned_model("deepseek-v3");
  const PassWork token = pass_work(model.config, model.weights(), {.n_rows = 1, .n_past = 999}, {});
  const PlanItem item = work_item(token, "FLOPs");
  EXPECT_EQ(item.amount, token.total().flops);
  const PlanItem& scores = *find_item(item, "scores and weighted sums");
  EXPECT_EQ(scores.formula, "2 x layers x n_head x (2 kv_lora_rank + d_head_rope) x visible pairs");
  EXPECT_EQ(scores.arithmetic, "2 x 61 x 128 x 1,088 x 1,000");
}

// T5-base: 12 layers of 12 heads of 64, K and V in two bytes.
TEST(Work, DecodingReadsTheKeysOfTheSource) {
  const auto model = planned_model("t5-base");
  constexpr int64_t kRow = 2 * 12 * 64;  // K and V of a layer
  const PassShape shape{.n_rows = 1, .n_past = 99, .n_sequences = 3, .n_source = 500};
  const PartWork scores = pass_work(model.config, model.weights(), shape, {})[Part::kScores];
  EXPECT_EQ(scores.cache_bytes, int64_t{3} * 12 * kRow * 2 * (100 + 500));
  EXPECT_EQ(scores.row_bytes, int64_t{3} * 12 * 2 * kRow * 2);  // q and z of both attentions
}

TEST(Work, AnEncoderReadsAndWritesItsRows) {
  const auto bert = planned_model("bert-base");
  constexpr int64_t kRow = 4 * 12 * 64;  // q, k, v, z of a layer
  const PartWork alone = pass_work(bert.config, bert.weights(), {.n_rows = 100, .n_sequences = 2}, {})[Part::kScores];
  EXPECT_EQ(alone.cache_bytes, 0);
  EXPECT_EQ(alone.row_bytes, int64_t{2} * 100 * 12 * kRow * 2);
  const auto t5 = planned_model("t5-base");
  const auto row_bytes = [&](bool has_new_source) {
    const PassShape shape{.n_rows = 1, .n_sequences = 2, .n_source = 100, .has_new_source = has_new_source};
    return pass_work(t5.config, t5.weights(), shape, {})[Part::kScores].row_bytes;
  };
  EXPECT_EQ(row_bytes(true) - row_bytes(false), int64_t{2} * 100 * 12 * kRow * 2);
}

// Mixtral: 2 of 8 experts; 64 rows hit nearly all, one row a quarter (research B5).
TEST(Work, ExpertsThatABatchTouches) {
  const MoeSpec moe{.n_expert = 8, .n_expert_used = 2};
  EXPECT_DOUBLE_EQ(expected_experts(moe, 1), 2.0);
  EXPECT_NEAR(expected_experts(moe, 4), 8 * (1 - 0.31640625), 1e-12);
  EXPECT_NEAR(expected_experts(moe, 64), 8.0, 1e-6);
}

// 8 (1 - 0.75^n) of Mixtral; DeepSeek-V3 has experts from its fourth layer on.
TEST(Work, ExpertsThatUsersRead) {
  const auto mixtral = expert_traffic(testing::planned_model("mixtral-8x7b").config);
  ASSERT_TRUE(mixtral);
  EXPECT_EQ(mixtral->n_expert, 8);
  EXPECT_EQ(mixtral->of_1, 2);
  EXPECT_NEAR(mixtral->of_8, 8 * (1 - 0.1001129150390625), 1e-12);
  EXPECT_NEAR(mixtral->of_64, 8.0, 1e-6);
  const auto deepseek = expert_traffic(testing::planned_model("deepseek-v3").config);
  ASSERT_TRUE(deepseek);
  EXPECT_EQ(deepseek->n_expert, 256);
  EXPECT_EQ(deepseek->of_1, 8);
  EXPECT_FALSE(expert_traffic(testing::planned_model("llama-7b").config));
}

bool sees(const AttentionSpec& attn, int64_t q, int64_t k) {
  switch (attn.mask) {
    case MaskKind::kFull:
      return true;
    case MaskKind::kWindow:
      return k <= q && q - k < attn.window;
    case MaskKind::kStrided:
      return k <= q && (q - k < attn.window || (q - k) % attn.stride == 0);
    case MaskKind::kFixedBlocks:
      return k <= q && (k / attn.stride == q / attn.stride || k % attn.stride >= attn.stride - attn.n_summary);
    case MaskKind::kCausal:
      break;
  }
  return k <= q;
}

int64_t counted_pairs(const AttentionSpec& attn, int64_t n_rows, int64_t n_past) {
  int64_t n = 0;
  for (int64_t q = n_past; q < n_past + n_rows; ++q) {
    for (int64_t k = 0; k < n_past + n_rows; ++k) n += sees(attn, q, k) ? 1 : 0;
  }
  return n;
}

TEST(Work, PairsAreThoseTheMaskLetsThrough) {
  for (const MaskKind mask :
       {MaskKind::kCausal, MaskKind::kFull, MaskKind::kWindow, MaskKind::kStrided, MaskKind::kFixedBlocks}) {
    for (const int64_t window : {1, 5, 8, 30}) {
      for (const int64_t stride : {1, 3, 4, 8}) {
        const AttentionSpec attn{.mask = mask, .window = window, .stride = stride, .n_summary = 1};
        for (const int64_t n_rows : {1, 4, 16, 33}) {
          for (const int64_t n_past : {0, 1, 7, 40}) {
            EXPECT_EQ(visible_pairs(attn, n_rows, n_past), counted_pairs(attn, n_rows, n_past))
                << "mask " << static_cast<int>(mask) << " window " << window << " stride " << stride << " rows "
                << n_rows << " past " << n_past;
          }
        }
      }
    }
  }
}

// The grids of the notes at n = 16: full, window 5 with stride 4, blocks of 4 with one column.
TEST(Work, PairsOfTheThreeGrids) {
  EXPECT_EQ(visible_pairs({.mask = MaskKind::kCausal}, 16, 0), 136);
  EXPECT_EQ(visible_pairs({.mask = MaskKind::kStrided, .window = 5, .stride = 4}, 16, 0), 82);
  EXPECT_EQ(visible_pairs({.mask = MaskKind::kFixedBlocks, .stride = 4, .n_summary = 1}, 16, 0), 64);
}

}  // namespace
}  // namespace vitro
