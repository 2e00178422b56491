#include "plan/inference_plan.h"

#include <gtest/gtest.h>

#include "model/model.h"
#include "plan/plan_test_util.h"

namespace vitro {
namespace {

using testing::planned_model;

constexpr int64_t kGiB = int64_t{1} << 30;

TEST(InferencePlan, TheArenaIsTheSessions) {
  const auto model = planned_model("llama-7b");
  InferenceShape shape;
  shape.session = {.n_ctx = 4096, .n_batch = 256};
  const SessionPlan session = plan_session(model.config, shape.session).value();
  const InferencePlan plan =
      plan_inference(model.config, model.weights({.vectors = kF32Weights, .is_panels = true}), shape).value();
  EXPECT_EQ(find_item(plan.memory, "activations")->amount, session.activation_bytes);
  EXPECT_EQ(plan.n_bytes(), plan.weights.total().n_bytes + session.n_bytes() + model_table_bytes(model.config));
  EXPECT_EQ(plan.peak_step, "gate and up");
  EXPECT_EQ(plan.peak_buffer, "gate");
}

TEST(InferencePlan, NaiveAttentionNeedsTheSquare) {
  const AttentionSpec attn = planned_model("llama-7b").config.blocks[0].attn;
  EXPECT_EQ(naive_attention_item(attn, 4096, 2).amount, kGiB);
  EXPECT_EQ(naive_attention_item(attn, 32'768, 2).amount, 64 * kGiB);
  const PlanItem tiled = tiled_attention_item(attn, 4096, 2);
  EXPECT_EQ(find_item(tiled, "output")->amount, 32 << 20);
  EXPECT_EQ(find_item(tiled, "log-sum-exp")->amount, 512 << 10);
}

TEST(InferencePlan, NonsenseIsRefused) {
  const auto model = planned_model("llama-7b");
  InferenceShape shape;
  shape.session = {.n_ctx = -1};
  EXPECT_FALSE(plan_inference(model.config, model.weights(), shape));
  shape.session = {.n_ctx = int64_t{1} << 62};
  EXPECT_FALSE(plan_inference(model.config, model.weights(), shape));
}

}  // namespace
}  // namespace vitro
