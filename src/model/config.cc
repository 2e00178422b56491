#include "model/config.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace vitro {
namespace {

/// Whether a number is as good in float32, as kernels take it: neither infinite there nor 0 or subnormal by rounding.
bool fits_float(double x) {
  constexpr double kLeast = std::numeric_limits<float>::min(), kMost = std::numeric_limits<float>::max();
  return x == 0.0 || (std::abs(x) >= kLeast && std::abs(x) <= kMost);
}

/// Collects what is wrong with one description. Layers that are equal are checked once.
class Checker {
 public:
  explicit Checker(const ModelConfig& config) : config_(config) {}

  Status check() {
    range("d_model", config_.d_model, 1, kMaxWidth);
    range("d_embed", config_.d_embed, 0, kMaxWidth);
    range("vocab_size", config_.vocab_size, 1, kMaxVocab);
    range("n_ctx", config_.n_ctx, 1, kMaxContext);
    range("n_layer", config_.n_layer(), 1, kMaxLayers);
    range("encoder.n_layer", std::ssize(config_.encoder_blocks), config_.kind == ModelKind::kEncoderDecoder ? 1 : 0,
          kMaxLayers - config_.n_layer());
    if (config_.position == PositionKind::kLearned) range("n_position_rows", config_.n_position_rows, 1, kMaxContext);
    if (config_.position == PositionKind::kSinusoidal && config_.d_model % 2 != 0) {
      add("d_model", fmt::format("{}", config_.d_model), "must be even for sinusoidal positions");
    }
    positive("embed_scale", config_.embed_scale);
    nonzero("logit_scale", config_.logit_scale);
    not_negative("logit_softcap", config_.logit_softcap);
    norm(config_.embed_norm);
    norm(config_.final_norm);
    range("n_token_types", config_.n_token_types, 0, kMaxVocab);
    range("n_bias_buckets", config_.n_bias_buckets, 0, kMaxBiasBuckets);
    range("bias_max_distance", config_.bias_max_distance, 0, kMaxContext);
    range("n_class", config_.n_class, 0, kMaxVocab);
    stack(config_.blocks);
    stack(config_.encoder_blocks);
    if (problems_.empty()) return {};
    return fail(ErrorCode::kInvalidArgument, "the model's description is not usable: {}", fmt::join(problems_, "; "));
  }

 private:
  void stack(const std::vector<BlockSpec>& blocks) {
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (i == 0 || blocks[i] != blocks[i - 1]) block(blocks[i]);
    }
  }

  void block(const BlockSpec& block) {
    norm(block.norm);
    attention(block.attn);
    feed_forward(block.ffn);
    positive("residual_scale", block.residual_scale);
  }

  void feed_forward(const FeedForwardSpec& ffn) {
    range("ffn.d_ff", ffn.d_ff, ffn.moe.n_expert > 0 ? 0 : 1, ffn.moe.n_expert > 0 ? 0 : kMaxWidth);
    not_negative("ffn.clamp", ffn.clamp);
    positive("ffn.gate_slope", ffn.gate_slope);
    if (ffn.moe != MoeSpec{}) experts(ffn.moe);
  }

  void experts(const MoeSpec& moe) {
    if (!range("moe.n_expert", moe.n_expert, 1, kMaxExperts)) return;
    range("moe.n_expert_used", moe.n_expert_used, 1, moe.n_expert);
    range("moe.d_ff_expert", moe.d_ff_expert, 1, kMaxWidth / moe.n_expert);
    range("moe.d_ff_shared", moe.d_ff_shared, 0, kMaxWidth);
    positive("moe.routed_scale", moe.routed_scale);
    not_negative("moe.router_jitter", moe.router_jitter);
    if (!range("moe.n_group", moe.n_group, 1, moe.n_expert)) return;
    if (moe.n_expert % moe.n_group != 0) {
      add("moe.n_group", fmt::format("{}", moe.n_group), fmt::format("does not divide the {} experts", moe.n_expert));
    }
    if (!range("moe.n_group_used", moe.n_group_used, 1, moe.n_group)) return;
    const int64_t n_choice = moe.n_expert / moe.n_group * moe.n_group_used;
    range("moe.n_expert_used", moe.n_expert_used, 1, n_choice);
  }

