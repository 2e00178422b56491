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
    if (config_.position == PositionKind::kLearned) range("n_position_rows", config_.n_position_rows, 1, kMaxContext);
    if (config_.position == PositionKind::kSinusoidal && config_.d_model % 2 != 0) {
      add("d_model", fmt::format("{}", config_.d_model), "must be even for sinusoidal positions");
    }
    positive("embed_scale", config_.embed_scale);
    nonzero("logit_scale", config_.logit_scale);
    not_negative("logit_softcap", config_.logit_softcap);
    norm(config_.embed_norm);
    norm(config_.final_norm);
    for (size_t i = 0; i < config_.blocks.size(); ++i) {
      if (i == 0 || config_.blocks[i] != config_.blocks[i - 1]) block(config_.blocks[i]);
    }
    if (problems_.empty()) return {};
    return fail(ErrorCode::kInvalidArgument, "the model's description is not usable: {}", fmt::join(problems_, "; "));
  }

 private:
  void block(const BlockSpec& block) {
    norm(block.norm);
    attention(block.attn);
    range("ffn.d_ff", block.ffn.d_ff, 1, kMaxWidth);
    positive("residual_scale", block.residual_scale);
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
  refuse.when(attn.position == PositionKind::kT5Bias, "T5's relative position buckets");
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
  refuse.when(block.ffn.moe.n_expert != 0, "mixture of experts");
  refuse.when(block.ffn.activation == ActivationKind::kClampedSwiglu, "clamped SwiGLU");
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
  refuse.when(config.kind != ModelKind::kDecoder, "encoders");
  refuse.when(config.n_token_types != 0, "token types");
  const AttentionSpec* alibi = alibi_spec(config);
  for (const BlockSpec& block : config.blocks) {
    refuse_block(block, refuse);
    refuse.when(alibi && block.attn.position == PositionKind::kAlibi && !has_same_bias(block.attn, *alibi),
                "ALiBi that differs between layers");
  }
  return refuse.status();
}

}  // namespace vitro
