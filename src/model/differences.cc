#include "model/differences.h"

#include <algorithm>
#include <string_view>

namespace vitro {
namespace {

class Differences {
 public:
  template <class T>
  void field(std::string_view name, const T& a, const T& b) {
    if (!(a == b)) add(name);
  }
  void field(std::string_view name, double a, double b) {
    if (static_cast<float>(a) != static_cast<float>(b)) add(name);
  }

  void norm(const std::string& name, const NormSpec& a, const NormSpec& b) {
    field(name, a.kind, b.kind);
    if (a.kind == NormKind::kNone || b.kind == NormKind::kNone) return;
    field(name + ".eps", a.eps, b.eps);
    field(name + ".has_gain", a.has_gain, b.has_gain);
    field(name + ".has_bias", a.has_bias, b.has_bias);
    field(name + ".gain_offset", a.gain_offset, b.gain_offset);
  }

  void rope(const RopeSpec& a, const RopeSpec& b) {
    field("rope.d_rot", a.d_rot, b.d_rot);
    field("rope.theta", a.theta, b.theta);
    field("rope.pairing", a.pairing, b.pairing);
    if (a.scaling == RopeScaling::kFactors || b.scaling == RopeScaling::kFactors) return;
    field("rope.scaling", a.scaling, b.scaling);
    if (a.scaling != b.scaling || a.scaling == RopeScaling::kNone) return;
    field("rope.n_ctx_original", a.n_ctx_original, b.n_ctx_original);
    if (a.scaling == RopeScaling::kLongRope) return factor_lists(a, b);
    field("rope.factor", a.factor, b.factor);
    field("rope.low_freq_factor", a.low_freq_factor, b.low_freq_factor);
    field("rope.high_freq_factor", a.high_freq_factor, b.high_freq_factor);
    field("rope.beta_fast", a.beta_fast, b.beta_fast);
    field("rope.beta_slow", a.beta_slow, b.beta_slow);
    field("rope.mscale", a.mscale, b.mscale);
    field("rope.mscale_all_dim", a.mscale_all_dim, b.mscale_all_dim);
    field("rope.attention_factor", a.attention_factor, b.attention_factor);
    field("rope.is_truncated", a.is_truncated, b.is_truncated);
  }

  /// Where one side's lists stand in tensors there is nothing to compare.
  void factor_lists(const RopeSpec& a, const RopeSpec& b) {
    if (a.short_factors.empty() || b.short_factors.empty()) return;
    field("rope.short_factors", a.short_factors, b.short_factors);
    field("rope.long_factors", a.long_factors, b.long_factors);
  }

  void attention(const AttentionSpec& a, const AttentionSpec& b) {
    field("attn.n_head", a.n_head, b.n_head);
    field("attn.n_kv_head", a.n_kv_head, b.n_kv_head);
    field("attn.d_head", a.d_head, b.d_head);
    field("attn.d_head_v", a.d_head_v, b.d_head_v);
    field("attn.has_q_bias", a.has_q_bias, b.has_q_bias);
    field("attn.has_k_bias", a.has_k_bias, b.has_k_bias);
    field("attn.has_v_bias", a.has_v_bias, b.has_v_bias);
    field("attn.has_o_bias", a.has_o_bias, b.has_o_bias);
    field("attn.qkv_clip", a.qkv_clip, b.qkv_clip);
    field("attn.qk_norm", a.qk_norm, b.qk_norm);
    norm("attn.qk_norm", a.qk_norm_spec, b.qk_norm_spec);
    field("attn.scale", a.scale, b.scale);
    field("attn.softcap", a.softcap, b.softcap);
    field("attn.mask", a.mask, b.mask);
    field("attn.window", a.window, b.window);
    field("attn.stride", a.stride, b.stride);
    field("attn.n_summary", a.n_summary, b.n_summary);
    field("attn.has_sinks", a.has_sinks, b.has_sinks);
    field("attn.position", a.position, b.position);
    if (a.position == PositionKind::kRope && b.position == PositionKind::kRope) rope(a.rope, b.rope);
    field("attn.alibi_max_bias", a.alibi_max_bias, b.alibi_max_bias);
    field("attn.alibi_factor", a.alibi_factor, b.alibi_factor);
    field("attn.is_alibi_bf16", a.is_alibi_bf16, b.is_alibi_bf16);
    field("attn.has_bias_table", a.has_bias_table, b.has_bias_table);
    field("attn.q_lora_rank", a.q_lora_rank, b.q_lora_rank);
    field("attn.kv_lora_rank", a.kv_lora_rank, b.kv_lora_rank);
    field("attn.d_head_nope", a.d_head_nope, b.d_head_nope);
    field("attn.d_head_rope", a.d_head_rope, b.d_head_rope);
  }