  /// The rotated part of a head stands behind the other.
  void latent(const AttentionSpec& attn) {
    range("attn.q_lora_rank", attn.q_lora_rank, 0, kMaxWidth);
    if (!range("attn.d_head_nope", attn.d_head_nope, 1, kMaxWidth) ||
        !range("attn.d_head_rope", attn.d_head_rope, 1, kMaxWidth)) {
      return;
    }
    range("attn.kv_lora_rank", attn.kv_lora_rank, 1, kMaxWidth - attn.d_head_rope);
    range("attn.d_head", attn.d_head, attn.d_head_nope + attn.d_head_rope, attn.d_head_nope + attn.d_head_rope);
    range("attn.n_kv_head", attn.n_kv_head, attn.n_head, attn.n_head);
    norm(attn.qk_norm_spec);
  }

  void attention(const AttentionSpec& attn) {
    const bool has_heads = range("attn.n_head", attn.n_head, 1, kMaxWidth);
    const bool has_kv_heads = range("attn.n_kv_head", attn.n_kv_head, 1, kMaxWidth);
    const bool has_width =
        range("attn.d_head", attn.d_head, 1, kMaxWidth) && range("attn.d_head_v", attn.d_head_v, 1, kMaxWidth);
    if (has_heads && has_kv_heads && attn.n_head % attn.n_kv_head != 0) {
      add("attn.n_kv_head", fmt::format("{}", attn.n_kv_head),
          fmt::format("does not divide the {} heads", attn.n_head));
    }
    if (has_heads && has_width && attn.n_head * std::max(attn.d_head, attn.d_head_v) > kMaxWidth) {
      add("attn.d_head", fmt::format("{}", attn.d_head),
          fmt::format("times {} heads is wider than {}", attn.n_head, kMaxWidth));
    }
    head_split(attn);
    positive("attn.scale", attn.scale);
    if (attn.qk_norm != QkNorm::kNone) norm(attn.qk_norm_spec);
    if (attn.qk_norm == QkNorm::kPerHeadOwn) {
      range("attn.n_head", attn.n_head, 1, kMaxHeadNorms / std::max(config_.n_layer(), int64_t{1}));
    }
    not_negative("attn.softcap", attn.softcap);
    not_negative("attn.qkv_clip", attn.qkv_clip);
    if (attn.kv_lora_rank != 0 || attn.q_lora_rank != 0 || attn.d_head_nope != 0 || attn.d_head_rope != 0) latent(attn);
    if (attn.position == PositionKind::kDistanceBuckets)
      range("n_bias_buckets", config_.n_bias_buckets, 1, kMaxBiasBuckets);
    if (attn.mask == MaskKind::kWindow) range("attn.window", attn.window, 1, kMaxContext);
    if (attn.position == PositionKind::kRope) rope(attn, attn.rope);
    if (attn.position == PositionKind::kAlibi) {
      positive("attn.alibi_max_bias", attn.alibi_max_bias);
      positive("attn.alibi_factor", attn.alibi_factor);
    }
  }

  /// Where the file gives no width of a head, the heads must divide d_model.
  void head_split(const AttentionSpec& attn) {
    if (origin("attn.d_head") == ValueOrigin::kFile || attn.n_head < 1) return;
    if (attn.d_head == config_.d_model / attn.n_head && config_.d_model % attn.n_head != 0) {
      add("attn.n_head", fmt::format("{}", attn.n_head), fmt::format("does not divide the width {}", config_.d_model));
    }
  }

  void rope(const AttentionSpec& attn, const RopeSpec& rope) {
    if (rope.d_rot < 2 || rope.d_rot % 2 != 0 || rope.d_rot > attn.d_head) {
      add("rope.d_rot", fmt::format("{}", rope.d_rot),
          fmt::format("must be even, from 2 to the width of a head, {}", attn.d_head));
    }
    if (attn.d_head % 2 != 0) add("attn.d_head", fmt::format("{}", attn.d_head), "must be even for rotary positions");
    if (!(std::isfinite(rope.theta) && rope.theta > 1.0))
      add("rope.theta", fmt::format("{}", rope.theta), "must be above 1");
    if (rope.attention_factor != 0.0) positive("rope.attention_factor", rope.attention_factor);
    scaling(rope);
  }

