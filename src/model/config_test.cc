// check_config finds every impossible number and names key and value; check_runnable names every knob that does not
// turn yet.
#include "model/config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "testing/expect_error.h"

namespace vitro {
namespace {

using testing::expect_error;

ModelConfig good_config() {
  ModelConfig config;
  config.d_model = 64;
  config.vocab_size = 384;
  config.n_ctx = 128;
  BlockSpec block;
  block.norm = {.kind = NormKind::kRms, .eps = 1e-6};
  block.attn = {.n_head = 4, .n_kv_head = 2, .d_head = 16, .d_head_v = 16, .scale = 0.25, .rope = {.d_rot = 16}};
  block.ffn = {.d_ff = 112};
  config.blocks.assign(3, block);
  config.final_norm = block.norm;
  config.values = {{"attn.n_kv_head", "num_key_value_heads", "2", ValueOrigin::kFile}};
  return config;
}

TEST(CheckConfigTest, AcceptsASoundModel) {
  EXPECT_TRUE(check_config(good_config()));
  EXPECT_TRUE(check_runnable(good_config()));
}

struct BadConfig {
  const char* part;  ///< of the message
  std::function<void(ModelConfig&)> spoil;
};

/// Applies `change` to the attention of every block.
std::function<void(ModelConfig&)> attn(std::function<void(AttentionSpec&)> change) {
  return [change](ModelConfig& config) {
    for (BlockSpec& block : config.blocks) change(block.attn);
  };
}

std::function<void(ModelConfig&)> rope(std::function<void(RopeSpec&)> change) {
  return attn([change](AttentionSpec& spec) { change(spec.rope); });
}

std::function<void(ModelConfig&)> block(std::function<void(BlockSpec&)> change) {
  return [change](ModelConfig& config) {
    for (BlockSpec& spec : config.blocks) change(spec);
  };
}

/// Experts in every block, made wrong.
std::function<void(ModelConfig&)> moe(std::function<void(MoeSpec&)> change) {
  return block([change](BlockSpec& spec) {
    spec.ffn.d_ff = 0;
    spec.ffn.moe = {.n_expert = 8, .n_expert_used = 2, .d_ff_expert = 32};
    change(spec.ffn.moe);
  });
}

/// Latent attention in every block, made wrong.
std::function<void(ModelConfig&)> latent(std::function<void(AttentionSpec&)> change) {
  return attn([change](AttentionSpec& spec) {
    spec.n_kv_head = spec.n_head;
    spec.kv_lora_rank = 32, spec.d_head_nope = 8, spec.d_head_rope = 8, spec.rope.d_rot = 8;
    spec.qk_norm_spec = {.kind = NormKind::kRms, .eps = 1e-6};
    change(spec);
  });
}

/// Experts, latent attention, encoders and heads.
const std::vector<BadConfig>& bad_parts() {
  static const std::vector<BadConfig> cases = {
      {"encoder.n_layer = 0 must be", [](ModelConfig& c) { c.kind = ModelKind::kEncoderDecoder; }},
      {"encoder.n_layer = 9999 must be", [](ModelConfig& c) { c.encoder_blocks.resize(9999, c.blocks[0]); }},
      {"n_token_types = 16777217 must be", [](ModelConfig& c) { c.n_token_types = kMaxVocab + 1; }},
      {"n_bias_buckets = 65537 must be", [](ModelConfig& c) { c.n_bias_buckets = kMaxBiasBuckets + 1; }},
      {"n_bias_buckets = 0 must be", attn([](AttentionSpec& a) { a.position = PositionKind::kDistanceBuckets; })},
      {"bias_max_distance = -1 must be", [](ModelConfig& c) { c.bias_max_distance = -1; }},
      {"n_class = -1 must be", [](ModelConfig& c) { c.n_class = -1; }},
      {"ffn.d_ff = 32 must be between 0 and 0",
       block([](BlockSpec& b) { b.ffn.d_ff = 32, b.ffn.moe = {.n_expert = 1, .n_expert_used = 1, .d_ff_expert = 1}; })},
      {"ffn.clamp = -1", block([](BlockSpec& b) { b.ffn.clamp = -1; })},
      {"ffn.gate_slope = 0", block([](BlockSpec& b) { b.ffn.gate_slope = 0; })},
      {"moe.n_expert = 65537 must be", moe([](MoeSpec& m) { m.n_expert = kMaxExperts + 1; })},
      {"moe.n_expert = 0 must be", moe([](MoeSpec& m) { m.n_expert = 0; })},
      {"moe.n_expert_used = 9 must be between 1 and 8", moe([](MoeSpec& m) { m.n_expert_used = 9; })},
      {"moe.d_ff_expert = 524289 must be between 1 and 524288",
       moe([](MoeSpec& m) { m.d_ff_expert = kMaxWidth / 8 + 1; })},
      {"moe.d_ff_shared = -1", moe([](MoeSpec& m) { m.d_ff_shared = -1; })},
      {"moe.routed_scale = 0", moe([](MoeSpec& m) { m.routed_scale = 0; })},
      {"moe.router_jitter = -1", moe([](MoeSpec& m) { m.router_jitter = -1; })},
      {"moe.n_group = 3 does not divide the 8 experts", moe([](MoeSpec& m) { m.n_group = 3; })},
      {"moe.n_group_used = 5 must be between 1 and 4", moe([](MoeSpec& m) { m.n_group = 4, m.n_group_used = 5; })},
      {"moe.n_expert_used = 3 must be between 1 and 2",
       moe([](MoeSpec& m) { m.n_expert_used = 3, m.n_group = 4, m.n_group_used = 1; })},
      {"attn.kv_lora_rank = 4194297 must be between", latent([](AttentionSpec& a) { a.kv_lora_rank = kMaxWidth - 7; })},
      {"attn.q_lora_rank = -1", latent([](AttentionSpec& a) { a.q_lora_rank = -1; })},
      {"attn.d_head_nope = 0", latent([](AttentionSpec& a) { a.d_head_nope = 0; })},
      {"attn.d_head = 16 must be between 17 and 17", latent([](AttentionSpec& a) { a.d_head_nope = 9; })},
      {"attn.n_kv_head ('num_key_value_heads') = 2 must be between 4 and 4",
       latent([](AttentionSpec& a) { a.n_kv_head = 2; })},
  };
  return cases;
}

const std::vector<BadConfig>& bad_configs() {
  static const std::vector<BadConfig> cases = {
      {"d_model = 0 must be between 1 and", [](ModelConfig& c) { c.d_model = 0; }},
      {"d_model = 9223372036854775807 must be", [](ModelConfig& c) { c.d_model = INT64_MAX; }},
      {"vocab_size = -1 must be", [](ModelConfig& c) { c.vocab_size = -1; }},
      {"n_ctx = 0 must be", [](ModelConfig& c) { c.n_ctx = 0; }},
      {"n_layer = 0 must be", [](ModelConfig& c) { c.blocks.clear(); }},
      {"n_layer = 10001 must be", [](ModelConfig& c) { c.blocks.resize(10'001, c.blocks[0]); }},
      {"n_position_rows = 0", [](ModelConfig& c) { c.position = PositionKind::kLearned; }},
      {"embed_scale = nan", [](ModelConfig& c) { c.embed_scale = std::nan(""); }},
      {"norm.eps = 0 must be above 0", [](ModelConfig& c) { c.final_norm.eps = 0; }},
      {"norm.eps = nan", block([](BlockSpec& b) { b.norm.eps = std::nan(""); })},
      {"norm.eps = inf", block([](BlockSpec& b) { b.norm.eps = HUGE_VAL; })},
      {"attn.n_head = 0", attn([](AttentionSpec& a) { a.n_head = 0; })},
      {"attn.n_kv_head ('num_key_value_heads') = 3 does not divide the 4 heads",
       attn([](AttentionSpec& a) { a.n_kv_head = 3; })},
      {"attn.n_kv_head ('num_key_value_heads') = 8 does not divide", attn([](AttentionSpec& a) { a.n_kv_head = 8; })},
      {"attn.d_head = 2097152 times 4 heads is wider", attn([](AttentionSpec& a) { a.d_head = a.d_head_v = 1 << 21; })},
      {"attn.n_head = 5 does not divide the width 64", attn([](AttentionSpec& a) { a.n_head = 5, a.d_head = 12; })},
      {"attn.scale = 1e-60", attn([](AttentionSpec& a) { a.scale = 1e-60; })},
      {"attn.softcap = 1e-60", attn([](AttentionSpec& a) { a.softcap = 1e-60; })},
      {"logit_softcap = 1e-60", [](ModelConfig& c) { c.logit_softcap = 1e-60; }},
      {"logit_scale = 1e+60", [](ModelConfig& c) { c.logit_scale = 1e60; }},
      {"norm.eps = 1e-60", block([](BlockSpec& b) { b.norm.eps = 1e-60; })},
      {"attn.scale = inf", attn([](AttentionSpec& a) { a.scale = HUGE_VAL; })},
      {"attn.window = -1 must be between 1", attn([](AttentionSpec& a) { a.mask = MaskKind::kWindow, a.window = -1; })},
      {"ffn.d_ff = -4", block([](BlockSpec& b) { b.ffn.d_ff = -4; })},
      {"residual_scale = 0", block([](BlockSpec& b) { b.residual_scale = 0; })},
      {"rope.d_rot = 15 must be even", rope([](RopeSpec& r) { r.d_rot = 15; })},
      {"rope.d_rot = 18 must be even, from 2 to the width of a head, 16", rope([](RopeSpec& r) { r.d_rot = 18; })},
      {"rope.d_rot = 0", rope([](RopeSpec& r) { r.d_rot = 0; })},
      {"attn.d_head = 17 must be even", attn([](AttentionSpec& a) { a.d_head = 17; })},
      {"rope.theta = 0 must be above 1", rope([](RopeSpec& r) { r.theta = 0; })},
      {"rope.factor = 0 must be", rope([](RopeSpec& r) { r.scaling = RopeScaling::kLinear, r.factor = 0; })},
      {"rope.factor = 0.5 must be at least 1 for this scaling",
       rope([](RopeSpec& r) { r.scaling = RopeScaling::kDynamic, r.factor = 0.5, r.n_ctx_original = 32; })},
      {"rope.n_ctx_original = 0 must be", rope([](RopeSpec& r) { r.scaling = RopeScaling::kYarn; })},
      {"rope.beta_fast = 1 must not be below beta_slow", rope([](RopeSpec& r) {
         r.scaling = RopeScaling::kYarn, r.n_ctx_original = 64, r.beta_fast = 1, r.beta_slow = 2;
       })},
      {"rope.high_freq_factor = 1 must be above low_freq_factor",
       rope([](RopeSpec& r) { r.scaling = RopeScaling::kLlama3, r.n_ctx_original = 64, r.high_freq_factor = 1; })},
      {"rope.short_factors = 2 numbers must be 8 numbers above 0", rope([](RopeSpec& r) {
         r.scaling = RopeScaling::kLongRope, r.n_ctx_original = 64, r.short_factors = {1, 1};
       })},
  };
  return cases;
}

TEST(CheckConfigTest, NamesEveryImpossibleNumber) {
  std::vector<BadConfig> cases = bad_configs();
  cases.insert(cases.end(), bad_parts().begin(), bad_parts().end());
  for (const BadConfig& bad : cases) {
    SCOPED_TRACE(bad.part);
    ModelConfig config = good_config();
    bad.spoil(config);
    expect_error(check_config(config), ErrorCode::kInvalidArgument, bad.part);
  }
}

TEST(CheckConfigTest, ReportsAllProblemsAndEachOnce) {
  ModelConfig config = good_config();
  config.d_model = -1;
  for (BlockSpec& spec : config.blocks) spec.ffn.d_ff = 0;
  config.blocks[1].attn.window = 7;  // another spec, the same fault
  const Status status = check_config(config);
  expect_error(status, ErrorCode::kInvalidArgument, "d_model = -1");
  expect_error(status, ErrorCode::kInvalidArgument, "ffn.d_ff = 0");
  EXPECT_EQ(status.error().message.find("ffn.d_ff"), status.error().message.rfind("ffn.d_ff"));
}

TEST(CheckRunnableTest, NamesEveryKnobThatDoesNotTurn) {
  const std::vector<BadConfig> cases = {
      {"encoders", [](ModelConfig& c) { c.kind = ModelKind::kEncoder; }},
      {"token types", [](ModelConfig& c) { c.n_token_types = 2; }},
      {"blocks without norms", block([](BlockSpec& b) { b.norm.kind = NormKind::kNone; })},
      {"residuals from norms of another place",
       block([](BlockSpec& b) { b.residual_from_norm = true, b.norm_place = NormPlace::kPost; })},
      {"parallel halves with residuals from the norm",
       block([](BlockSpec& b) { b.residual_from_norm = true, b.residual = Residual::kParallel; })},
      {"parallel halves without pre-norms",
       block([](BlockSpec& b) { b.residual = Residual::kParallel, b.norm_place = NormPlace::kSandwich; })},
      {"cross attention", block([](BlockSpec& b) { b.has_cross_attention = true; })},
      {"mixture of experts", block([](BlockSpec& b) { b.ffn.moe.n_expert = 8; })},
      {"clamped SwiGLU", block([](BlockSpec& b) { b.ffn.activation = ActivationKind::kClampedSwiglu; })},
      {"values of another width", attn([](AttentionSpec& a) { a.d_head_v = 8; })},
      {"this attention mask", attn([](AttentionSpec& a) { a.mask = MaskKind::kStrided; })},
      {"attention sinks", attn([](AttentionSpec& a) { a.has_sinks = true; })},
      {"relative position buckets", attn([](AttentionSpec& a) { a.position = PositionKind::kDistanceBuckets; })},
      {"ALiBi that differs between layers",
       [](ModelConfig& c) {
         for (BlockSpec& spec : c.blocks) spec.attn.position = PositionKind::kAlibi, spec.attn.alibi_max_bias = 8;
         c.blocks[1].attn.alibi_max_bias = 4;
       }},
      {"latent attention", attn([](AttentionSpec& a) { a.kv_lora_rank = 512; })},
  };
  for (const BadConfig& bad : cases) {
    SCOPED_TRACE(bad.part);
    ModelConfig config = good_config();
    bad.spoil(config);
    expect_error(check_runnable(config), ErrorCode::kUnsupported, bad.part);
  }
}

}  // namespace
}  // namespace vitro
