#include <fmt/core.h>

#include "model/arch/layer_slots.h"

namespace vitro {
namespace {

/// Which of the three matrices of every expert.
enum class ExpertPart : uint8_t { kGate, kUp, kDown };

std::string_view own_module(const ExpertNames& names, ExpertPart part) {
  return part == ExpertPart::kGate ? names.gate : part == ExpertPart::kUp ? names.up : names.down;
}

/// Rows of gate or up in a tensor that holds both.
RowMap half_rows(const ExpertNames& names, ExpertPart part, int64_t d_ff) {
  const int64_t which = part == ExpertPart::kUp ? 1 : 0;
  if (!names.is_interleaved) return {.kind = RowMap::Kind::kRange, .first = which * d_ff};
  return {.kind = RowMap::Kind::kPerHead, .first = which, .d = 1, .stride = 2};
}

/// One layout of the experts' matrices: where it has this one, and how.
TensorSource expert_source(const ExpertNames& names, ExpertPart part, Shape shape, bool is_fused) {
  const int64_t n_expert = shape[0], n_rows = shape[1], width = shape[2];
  TensorSource source{.is_transposed = names.is_transposed, .is_one_by_one = names.is_one_by_one};
  if (is_fused) source.rows = half_rows(names, part, n_rows);
  const int64_t file_rows = is_fused ? 2 * n_rows : n_rows;
  source.shape = names.is_transposed ? Shape{width, file_rows} : Shape{file_rows, width};
  if (!names.is_one_by_one) source.shape = {n_expert, source.shape[0], source.shape[1]};
  return source;
}

TensorSource expert_bias_source(const ExpertNames& names, ExpertPart part, Shape shape, bool is_fused) {
  TensorSource source{.is_one_by_one = names.is_one_by_one};
  if (is_fused) source.rows = half_rows(names, part, shape[1]);
  const int64_t file_rows = is_fused ? 2 * shape[1] : shape[1];
  source.shape = names.is_one_by_one ? Shape{file_rows} : Shape{shape[0], file_rows};
  return source;
}

/// One matrix of all experts, in every layout that files have.
void add_expert_matrix(SlotBuilder& builder, std::string_view ours, ExpertPart part, Shape shape, bool is_bias) {
  bool is_first = true;
  for (const ExpertNames& names : builder.names().experts) {
    const bool is_fused = part != ExpertPart::kDown && !names.gate_up.empty();
    const std::string_view module = is_fused ? names.gate_up : own_module(names, part);
    const std::string_view suffix = is_bias ? names.bias : names.weight;
    TensorSource source =
        is_bias ? expert_bias_source(names, part, shape, is_fused) : expert_source(names, part, shape, is_fused);
    if (is_first) {
      builder.add(ours, module, suffix, shape, std::move(source));
      if (is_bias) builder.last().use = SlotUse::kVector;
    } else {
      builder.add_source(module, suffix, std::move(source));
    }
    is_first = false;
  }
}

void add_routed(SlotBuilder& builder, int64_t d_model, const FeedForwardSpec& ffn) {
  const int64_t n = ffn.moe.n_expert, d_ff = ffn.moe.d_ff_expert;
  const auto add = [&](std::string_view letter, ExpertPart part, int64_t n_rows, int64_t width) {
    add_expert_matrix(builder, fmt::format("ffn.experts.w_{}", letter), part, {n, n_rows, width}, false);
    if (!ffn.moe.has_expert_bias) return;
    add_expert_matrix(builder, fmt::format("ffn.experts.b_{}", letter), part, {n, n_rows}, true);
  };
  if (ffn.is_gated) add("gate", ExpertPart::kGate, d_ff, d_model);
  add("up", ExpertPart::kUp, d_ff, d_model);
  add("down", ExpertPart::kDown, d_model, d_ff);
}

void add_experts(SlotBuilder& builder, int64_t d, const FeedForwardSpec& ffn) {
  const ModuleNames& names = builder.names();
  const MoeSpec& moe = ffn.moe;
  builder.add_linear("ffn.router.w", moe.has_router_bias ? "ffn.router.b" : "", names.router, {moe.n_expert, d});
  if (moe.has_selection_bias) {
    builder.add_table("ffn.router.selection_bias", names.selection_bias, "", moe.n_expert);
  }
  add_routed(builder, d, ffn);
  if (moe.d_ff_shared == 0) return;
  if (ffn.is_gated) builder.add_linear("ffn.shared.w_gate", "", names.shared_gate, {moe.d_ff_shared, d});
  builder.add_linear("ffn.shared.w_up", "", names.shared_up, {moe.d_ff_shared, d});
  builder.add_linear("ffn.shared.w_down", "", names.shared_down, {d, moe.d_ff_shared});
  if (moe.has_shared_gate) builder.add_linear("ffn.shared_gate.w", "", names.shared_switch, {1, d});
}

void add_dense(SlotBuilder& builder, int64_t d_model, const FeedForwardSpec& ffn) {
  const ModuleNames& names = builder.names();
  const Shape in_shape = {ffn.d_ff, d_model};
  const bool is_fused = !names.gate_up.empty();
  const std::string_view gate = is_fused ? names.gate_up : names.gate;
  const std::string_view up = is_fused ? names.gate_up : names.up;
  const int64_t file_rows = is_fused ? 2 * ffn.d_ff : ffn.d_ff;
  const auto half = [&](int64_t which) {
    return is_fused ? RowMap{.kind = RowMap::Kind::kRange, .first = which * ffn.d_ff} : RowMap{};
  };
  if (ffn.is_gated) {
    builder.add_linear("ffn.w_gate", ffn.has_in_bias ? "ffn.b_gate" : "", gate, in_shape, file_rows, half(0));
  }
  builder.add_linear("ffn.w_up", ffn.has_in_bias ? "ffn.b_up" : "", up, in_shape, file_rows, half(1));
  builder.add_linear("ffn.w_down", ffn.has_out_bias ? "ffn.b_down" : "", names.down, {d_model, ffn.d_ff});
}

}  // namespace

void add_feed_forward_slots(SlotBuilder& builder, const ModelConfig& config, const FeedForwardSpec& ffn) {
  if (ffn.moe.n_expert > 0) return add_experts(builder, config.d_model, ffn);
  add_dense(builder, config.d_model, ffn);
}

void add_block_slots(SlotBuilder& builder, const ModelConfig& config, const BlockSpec& block) {
  const ModuleNames& names = builder.names();
  const bool has_main_norms = block.norm_place != NormPlace::kOutOnly;
  const bool has_out_norms = block.norm_place == NormPlace::kSandwich || block.norm_place == NormPlace::kOutOnly;
  const auto add_norm = [&](std::string_view ours, std::string_view module) {
    builder.add_norm(ours, module, block.norm, config.d_model);
  };
  if (has_main_norms) add_norm("attn_norm", names.attn_norm);
  add_attention_slots(builder, config, block.attn);
  if (has_out_norms) add_norm("attn_post_norm", names.attn_post_norm);
  if (block.has_cross_attention) {
    add_norm("cross_norm", names.cross_norm);
    add_cross_attention_slots(builder, config, block.attn);
  }
  if (has_main_norms && block.residual != Residual::kParallelSharedNorm) add_norm("ffn_norm", names.ffn_norm);
  add_feed_forward_slots(builder, config, block.ffn);
  if (has_out_norms) add_norm("ffn_post_norm", names.ffn_post_norm);
}

}  // namespace vitro
