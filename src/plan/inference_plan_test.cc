#include "plan/inference_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

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
  const PlanItem& activations = *find_item(plan.memory, "activations");
  EXPECT_EQ(activations.amount, session.activation_bytes);
  // Between buffers of multiples of 64 B there is next to nothing that cannot be used.
  const PlanItem* gaps = find_item(activations, "gaps");
  EXPECT_GE(gaps ? gaps->amount : 0, 0);
  EXPECT_LT(gaps ? gaps->amount : 0, 64 * kNActs);
  EXPECT_EQ(plan.n_bytes(), plan.weights.total().n_bytes + session.n_bytes() + model_table_bytes(model.config));
  EXPECT_EQ(plan.peak_step, "gate and up");
  EXPECT_EQ(plan.peak_buffer, "gate");
}

// BERT-base: 768 wide, 3,072 inside; nothing of a text that is seen in both directions can come later.
TEST(InferencePlan, EncodersTakeAllRowsAtOnce) {
  const auto model = planned_model("bert-base");
  InferenceShape shape{.session = {.n_ctx = 512, .n_sequences = 4, .n_batch = 256}, .engine = EngineKind::kHalf};
  const PlanItem memory = plan_inference(model.config, model.weights(), shape).value().memory;
  EXPECT_EQ(find_item(memory, "activations/resid")->amount, int64_t{4} * 512 * 768 * 2);
  EXPECT_EQ(find_item(memory, "activations/gate")->amount, int64_t{4} * 512 * 3072 * 2);
  shape.session.n_sequences = 1 << 20;
  shape.engine = EngineKind::kVitro;
  const PlanItem large = plan_inference(model.config, model.weights(), shape).value().memory;
  EXPECT_EQ(find_item(large, "activations/gate")->amount, (int64_t{512} << 20) * 3072 * 4);
}

// T5-base, 768 wide, 3,072 inside: a long source needs more than a token of the target.
TEST(InferencePlan, TheEncoderOfAnEncoderDecoderHasActivations) {
  const auto model = planned_model("t5-base");
  const InferenceShape shape{.session = {.n_ctx = 16, .n_sequences = 2}, .engine = EngineKind::kHalf, .n_source = 2000};
  const PlanItem memory = plan_inference(model.config, model.weights(), shape).value().memory;
  EXPECT_EQ(find_item(memory, "activations/gate")->amount, int64_t{2} * 2000 * 3072 * 2);
  EXPECT_EQ(find_item(memory, "activations")->formula, "the encoder: buffers alive at gate and up");
}

bool has_certainty(const PlanItem& item, Certainty certainty) {
  return item.certainty == certainty && std::all_of(item.parts.begin(), item.parts.end(), [&](const PlanItem& part) {
           return has_certainty(part, certainty);
         });
}

TEST(InferencePlan, OnlyWhatRunsHereIsExact) {
  const InferenceShape shape{.session = {.n_ctx = 128}};
  const auto plan_of = [&](const char* name, const char* format) {
    const auto model = planned_model(name);
    const WeightFormat weights = parse_weight_format(format).value();
    const WeightStorage storage{.matrices = weights, .embeddings = weights, .is_panels = true};
    return plan_inference(model.config, model.weights(storage), shape).value().memory;
  };
  for (const char* format : {"bf16", "f32", "q4_k", "q8_0"}) {
    EXPECT_TRUE(has_certainty(plan_of("llama-7b", format), Certainty::kExact)) << format;
  }
  for (const char* format : {"nf4", "nf4-dq", "int4", "int8", "fp8"}) {
    EXPECT_TRUE(has_certainty(plan_of("llama-7b", format), Certainty::kEstimated)) << format;
  }
  EXPECT_TRUE(has_certainty(plan_of("deepseek-v3", "bf16"), Certainty::kEstimated));
}

TEST(InferencePlan, NaiveAttentionNeedsTheSquare) {
  const AttentionSpec attn = planned_model("llama-7b").config.blocks[0].attn;
  EXPECT_EQ(attention_memory(attn, 32'768, 2).matrix.amount, 64 * kGiB);
  const AttentionMemory memory = attention_memory(attn, 4096, 2);
  EXPECT_EQ(memory.matrix.amount, kGiB);
  EXPECT_EQ(memory.output.amount, 32 << 20);
  EXPECT_EQ(memory.log_sum_exp.amount, 512 << 10);
  EXPECT_EQ(memory.tiled_bytes(), (32 << 20) + (512 << 10));
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
