// What of two descriptions differs, and what GGUF's rounding must not make a difference.
#include "model/differences.h"

#include <gtest/gtest.h>

namespace vitro {
namespace {

using Names = std::vector<std::string>;

ModelConfig sound_model() {
  ModelConfig config{.d_model = 64};
  config.blocks.resize(2);
  config.blocks[0].attn.n_head = config.blocks[1].attn.n_head = 4;
  return config;
}

TEST(DifferencesTest, NamesEachKnobOnce) {
  const ModelConfig a = sound_model();
  ModelConfig b = a;
  EXPECT_EQ(config_differences(a, b), Names{});
  for (BlockSpec& block : b.blocks) block.attn.mask = MaskKind::kWindow, block.attn.window = 8;
  b.logit_scale = 0.5;
  EXPECT_EQ(config_differences(a, b), (Names{"attn.mask", "attn.window", "logit_scale"}));
  b.blocks.pop_back();
  EXPECT_EQ(config_differences(b, a), (Names{"n_layer", "attn.mask", "attn.window", "logit_scale"}));
}

TEST(DifferencesTest, GgufRoundsNumbersAndKeepsFactorsAsTensors) {
  ModelConfig a = sound_model();
  a.final_norm = {.kind = NormKind::kRms, .eps = 1e-5};
  ModelConfig b = a;
  b.final_norm.eps = static_cast<double>(1e-5F);
  a.blocks[0].attn.rope.scaling = RopeScaling::kLlama3;
  b.blocks[0].attn.rope.scaling = RopeScaling::kFactors;
  EXPECT_EQ(config_differences(a, b), Names{});
  b.final_norm.eps = 2e-5;
  b.blocks[0].attn.rope.scaling = RopeScaling::kDynamic;
  EXPECT_EQ(config_differences(a, b), (Names{"rope.scaling", "final_norm.eps"}));
}

}  // namespace
}  // namespace vitro
