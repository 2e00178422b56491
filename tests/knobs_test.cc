// Every knob is load-bearing. For each member of the description there is a golden in which turning it is noticed: the
// numbers leave the reference, or the tensors no longer fit, or the forward pass refuses the knob by name. A member of
// a description without a line in the table fails the test.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "inspect/expectation.h"
#include "model/arch/architecture.h"
#include "model/differences.h"
#include "testing/engine.h"
#include "testing/field_count.h"
#include "testing/shared_data.h"
#include "weights/bind.h"

namespace vitro::testing {
namespace {

/// Errors of a golden stay below 1e-5 (VerifyTolerance); a turned knob must stand out from that. The two forms of GELU,
/// the closest that knobs come to each other, are five times as far apart as what passes.
constexpr double kPasses = 1e-5;
constexpr double kStandsOut = 3e-5;

enum class Notice {
  kNumbers,  ///< logits leave the reference
  kTensors,  ///< the file's tensors do not fit, or one has no place
  kRefused,  ///< check_runnable names it: no dense decoder needs it
};

using Turn = std::function<void(ModelConfig&)>;

struct Knob {
  const char* name;
  const char* golden;
  Turn turn;
  Notice notice = Notice::kNumbers;
};

Turn block(std::function<void(BlockSpec&)> turn) {
  return [turn](ModelConfig& config) {
    for (BlockSpec& spec : config.blocks) turn(spec);
  };
}
Turn norm(std::function<void(NormSpec&)> turn) {
  return block([turn](BlockSpec& spec) { turn(spec.norm); });
}
Turn attn(std::function<void(AttentionSpec&)> turn) {
  return block([turn](BlockSpec& spec) { turn(spec.attn); });
}
Turn rope(std::function<void(RopeSpec&)> turn) {
  return attn([turn](AttentionSpec& spec) { turn(spec.rope); });
}
Turn ffn(std::function<void(FeedForwardSpec&)> turn) {
  return block([turn](BlockSpec& spec) { turn(spec.ffn); });
}
Turn moe(std::function<void(MoeSpec&)> turn) {
  return ffn([turn](FeedForwardSpec& spec) {
    spec.d_ff = 0;
    spec.moe = {.n_expert = 4, .n_expert_used = 1, .d_ff_expert = 8};
    turn(spec.moe);
  });
}

constexpr Notice kTensors = Notice::kTensors;
constexpr Notice kRefused = Notice::kRefused;

// clang-format off
const std::vector<Knob> kKnobs = {
    // norms
    {"norm.kind", "llama-gqa", norm([](auto& n) { n.kind = NormKind::kLayerNorm; })},
    {"norm.eps", "glm", norm([](auto& n) { n.eps = 1e-6; })},
    {"norm.has_gain", "llama-gqa", norm([](auto& n) { n.has_gain = false; }), kTensors},
    {"norm.has_bias", "gpt2", norm([](auto& n) { n.has_bias = false; }), kTensors},
    {"norm.has_bias", "cohere", norm([](auto& n) { n.has_bias = true; }), kTensors},
    {"norm.gain_offset", "gemma", norm([](auto& n) { n.gain_offset = 0; })},
    // rotary positions
    {"rope.d_rot", "gptj", rope([](auto& r) { r.d_rot = 16; })},
    {"rope.theta", "llama-gqa", rope([](auto& r) { r.theta *= 1.5; })},
    {"rope.pairing", "gptj", rope([](auto& r) { r.pairing = RopePairing::kHalves; })},
    {"rope.pairing", "llama-gqa", rope([](auto& r) { r.pairing = RopePairing::kAdjacent; })},
    {"rope.scaling", "llama-rope-linear", rope([](auto& r) { r.scaling = RopeScaling::kNone; })},
    {"rope.scaling", "llama-rope-dynamic", rope([](auto& r) { r.scaling = RopeScaling::kNone; })},
    {"rope.scaling", "own/llama-ntk", rope([](auto& r) { r.scaling = RopeScaling::kLinear; })},
    {"rope.scaling", "llama-rope-llama3", rope([](auto& r) { r.scaling = RopeScaling::kNone; })},
    {"rope.factor", "llama-rope-linear", rope([](auto& r) { r.factor = 2; })},
    {"rope.factor", "own/llama-ntk", rope([](auto& r) { r.factor = 3; })},
    {"rope.n_ctx_original", "own/llama-yarn", rope([](auto& r) { r.n_ctx_original *= 2; })},
    {"rope.low_freq_factor", "llama-rope-llama3", rope([](auto& r) { r.low_freq_factor = 0.5; })},
    {"rope.high_freq_factor", "llama-rope-llama3", rope([](auto& r) { r.high_freq_factor = 8; })},
    {"rope.beta_fast", "own/llama-yarn", rope([](auto& r) { r.beta_fast = 32; })},
    {"rope.beta_slow", "own/llama-yarn", rope([](auto& r) { r.beta_slow = 1; })},
    {"rope.mscale", "own/llama-yarn", rope([](auto& r) { r.mscale = 1; })},
    {"rope.mscale_all_dim", "own/llama-yarn", rope([](auto& r) { r.mscale_all_dim = 1; })},
    {"rope.attention_factor", "own/llama-yarn-factor", rope([](auto& r) { r.attention_factor = 0; })},
    {"rope.is_truncated", "own/llama-yarn", rope([](auto& r) { r.is_truncated = true; })},
    {"rope.short_factors", "phi3-longrope", rope([](auto& r) { r.short_factors = r.long_factors; })},
    {"rope.long_factors", "phi3-longrope", rope([](auto& r) { r.long_factors = r.short_factors; })},
    // attention
    {"attn.n_head", "llama-gqa", attn([](auto& a) { a.n_head = 8; }), kTensors},
    {"attn.n_kv_head", "llama-gqa", attn([](auto& a) { a.n_kv_head = 4; }), kTensors},
    {"attn.d_head", "llama-gqa", attn([](auto& a) { a.d_head = a.d_head_v = a.rope.d_rot = 8; }), kTensors},
    {"attn.d_head_v", "llama-gqa", attn([](auto& a) { a.d_head_v = 8; }), kRefused},
    {"attn.has_q_bias", "qwen2", attn([](auto& a) { a.has_q_bias = false; }), kTensors},
    {"attn.has_k_bias", "qwen2", attn([](auto& a) { a.has_k_bias = false; }), kTensors},
    {"attn.has_v_bias", "qwen2", attn([](auto& a) { a.has_v_bias = false; }), kTensors},
    {"attn.has_o_bias", "opt", attn([](auto& a) { a.has_o_bias = false; }), kTensors},
    {"attn.has_o_bias", "qwen2", attn([](auto& a) { a.has_o_bias = true; }), kTensors},
    {"attn.qkv_clip", "mpt", attn([](auto& a) { a.qkv_clip = 0; })},
    {"attn.qk_norm", "qwen3", attn([](auto& a) { a.qk_norm = QkNorm::kNone; })},
    {"attn.qk_norm", "olmo2", attn([](auto& a) { a.qk_norm = QkNorm::kNone; })},
    {"attn.qk_norm", "own/stablelm-qknorm", attn([](auto& a) { a.qk_norm = QkNorm::kNone; })},
    {"attn.qk_norm", "own/cohere-qknorm", attn([](auto& a) { a.qk_norm = QkNorm::kNone; })},
    {"attn.qk_norm", "own/phi-qknorm", attn([](auto& a) { a.qk_norm = QkNorm::kNone; })},
    {"attn.qk_norm_spec", "own/phi-qknorm", attn([](auto& a) { a.qk_norm_spec.kind = NormKind::kRms; })},
    {"attn.scale", "gpt-neo-alternating", attn([](auto& a) { a.scale = 0.25; })},
    {"attn.scale", "gpt2-scaled", [](ModelConfig& c) { c.blocks[2].attn.scale = c.blocks[0].attn.scale; }},
    {"attn.softcap", "gemma2", attn([](auto& a) { a.softcap = 0; })},
    {"attn.mask", "mistral-sliding", attn([](auto& a) { a.mask = MaskKind::kCausal; })},
    {"attn.mask", "gpt-neo-alternating", attn([](auto& a) { a.mask = MaskKind::kCausal; })},
    {"attn.window", "mistral-sliding", attn([](auto& a) { a.window += 1; })},
    {"attn.stride", "llama-gqa", attn([](auto& a) { a.mask = MaskKind::kStrided, a.stride = 4; }), kRefused},
    {"attn.n_summary", "llama-gqa", attn([](auto& a) { a.mask = MaskKind::kFixedBlocks, a.n_summary = 1; }), kRefused},
    {"attn.has_sinks", "llama-gqa", attn([](auto& a) { a.has_sinks = true; }), kRefused},
    {"attn.position", "llama-gqa", attn([](auto& a) { a.position = PositionKind::kNone; })},
    {"attn.position", "smollm3", [](ModelConfig& c) { c.blocks[3].attn = c.blocks[2].attn; }},
    {"attn.position", "bloom", attn([](auto& a) { a.position = PositionKind::kNone; })},
    {"attn.position", "llama-gqa", attn([](auto& a) { a.position = PositionKind::kDistanceBuckets; }), kRefused},
    {"attn.rope", "gemma3", [](ModelConfig& c) { c.blocks[0].attn.rope = c.blocks[5].attn.rope; }},
    {"attn.alibi_max_bias", "bloom", attn([](auto& a) { a.alibi_max_bias = 4; })},
    {"attn.alibi_factor", "own/falcon-alibi-12", attn([](auto& a) { a.alibi_factor = 1; })},
    {"attn.is_alibi_bf16", "own/falcon-alibi-12", attn([](auto& a) { a.is_alibi_bf16 = false; })},
    {"attn.has_bias_table", "llama-gqa", attn([](auto& a) { a.has_bias_table = true; }), kRefused},
    {"attn.q_lora_rank", "llama-gqa", attn([](auto& a) { a.q_lora_rank = 8; }), kRefused},
    {"attn.kv_lora_rank", "llama-gqa", attn([](auto& a) { a.kv_lora_rank = 8; }), kRefused},
    {"attn.d_head_nope", "llama-gqa", attn([](auto& a) { a.kv_lora_rank = 8, a.d_head_nope = 8; }), kRefused},
    {"attn.d_head_rope", "llama-gqa", attn([](auto& a) { a.kv_lora_rank = 8, a.d_head_rope = 8; }), kRefused},
    // feed forward
    {"ffn.d_ff", "llama-gqa", ffn([](auto& f) { f.d_ff = 64; }), kTensors},
    {"ffn.is_gated", "llama-gqa", ffn([](auto& f) { f.is_gated = false; })},
    {"ffn.activation", "llama-gqa", ffn([](auto& f) { f.activation = ActivationKind::kGeluTanh; })},
    {"ffn.activation", "gpt-neox", ffn([](auto& f) { f.activation = ActivationKind::kGeluTanh; })},
    {"ffn.activation", "gpt1", ffn([](auto& f) { f.activation = ActivationKind::kGeluErf; })},
    {"ffn.activation", "opt", ffn([](auto& f) { f.activation = ActivationKind::kReluSquared; })},
    {"ffn.activation", "own/llama-relu2", ffn([](auto& f) { f.activation = ActivationKind::kRelu; })},
    {"ffn.activation", "own/llama-quick-gelu", ffn([](auto& f) { f.activation = ActivationKind::kGeluErf; })},
    {"ffn.activation", "llama-gqa", ffn([](auto& f) { f.activation = ActivationKind::kClampedSwiglu; }), kRefused},
    {"ffn.has_in_bias", "starcoder2", ffn([](auto& f) { f.has_in_bias = false; }), kTensors},
    {"ffn.has_out_bias", "starcoder2", ffn([](auto& f) { f.has_out_bias = false; }), kTensors},
    {"ffn.clamp", "llama-gqa", ffn([](auto& f) { f.clamp = 7; }), kRefused},
    {"ffn.gate_slope", "llama-gqa", ffn([](auto& f) { f.gate_slope = 1.702; }), kRefused},
    {"moe.n_expert", "llama-gqa", moe([](auto&) {}), kRefused},
    {"moe.n_expert_used", "llama-gqa", moe([](auto& m) { m.n_expert_used = 2; }), kRefused},
    {"moe.d_ff_expert", "llama-gqa", moe([](auto& m) { m.d_ff_expert = 16; }), kRefused},
    {"moe.d_ff_shared", "llama-gqa", moe([](auto& m) { m.d_ff_shared = 8; }), kRefused},
    {"moe.score", "llama-gqa", moe([](auto& m) { m.score = RouterScore::kSigmoid; }), kRefused},
    {"moe.router_jitter", "llama-gqa", moe([](auto& m) { m.router_jitter = 0.01; }), kRefused},
    {"moe.is_renormalised", "llama-gqa", moe([](auto& m) { m.is_renormalised = true; }), kRefused},
    {"moe.routed_scale", "llama-gqa", moe([](auto& m) { m.routed_scale = 2.5; }), kRefused},
    {"moe.n_group", "llama-gqa", moe([](auto& m) { m.n_group = 2; }), kRefused},
    {"moe.n_group_used", "llama-gqa", moe([](auto& m) { m.n_group = m.n_group_used = 2; }), kRefused},
    {"moe.group_score", "llama-gqa", moe([](auto& m) { m.group_score = GroupScore::kSumOfTwo; }), kRefused},
    {"moe.has_router_bias", "llama-gqa", moe([](auto& m) { m.has_router_bias = true; }), kRefused},
    {"moe.has_selection_bias", "llama-gqa", moe([](auto& m) { m.has_selection_bias = true; }), kRefused},
    {"moe.has_expert_bias", "llama-gqa", moe([](auto& m) { m.has_expert_bias = true; }), kRefused},
    {"moe.has_shared_gate", "llama-gqa", moe([](auto& m) { m.has_shared_gate = true; }), kRefused},
    // blocks
    {"block.norm_place", "gemma2", block([](auto& b) { b.norm_place = NormPlace::kPre; }), kTensors},
    {"block.norm_place", "opt-postnorm", block([](auto& b) { b.norm_place = NormPlace::kPre; })},
    {"block.norm_place", "gpt1", block([](auto& b) { b.norm_place = NormPlace::kPre; })},
    {"block.norm_place", "olmo2", block([](auto& b) { b.norm_place = NormPlace::kSandwich; }), kTensors},
    {"block.residual", "gpt-neox", block([](auto& b) { b.residual = Residual::kSequential; })},
    {"block.residual", "gpt-neox-serial", block([](auto& b) { b.residual = Residual::kParallel; })},
    {"block.residual", "gptj", block([](auto& b) { b.residual = Residual::kSequential; }), kTensors},
    {"block.residual_from_norm", "own/bloom-residual", block([](auto& b) { b.residual_from_norm = false; })},
    {"block.residual_scale", "granite", block([](auto& b) { b.residual_scale = 1; })},
    {"block.has_cross_attention", "llama-gqa", block([](auto& b) { b.has_cross_attention = true; }), kRefused},
    // the model
    {"model.kind", "llama-gqa", [](auto& c) { c.kind = ModelKind::kEncoder; }, kRefused},
    {"model.d_model", "llama-gqa", [](auto& c) { c.d_model = 32; }, kTensors},
    {"model.d_embed", "opt-postnorm", [](auto& c) { c.d_embed = 0; }, kTensors},
    {"model.vocab_size", "llama-gqa", [](auto& c) { c.vocab_size -= 1; }, kTensors},
    {"model.embed_scale", "gemma", [](auto& c) { c.embed_scale = 1; }},
    {"model.embed_norm", "bloom", [](auto& c) { c.embed_norm.kind = NormKind::kNone; }},
    {"model.position", "gpt2", [](auto& c) { c.position = PositionKind::kNone; }},
    {"model.position", "gpt2", [](auto& c) { c.position = PositionKind::kSinusoidal; }},
    {"model.position_offset", "opt", [](auto& c) { c.position_offset = 0; }},
    {"model.n_position_rows", "opt", [](auto& c) { c.n_position_rows -= 2; }, kTensors},
    {"model.n_token_types", "gpt2", [](auto& c) { c.n_token_types = 2; }, kRefused},
    {"model.encoder_blocks", "llama-gqa", [](auto& c) { c.encoder_blocks = c.blocks; }, kRefused},
    {"model.n_bias_buckets", "llama-gqa", [](auto& c) { c.n_bias_buckets = 32; }, kRefused},
    {"model.bias_max_distance", "llama-gqa", [](auto& c) { c.bias_max_distance = 128; }, kRefused},
    {"model.has_pooler", "llama-gqa", [](auto& c) { c.has_pooler = true; }, kRefused},
    {"model.head", "llama-gqa", [](auto& c) { c.head = HeadKind::kNone; }, kRefused},
    {"model.has_head_transform", "llama-gqa", [](auto& c) { c.has_head_transform = true; }, kRefused},
    {"model.n_class", "llama-gqa", [](auto& c) { c.n_class = 2; }, kRefused},
    {"model.final_norm", "llama-gqa", [](auto& c) { c.final_norm.kind = NormKind::kNone; }},
    {"model.is_head_tied", "cohere", [](auto& c) { c.is_head_tied = false; }, kTensors},
    {"model.has_head_bias", "gptj", [](auto& c) { c.has_head_bias = false; }, kTensors},
    {"model.logit_scale", "cohere", [](auto& c) { c.logit_scale = 1; }},
    {"model.logit_softcap", "gemma2", [](auto& c) { c.logit_softcap = 0; }},
};
// clang-format on

/// Members whose own members have the lines (norm, attn, ffn, blocks, moe), that no number depends on (family, n_ctx,
/// token ids, the record of values), or that a test of their own compares with NumPy (is_sinusoid_adjacent:
/// model/sinusoid_test.cc).
const std::map<std::string, std::set<std::string>> kElsewhere = {
    {"block", {"norm", "attn", "ffn"}},
    {"ffn", {"moe"}},
    {"model", {"blocks", "family", "n_ctx", "eos_ids", "bos_id", "values", "is_sinusoid_adjacent"}},
};

size_t n_lines(const std::string& part) {
  std::set<std::string> names;
  for (const Knob& knob : kKnobs) {
    const std::string name = knob.name;
    if (name.starts_with(part + ".")) names.insert(name);
  }
  const auto elsewhere = kElsewhere.find(part);
  return names.size() + (elsewhere == kElsewhere.end() ? 0 : elsewhere->second.size());
}

TEST(Knobs, EveryMemberOfTheDescriptionHasALine) {
  EXPECT_EQ(n_lines("norm"), n_fields<NormSpec>());
  EXPECT_EQ(n_lines("rope"), n_fields<RopeSpec>());
  EXPECT_EQ(n_lines("attn"), n_fields<AttentionSpec>());
  EXPECT_EQ(n_lines("moe"), n_fields<MoeSpec>());
  EXPECT_EQ(n_lines("ffn"), n_fields<FeedForwardSpec>());
  EXPECT_EQ(n_lines("block"), n_fields<BlockSpec>());
  EXPECT_EQ(n_lines("model"), n_fields<ModelConfig>());
}

/// A golden, opened.
struct Golden {
  Checkpoint checkpoint;
  ModelDescription description;
  Expectation expectation;

