// Descriptions in words.
#include "model/words.h"

#include <gtest/gtest.h>

namespace vitro {
namespace {

/// Layers that attend as told, in a model whose embedding has no positions.
ModelConfig model_of(const std::vector<AttentionSpec>& layers) {
  ModelConfig config;
  for (const AttentionSpec& attn : layers) config.blocks.emplace_back().attn = attn;
  return config;
}

AttentionSpec heads(int64_t n_head, int64_t n_kv_head) {
  AttentionSpec attn{.n_head = n_head, .n_kv_head = n_kv_head, .d_head = 16, .d_head_v = 16};
  attn.rope.d_rot = 16;
  return attn;
}

TEST(WordsTest, AttentionOfAllLayers) {
  AttentionSpec full = heads(4, 2), window = heads(4, 2);
  window.mask = MaskKind::kWindow;
  window.window = 8;
  EXPECT_EQ(attention_kind(model_of({heads(4, 4), heads(4, 4)})), "MHA");
  EXPECT_EQ(attention_kind(model_of({heads(1, 1)})), "MHA");
  EXPECT_EQ(attention_kind(model_of({heads(4, 1)})), "MQA");
  EXPECT_EQ(attention_kind(model_of({full})), "GQA 4:2");
  EXPECT_EQ(attention_kind(model_of({window, window})), "GQA 4:2, window 8");
  EXPECT_EQ(attention_kind(model_of({window, window, full})), "GQA 4:2, window 8 in 2 of 3");
  full.softcap = 50.0;
  full.has_sinks = true;
  EXPECT_EQ(attention_kind(model_of({full})), "GQA 4:2, soft cap, sinks");
  EXPECT_EQ(attention_kind(model_of({heads(4, 2), heads(8, 2)})), "GQA 4:2 in 1 of 2, GQA 8:2 in 1 of 2");
}

TEST(WordsTest, PositionsOfAllLayers) {
  AttentionSpec rope = heads(4, 4), none = heads(4, 4), stretched = heads(4, 4), alibi = heads(4, 4);
  none.position = PositionKind::kNone;
  alibi.position = PositionKind::kAlibi;
  stretched.rope.pairing = RopePairing::kAdjacent;
  stretched.rope.d_rot = 8;
  stretched.rope.scaling = RopeScaling::kYarn;
  stretched.rope.factor = 4.0;
  EXPECT_EQ(position_kind(model_of({rope, rope})), "RoPE halves");
  EXPECT_EQ(position_kind(model_of({stretched})), "RoPE adjacent on 8 of 16, YaRN x 4");
  EXPECT_EQ(position_kind(model_of({rope, rope, rope, none})), "RoPE halves in 3 of 4, none in 1 of 4");
  EXPECT_EQ(position_kind(model_of({alibi})), "ALiBi");
  EXPECT_EQ(position_kind(model_of({none})), "none");
  ModelConfig learned = model_of({none, none});
  learned.position = PositionKind::kLearned;
  EXPECT_EQ(position_kind(learned), "learned");
  AttentionSpec local = rope;
  local.rope.theta = 1e6;
  EXPECT_EQ(position_kind(model_of({local, rope, local})),
            "RoPE halves base 1000000 in 2 of 3, RoPE halves base 10000 in 1 of 3");
}

}  // namespace
}  // namespace vitro
