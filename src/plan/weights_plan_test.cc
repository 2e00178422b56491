// Parameters and bytes of published models (research on training and planning, B6.1; the counts are those of the
// published files).
#include "plan/weights_plan.h"

#include <gtest/gtest.h>

#include "model/arch/from_sizes.h"
#include "plan/plan_test_util.h"
#include "tensor/panel.h"
#include "weights/tensors.h"

namespace vitro {
namespace {

using testing::planned_model;

TEST(WeightsPlan, Llama7BByComponent) {
  const WeightsPlan plan = planned_model("llama-7b").weights();
  EXPECT_EQ(plan.total().n_parameters, 6'738'415'616);
  EXPECT_EQ(plan[Component::kQ].n_parameters, 32 * 4096ll * 4096);
  EXPECT_EQ(plan[Component::kFfn].n_parameters, 32 * 3 * 4096ll * 11008);
  EXPECT_EQ(plan[Component::kNorms].n_parameters, 266'240);
  EXPECT_EQ(plan[Component::kEmbedding].n_parameters, 131'072'000);
  EXPECT_EQ(plan[Component::kHead].n_parameters, 131'072'000);
  EXPECT_EQ(plan.total().n_active, plan.total().n_parameters);
}

// Published: 671,026,419,200, which counts the selection biases of 58 layers of 256 experts (float32 in the file, 2 B
// here) that gradients do not train.
TEST(WeightsPlan, SelectionBiasesAreALineOfTheirOwn) {
  const WeightsPlan plan = planned_model("deepseek-v3").weights();
  EXPECT_EQ(plan.total().n_parameters + plan.table_bytes / kBf16Weights.block_bytes, 671'026'419'200);
}

TEST(WeightsPlan, ATiedHeadIsCountedOnce) {
  const WeightsPlan plan = planned_model("llama3.2-1b").weights();
  EXPECT_EQ(plan.total().n_parameters, 1'235'814'400);
  EXPECT_EQ(plan[Component::kHead].n_parameters, 0);
}

TEST(WeightsPlan, BytesByFormat) {
  const auto model = planned_model("llama-7b");
  EXPECT_EQ(model.weights().total().n_bytes, 13'476'831'232);  // 13.48 GB in bfloat16
  const WeightFormat q4 = parse_weight_format("q4_0").value();
  // Blocks of 32 in 18 bytes; norms stay as they are.
  const WeightStorage storage{.matrices = q4, .embeddings = q4};
  EXPECT_EQ(model.weights(storage).total().n_bytes, (6'738'415'616 - 266'240) / 32 * 18 + 266'240 * 2);
}

// As tools print them (research B6.3): kvplan on Llama 3.1 8B in bfloat16, accelerate on BERT base cased in float32 (V
// is 28,996 there), which adds the file's 512 position ids.
TEST(WeightsPlan, BytesThatOtherToolsPrint) {
  constexpr double kMiB = 1 << 20, kGiB = 1 << 30;
  EXPECT_NEAR(static_cast<double>(planned_model("llama3-8b").weights().total().n_bytes) / kGiB, 14.96, 0.005);
  const auto cased = describe_sizes("bert", {.d_model = 768, .n_layer = 12, .vocab_size = 28'996}).value();
  const auto slots = cased.arch->tensor_slots(SourceFormat::kHuggingFace, cased.config);
  const WeightStorage floats{.matrices = kF32Weights, .embeddings = kF32Weights, .vectors = kF32Weights};
  const WeightsPlan bert = plan_weights(cased.config, slots, floats);
  EXPECT_EQ(bert.total().n_parameters, 108'310'272);
  EXPECT_NEAR(static_cast<double>(bert.total().n_bytes + 512 * 8) / kMiB, 413.18, 0.01);
}

TEST(WeightsPlan, PanelsAreWhatIsLoaded) {
  for (const DType dtype : kAllDTypes) {
    if (!has_panel_layout(dtype)) continue;
    const DTypeInfo& info = dtype_info(dtype);
    const WeightFormat format{info.name, info.block_elements, info.block_bytes};
    const TensorSlot slots[] = {{.name = "blocks.0.ffn.w_up", .shape = {37, 512}, .use = SlotUse::kMatrix},
                                {.name = "blocks.0.ffn.b_up", .shape = {37}, .use = SlotUse::kVector}};
    const WeightsPlan plan = plan_weights({}, slots, {.matrices = format, .is_panels = true});
    EXPECT_EQ(plan.total().n_bytes, loaded_bytes(SlotUse::kMatrix, dtype, slots[0].shape) +
                                        loaded_bytes(SlotUse::kVector, DType::kF32, slots[1].shape))
        << info.name;
  }
}

TEST(WeightsPlan, ExpertsCountOnceForMemoryAndByUseForWork) {
  ModelConfig config;
  config.blocks.resize(1);
  config.blocks[0].ffn.moe = {.n_expert = 8, .n_expert_used = 2, .d_ff_expert = 64};
  const TensorSlot slots[] = {{.name = "blocks.0.ffn.experts.w_up", .shape = {8, 64, 32}, .use = SlotUse::kMatrix}};
  const WeightsPlan plan = plan_weights(config, slots, {});
  EXPECT_EQ(plan[Component::kExperts].n_parameters, 8 * 64 * 32);
  EXPECT_EQ(plan[Component::kExperts].n_active, 2 * 64 * 32);
}

TEST(WeightsPlan, TheArithmeticIsWrittenOut) {
  const PlanItem item = weight_bytes_item(planned_model("llama-7b").weights());
  const PlanItem* q = find_item(item, "attention/q");
  ASSERT_NE(q, nullptr);
  EXPECT_EQ(q->arithmetic, "32 x 4,096 x 4,096 x 2 B");
}

TEST(Component, EverySlotOfEveryCommittedModelHasAnOwner) {
  for (const char* name : {"llama-7b", "gpt2", "bloom-176b", "falcon-7b", "gemma3-270m", "phi2", "glm4-9b"}) {
    for (const TensorSlot& slot : planned_model(name).slots) {
      EXPECT_TRUE(component_of(slot.name) || slot.is_optional) << name << ": " << slot.name;
    }
  }
}

TEST(Component, NamesInsideOfEncodersAndLatentAttention) {
  EXPECT_EQ(component_of("encoder.blocks.3.attn.w_q"), Component::kQ);
  EXPECT_EQ(component_of("blocks.3.attn.w_q_a"), Component::kLatent);
  EXPECT_EQ(component_of("blocks.3.attn.kv_a_norm.gain"), Component::kNorms);
  EXPECT_EQ(component_of("blocks.3.cross.w_k"), Component::kCross);
  EXPECT_EQ(component_of("blocks.3.attn.rel_bias.w"), Component::kPositions);
  EXPECT_EQ(component_of("blocks.3.ffn.router.selection_bias"), std::nullopt);
  EXPECT_EQ(rows_of("encoder.blocks.3.attn.w_q"), RowsOf::kSource);
  EXPECT_EQ(rows_of("blocks.3.cross.w_k"), RowsOf::kSource);
  EXPECT_EQ(rows_of("blocks.3.cross.w_q"), RowsOf::kTokens);
  EXPECT_EQ(rows_of("unembed.w"), RowsOf::kLogits);
  EXPECT_EQ(rows_of("embed.w"), RowsOf::kNone);
}

TEST(WeightFormat, SizesOfRows) {
  EXPECT_EQ(parse_weight_format("Q4_K").value().row_bytes(512), 288);
  EXPECT_EQ(parse_weight_format("q8_0").value().row_bytes(33), 68);  // begun blocks are whole blocks
  EXPECT_EQ(parse_weight_format("nf4").value().bytes_per_element(), 0.5625);
  EXPECT_NEAR(parse_weight_format("nf4-dq").value().bytes_per_element(), 0.515869, 1e-6);
  EXPECT_NEAR(parse_weight_format("int4").value().bytes_per_element(), 0.51953, 1e-5);
  const auto unknown = parse_weight_format("q9");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("bf16"), std::string::npos);
  EXPECT_FALSE(parse_weight_format("i32"));
}

}  // namespace
}  // namespace vitro