  static Golden open(const std::string& name) {
    const bool is_own = name.starts_with("own/");
    const auto folder = repo_path((is_own ? "tests/data/" : "tests/golden/") + name);
    Checkpoint checkpoint = std::move(Checkpoint::open(folder)).value();
    ModelDescription description = std::move(describe_model(checkpoint)).value();
    return {std::move(checkpoint), std::move(description), std::move(open_expectation(folder)).value()};
  }

  std::vector<TensorSlot> slots(const ModelConfig& config) const {
    return description.arch->tensor_slots(checkpoint.format(), config);
  }
  Result<std::vector<BoundTensor>> bind(const std::vector<TensorSlot>& slots) const {
    return bind_tensors(checkpoint, slots, description.arch->ignorable_tensors);
  }
  Tensors tensors(Bench& bench) const {
    const std::vector<TensorSlot> all = slots(description.config);
    return std::move(load_tensors(checkpoint, bind(all).value(), {}, bench.pool)).value();
  }
};

/// Largest row error of the logits over all inputs, with the weights as the file has them and `config` as the
/// description.
double logits_error(const Golden& golden, const ModelConfig& config, Bench& bench) {
  const std::shared_ptr<const Model> model = assemble_model(config, golden.tensors(bench));
  const Value::Array& inputs = *golden.expectation.json.find("inputs")->as_array();
  double worst = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<int32_t> ids = id_list(&inputs[i]).value();
    Session session = make_session(model, static_cast<int64_t>(ids.size()), {}, bench);
    const std::vector<float> ours = all_logits(session, ids);
    const ConstRows stored = golden.expectation.tensors->find("logits." + std::to_string(i)).value();
    for (int64_t t = 0; t < stored.n_rows; ++t) {
      worst = std::max(worst, row_error(&ours[static_cast<size_t>(t * stored.width)], stored.row(t), stored.width));
    }
  }
  return worst;
}

TEST(Knobs, EachIsNoticed) {
  Bench bench(best_kernel_table(), 1);
  for (const Knob& knob : kKnobs) {
    SCOPED_TRACE(std::string(knob.name) + " in " + knob.golden);
    const Golden golden = Golden::open(knob.golden);
    ModelConfig turned = golden.description.config;
    knob.turn(turned);
    EXPECT_FALSE(config_differences(golden.description.config, turned).empty());
    const bool is_runnable = check_config(turned).has_value() && check_runnable(turned).has_value();
    EXPECT_EQ(is_runnable, knob.notice != Notice::kRefused);
    if (knob.notice == Notice::kTensors) {
      EXPECT_FALSE(golden.bind(golden.slots(turned)).has_value());
    }
    if (knob.notice != Notice::kNumbers || !is_runnable) continue;
    EXPECT_LT(logits_error(golden, golden.description.config, bench), kPasses);
    EXPECT_GT(logits_error(golden, turned, bench), kStandsOut);
  }
}

}  // namespace
}  // namespace vitro::testing