  void scaling(const RopeSpec& rope) {
    if (rope.scaling == RopeScaling::kNone || rope.scaling == RopeScaling::kFactors) return;
    positive("rope.factor", rope.factor);
    if (rope.scaling == RopeScaling::kNtk || rope.scaling == RopeScaling::kDynamic) ntk(rope);
    if (rope.scaling == RopeScaling::kLinear || rope.scaling == RopeScaling::kNtk) return;
    range("rope.n_ctx_original", rope.n_ctx_original, 2, kMaxContext);
    if (rope.scaling == RopeScaling::kYarn) yarn(rope);
    if (rope.scaling == RopeScaling::kLongRope) {
      factors("rope.short_factors", rope, rope.short_factors);
      factors("rope.long_factors", rope, rope.long_factors);
    }
    if (rope.scaling != RopeScaling::kLlama3) return;
    positive("rope.low_freq_factor", rope.low_freq_factor);
    if (!(std::isfinite(rope.high_freq_factor) && rope.high_freq_factor > rope.low_freq_factor)) {
      add("rope.high_freq_factor", fmt::format("{}", rope.high_freq_factor), "must be above low_freq_factor");
    }
  }

  /// The base is raised to d_rot / (d_rot - 2).
  void ntk(const RopeSpec& rope) {
    if (rope.factor < 1.0) add("rope.factor", fmt::format("{}", rope.factor), "must be at least 1 for this scaling");
    if (rope.d_rot == 2) add("rope.d_rot", "2", "is too narrow for this scaling");
  }

  void yarn(const RopeSpec& rope) {
    positive("rope.beta_fast", rope.beta_fast);
    positive("rope.beta_slow", rope.beta_slow);
    if (rope.beta_fast < rope.beta_slow)
      add("rope.beta_fast", fmt::format("{}", rope.beta_fast), "must not be below beta_slow");
    not_negative("rope.mscale", rope.mscale);
    not_negative("rope.mscale_all_dim", rope.mscale_all_dim);
  }

  /// Empty lists stand in the weights instead (GGUF).
  void factors(std::string_view name, const RopeSpec& rope, const std::vector<double>& list) {
    const bool are_positive = std::all_of(list.begin(), list.end(), [](double x) { return fits_float(x) && x > 0.0; });
    if (list.empty() || (static_cast<int64_t>(list.size()) == rope.d_rot / 2 && are_positive)) return;
    add(name, fmt::format("{} numbers", list.size()), fmt::format("must be {} numbers above 0", rope.d_rot / 2));
  }

  void norm(const NormSpec& norm) {
    if (norm.kind == NormKind::kNone) return;
    if (!(fits_float(norm.eps) && norm.eps > 0.0 && norm.eps <= 1.0)) {
      add("norm.eps", fmt::format("{}", norm.eps), "must be above 0 and at most 1");
    }
  }

  bool range(std::string_view name, int64_t value, int64_t low, int64_t high) {
    if (value >= low && value <= high) return true;
    add(name, fmt::format("{}", value), fmt::format("must be between {} and {}", low, high));
    return false;
  }

  void positive(std::string_view name, double value) {
    if (!(fits_float(value) && value > 0.0)) add(name, fmt::format("{}", value), "must be a finite number above 0");
  }

  void not_negative(std::string_view name, double value) {
    if (!(fits_float(value) && value >= 0.0))
      add(name, fmt::format("{}", value), "must be a finite number, not negative");
  }

  void nonzero(std::string_view name, double value) {
    if (!fits_float(value) || value == 0.0) add(name, fmt::format("{}", value), "must be a finite number, not 0");
  }

  /// "name (key in the file) = value rule", each once.
  void add(std::string_view name, std::string_view value, std::string_view rule) {
    std::string key;
    for (const ConfigValue& known : config_.values) {
      if (known.name == name && known.source != name) key = fmt::format(" ('{}')", known.source);
    }
    std::string text = fmt::format("{}{} = {} {}", name, key, value, rule);
    if (std::find(problems_.begin(), problems_.end(), text) == problems_.end()) problems_.push_back(std::move(text));
  }

  ValueOrigin origin(std::string_view name) const {
    for (const ConfigValue& known : config_.values) {
      if (known.name == name) return known.origin;
    }
    return ValueOrigin::kDefault;
  }

