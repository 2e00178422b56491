// Bytes of the cache: published numbers (research B6.2, B6.3) and what the engine lays out.
#include "plan/cache_plan.h"

#include <gtest/gtest.h>

#include "model/arch/from_sizes.h"
#include "plan/inference_plan.h"
#include "plan/plan_test_util.h"

namespace vitro {
namespace {

using testing::planned_model;

TEST(CachePlan, BytesAToken) {
  const std::pair<const char*, int64_t> kModels[] = {
      {"gpt2", 36'864},          {"gpt2-xl", 307'200},       {"llama-7b", 524'288},
      {"llama-13b", 819'200},    {"llama-65b", 2'621'440},   {"llama2-70b", 327'680},
      {"llama3-8b", 131'072},    {"llama3.1-405b", 516'096}, {"llama3.2-1b", 32'768},
      {"phi3-mini", 393'216},    {"smollm2-135m", 23'040},   {"qwen2.5-0.5b", 12'288},
      {"qwen2.5-7b", 57'344},    {"qwen3-0.6b", 114'688},    {"qwen3-8b", 147'456},
      {"gemma-2b", 18'432},      {"gemma2-9b", 344'064},     {"gemma3-270m", 18'432},
      {"gemma3-1b", 26'624},     {"falcon-7b", 8'192},       {"gpt-neox-20b", 1'081'344},
      {"llama3-70b", 327'680},   {"mistral-7b", 131'072},    {"mixtral-8x7b", 131'072},
      {"qwen3-30b-a3b", 98'304}, {"gpt-oss-20b", 49'152},    {"gpt-oss-120b", 73'728},
      {"deepseek-v2", 69'120},   {"deepseek-v3", 70'272}};
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

// The first n_local layers see a window, the others everything.
ModelConfig with_windows(const char* name, size_t n_local, int64_t window) {
  ModelConfig config = planned_model(name).config;
  for (size_t layer = 0; layer < config.blocks.size(); ++layer) {
    config.blocks[layer].attn.mask = layer < n_local ? MaskKind::kWindow : MaskKind::kCausal;
    config.blocks[layer].attn.window = layer < n_local ? window : 0;
  }
  return config;
}

// Published sizes (research B6.2, B6.3): Gemma 3 1B 22 + 4 layers, Gemma 2 9B 21 + 21, gpt-oss-20b 12 + 12 with 32
// sequences of 8,192.
TEST(CachePlan, WindowsOfPublishedModels) {
  const CachePolicy all{.type = CacheType::kBF16, .page_size = 1};
  const CachePolicy windows{.type = CacheType::kBF16, .page_size = 1, .keeps_only_windows = true};
  const ModelConfig gemma3 = with_windows("gemma3-1b", 22, 512);
  EXPECT_EQ(cache_item(gemma3, windows, 32'768, 1).amount, 145'752'064);
  EXPECT_EQ(cache_item(gemma3, all, 32'768, 1).amount, 872'415'232);
  const ModelConfig gemma2 = with_windows("gemma2-9b", 21, 4096);
  EXPECT_EQ(cache_item(gemma2, windows, 8192, 1).amount, 2'113'929'216);
  EXPECT_EQ(cache_item(gemma2, all, 8192, 1).amount, 2'818'572'288);
  const ModelConfig gpt_oss = planned_model("gpt-oss-20b").config;
  constexpr double kGiB = 1 << 30;
  EXPECT_EQ(cache_item(gpt_oss, all, 8192, 32).amount, int64_t{12} << 30);
  EXPECT_NEAR(static_cast<double>(cache_item(gpt_oss, windows, 8192, 32).amount) / kGiB, 6.09, 0.005);
}

// Models whose configurations are not committed (research B6.2); Llama 3.1 405B as first stored, with 16 key-value
// heads.
TEST(CachePlan, BytesATokenBySizes) {
  const auto bytes = [](std::string_view family, const ModelSizes& sizes) {
    return cache_bytes_per_token(describe_sizes(family, sizes).value().config, CacheType::kBF16);
  };
  EXPECT_EQ(bytes("gemma2", {.d_model = 4608, .n_layer = 46, .n_head = 32, .n_kv_head = 16, .d_head = 128}), 376'832);
  EXPECT_EQ(bytes("llama", {.d_model = 16384, .n_layer = 126, .n_kv_head = 16}), 1'032'192);
  EXPECT_EQ(bytes("llama", {.d_model = 2048, .n_layer = 22, .n_head = 32, .n_kv_head = 4}), 22'528);  // TinyLlama
  EXPECT_EQ(bytes("llama", {.d_model = 3072, .n_layer = 28, .n_kv_head = 8}), 114'688);               // Llama 3.2 3B
  EXPECT_EQ(bytes("mistral", {.d_model = 6144, .n_layer = 56, .n_kv_head = 8}), 229'376);             // Small 22B
  EXPECT_EQ(bytes("qwen2", {.d_model = 8192, .n_layer = 80, .n_kv_head = 8}), 327'680);               // Qwen2.5 72B
  EXPECT_EQ(bytes("bloom", {.d_model = 4096, .n_layer = 30}), 491'520);                               // BLOOM 7b1
}

// As engines print them (research B6.3): ollama on Mistral Small 22B, a cache of Q8_0; kvplan on Llama 3.1 8B.
TEST(CachePlan, LogsOfOtherEngines) {
  const ModelConfig mistral =
      describe_sizes("mistral", {.d_model = 6144, .n_layer = 56, .n_kv_head = 8}).value().config;
  EXPECT_EQ(cache_item(mistral, {.type = CacheType::kQ8_0}, 49'152, 1).amount, int64_t{5712} << 20);
  const ModelConfig llama = planned_model("llama3-8b").config;
  const CachePolicy policy{.type = CacheType::kBF16, .page_size = 16};
  constexpr double kGiB = 1 << 30;
  EXPECT_NEAR(static_cast<double>(cache_item(llama, policy, 40'208, 1).amount) / kGiB, 4.91, 0.005);
  EXPECT_EQ(cache_item(llama, policy, 131'072, 1).amount, int64_t{16} << 30);
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
  config.blocks.resize(27);
  for (BlockSpec& block : config.blocks) block.attn.n_head = block.attn.n_kv_head = 16;
  EXPECT_EQ(cache_bytes_per_token(config, CacheType::kBF16), 31'104);  // DeepSeek-V2-Lite
  EXPECT_EQ(cache_bytes_per_token(config, CacheType::kBF16, true), 276'480);
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

// Of all layers.
int64_t n_pages(const SessionPlan& session) {
  int64_t n = 0;
  for (const KvLayerShape& layer : session.cache.layers) {
    n += session.cache.groups[static_cast<size_t>(layer.group)].n_pages;
  }
  return n;
}

// The formula, and less than 64 B a page for its alignment.
TEST(CachePlan, IsWhatTheEngineLaysOut) {
  for (const char* name : {"llama-7b", "gemma3-270m", "gemma2-9b", "falcon-7b", "gpt2", "phi3-mini"}) {
    const auto model = planned_model(name);
    for (const bool keeps_only_windows : {false, true}) {
      for (int t = 0; t < kNCacheTypes; ++t) {
        InferenceShape shape;
        shape.session = {.n_ctx = 1000, .n_sequences = 3, .cache_type = static_cast<CacheType>(t)};
        shape.session.keeps_only_windows = keeps_only_windows;
        const SessionPlan session = plan_session(model.config, shape.session).value();
        const CachePolicy policy{.type = shape.session.cache_type, .keeps_only_windows = keeps_only_windows};
        const int64_t alignment = session.cache_bytes - cache_item(model.config, policy, 1000, 3).amount;
        EXPECT_GE(alignment, 0) << name << " " << t;
        EXPECT_LT(alignment, 64 * n_pages(session)) << name << " " << t;
        const InferencePlan plan = plan_inference(model.config, model.weights(), shape).value();
        EXPECT_EQ(find_item(plan.memory, "cache")->amount, session.cache_bytes) << name << " " << t;
      }
    }
  }
}

}  // namespace
}  // namespace vitro
