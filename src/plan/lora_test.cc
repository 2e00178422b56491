#include "plan/lora.h"

#include <gtest/gtest.h>

#include "plan/plan_test_util.h"
#include "plan/training_states.h"

namespace vitro {
namespace {

using testing::planned_model;

LoraSpec spec(int64_t rank, std::string_view targets) {
  return {.rank = rank, .targets = parse_lora_targets(targets).value()};
}

// LitGPT's resource table: r = 8 on q and v of Llama-2-7B.
TEST(Lora, TrainableParameters) {
  const auto model = planned_model("llama-7b");
  EXPECT_EQ(lora_parameters(spec(8, "q,v"), model.slots), 4'194'304);
  // All seven matrices: 32 x r x (4 x 8,192 + 3 x 15,104).
  EXPECT_EQ(lora_parameters(spec(16, "all"), model.slots), int64_t{32} * 16 * (4 * 8192 + 3 * 15'104));
  EXPECT_EQ(lora_parameters(spec(16, "all"), model.slots), 39'976'960);
  // Fewer heads of keys: v is 1,024 x 8,192.
  EXPECT_EQ(lora_parameters(spec(8, "v"), planned_model("llama2-70b").slots), int64_t{80} * 8 * (1024 + 8192));
}

// Two of eight experts are passed.
TEST(Lora, AdaptersOfExperts) {
  ModelConfig config;
  config.blocks.resize(1);
  config.blocks[0].ffn.moe = {.n_expert = 8, .n_expert_used = 2, .d_ff_expert = 32};
  const std::vector<TensorSlot> slots = {{.name = "blocks.0.ffn.experts.w_up", .shape = {8, 32, 64}},
                                         {.name = "blocks.0.attn.w_q", .shape = {64, 64}}};
  EXPECT_EQ(lora_parameters(spec(4, "q,up"), slots), 4 * (8 * (32 + 64) + 128));
  EXPECT_EQ(active_lora_parameters(spec(4, "q,up"), config, slots), 4 * (2 * (32 + 64) + 128));
}

TEST(Lora, FrozenWeightsInTheirFormat) {
  const auto model = planned_model("llama-7b");
  const auto tensors = rank_tensors(model.config, model.slots, {})[0];
  const auto bytes = [&](std::string_view format) {
    return frozen_item(tensors, parse_weight_format(format).value(), {}).amount;
  };
  const int64_t n_matrices = 6'476'005'376, n_rest = 6'738'415'616 - n_matrices;
  EXPECT_EQ(bytes("bf16"), 2 * 6'738'415'616);
  EXPECT_EQ(bytes("nf4"), n_matrices / 64 * 36 + 2 * n_rest);           // 0.5625 B
  EXPECT_EQ(bytes("nf4-dq"), n_matrices / 16'384 * 8452 + 2 * n_rest);  // 0.515869 B
  // LitGPT measured 14.14 and 13.84 GB with the two.
  EXPECT_NEAR(static_cast<double>(bytes("nf4") - bytes("nf4-dq")) / 1e9, 14.14 - 13.84, 0.005);
}

TEST(Lora, ErrorsNameTheOption) {
  const auto model = planned_model("llama-7b");
  const auto message = [&](const LoraSpec& lora) {
    const Status status = check_lora(lora, model.slots);
    return status ? std::string() : status.error().message;
  };
  EXPECT_EQ(message(spec(8, "q,v")), "");
  EXPECT_EQ(message(spec(4096, "all")), "");
  EXPECT_NE(message(spec(0, "q")).find("--lora 0"), std::string::npos);
  EXPECT_NE(message(spec(-3, "q")).find("--lora -3"), std::string::npos);
  EXPECT_NE(message(spec(4097, "q")).find("--lora 4097"), std::string::npos);
  EXPECT_NE(message({.targets = 0}).find("--lora-targets"), std::string::npos);
  const auto wrong = parse_lora_targets("q,w");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("--lora-targets 'w': there are q, k, v, o, gate, up, down, all"),
            std::string::npos)
      << wrong.error().message;
  EXPECT_FALSE(parse_lora_targets(""));
  // GPT-2 has no gate; "all" takes what is there.
  const Status missing = check_lora(spec(8, "q,gate"), planned_model("gpt2").slots);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("--lora-targets 'gate'"), std::string::npos);
  EXPECT_TRUE(check_lora(spec(8, "all"), planned_model("gpt2").slots));
}

}  // namespace
}  // namespace vitro