  const ModelConfig& config_;
  std::vector<std::string> problems_;
};

/// Names of knobs that the forward pass cannot turn yet, each once.
class Refusals {
 public:
  void when(bool is_set, std::string_view knob) {
    if (is_set && std::find(knobs_.begin(), knobs_.end(), knob) == knobs_.end()) knobs_.push_back(knob);
  }

  Status status() const {
    if (knobs_.empty()) return {};
    return fail(ErrorCode::kUnsupported, "this model cannot be run yet: {} not implemented in the forward pass",
                fmt::join(knobs_, ", "));
  }

 private:
  std::vector<std::string_view> knobs_;
};

bool has_same_bias(const AttentionSpec& a, const AttentionSpec& b) {
  return a.n_head == b.n_head && a.alibi_max_bias == b.alibi_max_bias && a.alibi_factor == b.alibi_factor &&
         a.is_alibi_bf16 == b.is_alibi_bf16;
}

void refuse_attention(const AttentionSpec& attn, Refusals& refuse) {
  refuse.when(attn.d_head_v != attn.d_head, "values of another width than keys");
  refuse.when(attn.mask != MaskKind::kCausal && attn.mask != MaskKind::kWindow, "this attention mask");
  refuse.when(attn.has_sinks, "attention sinks");
  refuse.when(attn.position == PositionKind::kDistanceBuckets, "relative position buckets");
  refuse.when(attn.has_bias_table, "tables of position biases");
  refuse.when(attn.kv_lora_rank != 0 || attn.q_lora_rank != 0, "latent attention");
}

void refuse_block(const BlockSpec& block, Refusals& refuse) {
  refuse.when(block.norm.kind == NormKind::kNone, "blocks without norms");
  refuse.when(block.residual_from_norm && block.norm_place != NormPlace::kPre, "residuals from norms of another place");
  refuse.when(block.residual_from_norm && block.residual != Residual::kSequential,
              "parallel halves with residuals from the norm");
  refuse.when(block.residual != Residual::kSequential && block.norm_place != NormPlace::kPre,
              "parallel halves without pre-norms");
  refuse.when(block.has_cross_attention, "cross attention");
  refuse.when(block.ffn.moe != MoeSpec{}, "mixture of experts");
  refuse.when(
      block.ffn.activation == ActivationKind::kClampedSwiglu || block.ffn.clamp != 0.0 || block.ffn.gate_slope != 1.0,
      "clamped SwiGLU");
  refuse_attention(block.attn, refuse);
}

}  // namespace

std::vector<RopeSpec> rope_kinds(const ModelConfig& config) {
  std::vector<RopeSpec> kinds;
  for (const BlockSpec& block : config.blocks) {
    if (block.attn.position != PositionKind::kRope) continue;
    if (std::find(kinds.begin(), kinds.end(), block.attn.rope) == kinds.end()) kinds.push_back(block.attn.rope);
  }
  return kinds;
}

const AttentionSpec* alibi_spec(const ModelConfig& config) {
  for (const BlockSpec& block : config.blocks) {
    if (block.attn.position == PositionKind::kAlibi) return &block.attn;
  }
  return nullptr;
}

Status check_config(const ModelConfig& config) { return Checker(config).check(); }

Status check_runnable(const ModelConfig& config) {
  Refusals refuse;
  refuse.when(config.kind != ModelKind::kDecoder || !config.encoder_blocks.empty(), "encoders");
  refuse.when(config.n_token_types != 0, "token types");
  refuse.when(config.n_bias_buckets != 0 || config.bias_max_distance != 0, "relative position buckets");
  refuse.when(config.has_pooler, "poolers");
  refuse.when(config.head != HeadKind::kLogits || config.has_head_transform || config.n_class != 0,
              "heads other than one logit for each token");
  const AttentionSpec* alibi = alibi_spec(config);
  for (const BlockSpec& block : config.blocks) {
    refuse_block(block, refuse);
    refuse.when(alibi && block.attn.position == PositionKind::kAlibi && !has_same_bias(block.attn, *alibi),
                "ALiBi that differs between layers");
  }
  return refuse.status();
}

}  // namespace vitro
