#include "plan/session_plan.h"

#include <gtest/gtest.h>

namespace vitro {
namespace {

// Six layers as Gemma 3 has them: five attend a window, the sixth everything.
ModelConfig windowed_config() {
  ModelConfig config{.d_model = 64, .vocab_size = 100, .n_ctx = 4096};
  BlockSpec block;
  block.norm = {.kind = NormKind::kRms, .eps = 1e-6};
  block.attn = {.n_head = 4, .n_kv_head = 2, .d_head = 32, .d_head_v = 32, .rope = {.d_rot = 32}};
  block.ffn.d_ff = 128;
  for (int i = 0; i < 6; ++i) {
    const bool is_window = i != 5;
    block.attn.mask = is_window ? MaskKind::kWindow : MaskKind::kCausal;
    block.attn.window = is_window ? 512 : 0;
    config.blocks.push_back(block);
  }
  return config;
}

TEST(SessionPlan, CacheHoldsEveryPositionOfEveryLayer) {
  const SessionShape shape{.n_ctx = 4000, .n_sequences = 3, .page_size = 16, .cache_type = CacheType::kF16};
  const SessionPlan plan = plan_session(windowed_config(), shape).value();
  ASSERT_EQ(plan.cache.groups.size(), 1u);
  EXPECT_EQ(plan.cache.groups[0].n_pages, 3 * 250);
  EXPECT_EQ(plan.cache_bytes, int64_t{6} * 3 * 4000 * 2 * 2 * 32 * 2);  // K and V, two heads of 32, two bytes
  // Each sequence: a record, ids, one rotary kind of 16 pairs (a vector and a factor) with its frequencies.
  EXPECT_EQ(plan.sequence_bytes, 3 * (72 + 4000 * 4 + 32 + 16 * 8));
  EXPECT_EQ(plan.n_bytes(), plan.activation_bytes + plan.cache_bytes + plan.page_table_bytes + plan.attend_table_bytes +
                                plan.sequence_bytes + plan.batch_bytes);
}

TEST(SessionPlan, LayersThatKeepAWindowHaveAGroupOfTheirOwn) {
  const SessionShape shape{.n_ctx = 4000,
                           .n_sequences = 3,
                           .n_batch = 256,
                           .page_size = 16,
                           .cache_type = CacheType::kInt8,
                           .keeps_only_windows = true};
  const SessionPlan plan = plan_session(windowed_config(), shape).value();
  ASSERT_EQ(plan.cache.groups.size(), 2u);
  EXPECT_EQ(plan.cache.groups[0].window, 512);
  EXPECT_EQ(plan.cache.groups[0].n_pages, 3 * 49);  // 767 positions touch at most 49 pages of 16
  EXPECT_EQ(plan.cache.groups[1].window, 0);
  EXPECT_EQ(plan.cache.groups[1].n_pages, 3 * 250);
  EXPECT_EQ(plan.cache.layers[0].group, 0);
  EXPECT_EQ(plan.cache.layers[5].group, 1);
  const int64_t page_bytes = 16 * 2 * 2 * (32 + 2);  // a float16 scale a head
  EXPECT_EQ(plan.cache_bytes, page_bytes * 3 * (5 * 49 + 250));
}

// A context no longer than the window keeps everything, in no more memory than without groups.
TEST(SessionPlan, AShortContextNeedsNoMoreThanAll) {
  SessionShape shape{.n_ctx = 300, .n_batch = 256, .keeps_only_windows = true};
  const int64_t kept = plan_session(windowed_config(), shape).value().cache_bytes;
  shape.keeps_only_windows = false;
  EXPECT_EQ(kept, plan_session(windowed_config(), shape).value().cache_bytes);
}

TEST(SessionPlan, TypesThatDoNotFitTheHeadsAreRefused) {
  ModelConfig config = windowed_config();
  config.blocks[3].attn.d_head = config.blocks[3].attn.d_head_v = 40;
  const auto refused = plan_session(config, {.n_ctx = 10, .cache_type = CacheType::kQ8_0});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(refused.error().message.find("layer 3"), std::string::npos) << refused.error().message;
}

// The limits of sizes leave room for every sum: either a plan of positive parts, or an error that names the option.
TEST(SessionPlan, TheLargestSizesDoNotOverflow) {
  ModelConfig config = windowed_config();
  config.d_model = kMaxWidth;
  config.vocab_size = kMaxVocab;
  for (BlockSpec& block : config.blocks) {
    block.attn.n_head = block.attn.n_kv_head = kMaxWidth / 32;
    block.ffn.d_ff = kMaxWidth;
  }
  constexpr int64_t kMost = int64_t{1} << 20;
  SessionShape shape{.n_ctx = 8, .n_sequences = kMost, .n_batch = kMost, .n_logits = kMost, .n_threads = 1 << 30};
  const SessionPlan plan = plan_session(config, shape).value();
  for (const PlanItem& item : session_items(plan)) EXPECT_GT(item.amount, 0) << item.name;
  EXPECT_GT(plan.n_bytes(), plan.cache_bytes);
  shape.n_ctx = kMaxContext;
  const auto refused = plan_session(config, shape);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("--context"), std::string::npos) << refused.error().message;
}

}  // namespace
}  // namespace vitro