  void block(const BlockSpec& a, const BlockSpec& b) {
    norm("norm", a.norm, b.norm);
    field("norm_place", a.norm_place, b.norm_place);
    field("residual", a.residual, b.residual);
    field("residual_from_norm", a.residual_from_norm, b.residual_from_norm);
    field("residual_scale", a.residual_scale, b.residual_scale);
    field("has_cross_attention", a.has_cross_attention, b.has_cross_attention);
    attention(a.attn, b.attn);
    field("ffn.d_ff", a.ffn.d_ff, b.ffn.d_ff);
    field("ffn.is_gated", a.ffn.is_gated, b.ffn.is_gated);
    field("ffn.activation", a.ffn.activation, b.ffn.activation);
    field("ffn.clamp", a.ffn.clamp, b.ffn.clamp);
    field("ffn.gate_slope", a.ffn.gate_slope, b.ffn.gate_slope);
    field("ffn.has_in_bias", a.ffn.has_in_bias, b.ffn.has_in_bias);
    field("ffn.has_out_bias", a.ffn.has_out_bias, b.ffn.has_out_bias);
    field("ffn.moe", a.ffn.moe, b.ffn.moe);
  }

  void stack(const std::vector<BlockSpec>& a, const std::vector<BlockSpec>& b) {
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) block(a[i], b[i]);
  }

  void model(const ModelConfig& a, const ModelConfig& b) {
    field("kind", a.kind, b.kind);
    field("d_model", a.d_model, b.d_model);
    field("d_embed", a.d_embed, b.d_embed);
    field("vocab_size", a.vocab_size, b.vocab_size);
    field("embed_scale", a.embed_scale, b.embed_scale);
    norm("embed_norm", a.embed_norm, b.embed_norm);
    field("position", a.position, b.position);
    field("is_sinusoid_adjacent", a.is_sinusoid_adjacent, b.is_sinusoid_adjacent);
    field("position_offset", a.position_offset, b.position_offset);
    field("n_position_rows", a.n_position_rows, b.n_position_rows);
    field("n_token_types", a.n_token_types, b.n_token_types);
    field("n_bias_buckets", a.n_bias_buckets, b.n_bias_buckets);
    field("bias_max_distance", a.bias_max_distance, b.bias_max_distance);
    field("has_pooler", a.has_pooler, b.has_pooler);
    field("n_layer", a.n_layer(), b.n_layer());
    stack(a.blocks, b.blocks);
    field("encoder.n_layer", a.encoder_blocks.size(), b.encoder_blocks.size());
    stack(a.encoder_blocks, b.encoder_blocks);
    field("head", a.head, b.head);
    field("has_head_transform", a.has_head_transform, b.has_head_transform);
    field("n_class", a.n_class, b.n_class);
    norm("final_norm", a.final_norm, b.final_norm);
    field("is_head_tied", a.is_head_tied, b.is_head_tied);
    field("has_head_bias", a.has_head_bias, b.has_head_bias);
    field("logit_scale", a.logit_scale, b.logit_scale);
    field("logit_softcap", a.logit_softcap, b.logit_softcap);
  }

  std::vector<std::string> take() { return std::move(names_); }

 private:
  void add(std::string_view name) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.emplace_back(name);
  }

  std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> config_differences(const ModelConfig& a, const ModelConfig& b) {
  Differences differences;
  differences.model(a, b);
  return differences.take();
}

}  // namespace vitro
