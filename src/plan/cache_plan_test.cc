// Bytes of the cache: published numbers (research B6.2, B6.3) and what the engine lays out.
#include "plan/cache_plan.h"

#include <gtest/gtest.h>

#include "plan/inference_plan.h"
#include "plan/plan_test_util.h"

namespace vitro {
namespace {

using testing::planned_model;

TEST(CachePlan, BytesAToken) {
  const std::pair<const char*, int64_t> kModels[] = {
      {"gpt2", 36'864},           {"gpt2-xl", 307'200},    {"llama-7b", 524'288},    {"llama-13b", 819'200},
      {"llama-65b", 2'621'440},   {"llama2-70b", 327'680}, {"llama3-8b", 131'072},   {"llama3.1-405b", 516'096},
      {"llama3.2-1b", 32'768},    {"phi3-mini", 393'216},  {"smollm2-135m", 23'040}, {"qwen2.5-0.5b", 12'288},
      {"qwen2.5-7b", 57'344},     {"qwen3-0.6b", 114'688}, {"qwen3-8b", 147'456},    {"gemma-2b", 18'432},
      {"gemma2-9b", 344'064},     {"gemma3-270m", 18'432}, {"gemma3-1b", 26'624},    {"falcon-7b", 8'192},
      {"gpt-neox-20b", 1'081'344}};
  for (const auto& [name, n_bytes] : kModels) {
    EXPECT_EQ(cache_bytes_per_token(planned_model(name).config, CacheType::kBF16), n_bytes) << name;
  }
}

TEST(CachePlan, Llama7BAtItsContexts) {
  const ModelConfig config = planned_model("llama-7b").config;
  const CachePolicy policy{.type = CacheType::kBF16};
  EXPECT_EQ(cache_item(config, policy, 4096, 1).amount, 2'147'483'648);
  EXPECT_EQ(cache_item(config, policy, 131'072, 1).amount, int64_t{64} << 30);
  EXPECT_EQ(cache_item(config, policy, 4096, 1).parts.at(0).arithmetic, "4,096 x 32 x 2 x 32 x 128 x 2 B");
}

TEST(CachePlan, WindowsWithoutSlack) {
  ModelConfig config = planned_model("gemma3-270m").config;
  for (BlockSpec& block : config.blocks) {
    if (block.attn.mask == MaskKind::kWindow) block.attn.window = 512;  // as the published model has it
  }
  const CachePolicy windows{.type = CacheType::kBF16, .page_size = 1, .keeps_only_windows = true};
  EXPECT_EQ(cache_item(config, windows, 32'768, 1).amount, 108'527'616);
  EXPECT_EQ(cache_item(config, {.type = CacheType::kBF16, .page_size = 1}, 32'768, 1).amount, 603'979'776);
}

TEST(CachePlan, QuantisedRowsCarryTheirScales) {
  const ModelConfig config = planned_model("llama-7b").config;
  EXPECT_EQ(cache_bytes_per_token(config, CacheType::kQ8_0), 524'288 / 2 * 34 / 32);
}

TEST(CachePlan, LatentAttentionKeepsOneVector) {
  ModelConfig config;
  config.blocks.resize(61);
  for (BlockSpec& block : config.blocks) {
    block.attn = {.n_head = 128, .n_kv_head = 128, .d_head = 192, .d_head_v = 128};
    block.attn.kv_lora_rank = 512;
    block.attn.d_head_rope = 64;
  }
  EXPECT_EQ(cache_bytes_per_token(config, CacheType::kBF16), 70'272);           // DeepSeek-V3
  EXPECT_EQ(cache_bytes_per_token(config, CacheType::kBF16, true), 4'997'120);  // the same expanded
}

TEST(CachePlan, EncodersKeepNothingAndCrossAttentionTheSource) {
  ModelConfig config = planned_model("llama3.2-1b").config;
  const int64_t own = cache_item(config, {}, 128, 1).amount;
  for (BlockSpec& block : config.blocks) block.has_cross_attention = true;
  const PlanItem item = cache_item(config, {}, 128, 1, 100);
  // K and V of all heads of 16 layers over 100 positions.
  ASSERT_NE(find_item(item, "cross attention"), nullptr);
  EXPECT_EQ(item.amount - own, int64_t{100} * 16 * 2 * 8 * 64 * 2);
  config.kind = ModelKind::kEncoder;
  EXPECT_EQ(cache_item(config, {}, 128, 1).amount, 0);
}

TEST(CachePlan, IsWhatTheEngineLaysOut) {
  for (const char* name : {"llama-7b", "gemma3-270m", "gemma2-9b", "falcon-7b", "gpt2", "phi3-mini"}) {
    const auto model = planned_model(name);
    for (const bool keeps_only_windows : {false, true}) {
      for (int t = 0; t < kNCacheTypes; ++t) {
        InferenceShape shape;
        shape.session = {.n_ctx = 1000, .n_sequences = 3, .cache_type = static_cast<CacheType>(t)};
        shape.session.keeps_only_windows = keeps_only_windows;
        const int64_t planned = plan_session(model.config, shape.session).value().cache_bytes;
        const InferencePlan plan = plan_inference(model.config, model.weights(), shape).value();
        EXPECT_EQ(find_item(plan.memory, "cache")->amount, planned) << name << " " << t;
      }
    }
  }
}

}  // namespace
}  // namespace vitro
