#include <fmt/core.h>

#include "model/arch/layer_slots.h"

namespace vitro {
namespace {

RowMap block_rows(const AttentionSpec& attn, int64_t which) {
  const int64_t first_head = which == 0 ? 0 : attn.n_head + (which - 1) * attn.n_kv_head;
  return {.kind = RowMap::Kind::kRange, .first = first_head * attn.d_head};
}

/// The query rows of a group lie together, so a group is one long "head".
RowMap grouped_rows(const AttentionSpec& attn, int64_t which) {
  const int64_t d = attn.d_head, n_group = attn.group_size();
  const int64_t first_head = which == 0 ? 0 : n_group + which - 1;
  return {.kind = RowMap::Kind::kPerHead,
          .first = first_head * d,
          .d = which == 0 ? n_group * d : d,
          .stride = (n_group + 2) * d};
}

/// q, k or v (which = 0, 1, 2) with its own tensor or out of the fused one.
void add_projection(SlotBuilder& builder, int64_t which, Shape shape, bool has_bias, const AttentionSpec& attn) {
  const ModuleNames& names = builder.names();
  const char letter = "qkv"[which];
  const std::string_view module = which == 0 ? names.q : which == 1 ? names.k : names.v;
  const std::string w = fmt::format("attn.w_{}", letter);
  const std::string b = has_bias ? fmt::format("attn.b_{}", letter) : "";
  if (!module.empty()) {
    const bool is_permuted = names.is_rope_adjacent && which < 2;
    const RowMap map = is_permuted ? RowMap{.kind = RowMap::Kind::kRopeUnpermute, .d = attn.d_head} : RowMap{};
    return builder.add_linear(w, b, module, shape, shape[0], map);
  }
  const int64_t file_rows = (attn.n_head + 2 * attn.n_kv_head) * attn.d_head;
  const bool is_grouped = names.qkv_layout == QkvLayout::kGrouped;
  builder.add_linear(w, b, names.qkv, shape, file_rows,
                     is_grouped ? grouped_rows(attn, which) : block_rows(attn, which));
}

/// Row h of a file tensor [n_head, d_head].
void add_head_rows(SlotBuilder& builder, std::string_view ours, std::string_view module, std::string_view suffix,
                   Shape file_shape, int64_t h) {
  const int64_t d_head = file_shape[1];
  builder.add(ours, module, suffix, {d_head},
              {.shape = file_shape, .rows = {.kind = RowMap::Kind::kRange, .first = h * d_head}});
}

void add_own_norms(SlotBuilder& builder, std::string_view ours, std::string_view module, const AttentionSpec& attn,
                   int64_t n_head) {
  for (int64_t h = 0; h < n_head; ++h) {
    const std::string name = fmt::format("{}.{}", ours, h);
    if (builder.names().is_head_norm_apart) {
      builder.add_norm(name, fmt::format("{}.{}", module, h), attn.qk_norm_spec, attn.d_head);
      continue;
    }
    add_head_rows(builder, name + ".gain", module, ".weight", {n_head, attn.d_head}, h);
    if (attn.qk_norm_spec.has_bias) add_head_rows(builder, name + ".bias", module, ".bias", {n_head, attn.d_head}, h);
  }
}

void add_qk_norm(SlotBuilder& builder, std::string_view ours, std::string_view module, const AttentionSpec& attn,
                 int64_t n_head) {
  if (attn.qk_norm == QkNorm::kPerHeadShared) builder.add_norm(ours, module, attn.qk_norm_spec, attn.d_head);
  if (attn.qk_norm == QkNorm::kWholeProjection) builder.add_norm(ours, module, attn.qk_norm_spec, n_head * attn.d_head);
  if (attn.qk_norm == QkNorm::kPerHeadOwn) add_own_norms(builder, ours, module, attn, n_head);
}

/// Queries, and what keys and values come out of.
void add_latent(SlotBuilder& builder, const ModelConfig& config, const AttentionSpec& attn) {
  const ModuleNames& names = builder.names();
  const int64_t d_q = attn.n_head * attn.d_head, d_kv = attn.n_head * (attn.d_head_nope + attn.d_head_v);
  if (attn.q_lora_rank > 0) {
    builder.add_linear("attn.w_q_a", "", names.q_a, {attn.q_lora_rank, config.d_model});
    builder.add_norm("attn.q_a_norm", names.q_a_norm, attn.qk_norm_spec, attn.q_lora_rank);
    builder.add_linear("attn.w_q_b", "", names.q_b, {d_q, attn.q_lora_rank});
  } else {
    builder.add_linear("attn.w_q", "", names.q, {d_q, config.d_model});
  }
  builder.add_linear("attn.w_kv_a", "", names.kv_a, {attn.kv_lora_rank + attn.d_head_rope, config.d_model});
  builder.add_norm("attn.kv_a_norm", names.kv_a_norm, attn.qk_norm_spec, attn.kv_lora_rank);
  builder.add_linear("attn.w_kv_b", "", names.kv_b, {d_kv, attn.kv_lora_rank});
}

void add_heads(SlotBuilder& builder, const ModelConfig& config, const AttentionSpec& attn) {
  const ModuleNames& names = builder.names();
  const int64_t d_q = attn.n_head * attn.d_head;
  const int64_t d_k = attn.n_kv_head * attn.d_head;
  const int64_t d_v = attn.n_kv_head * attn.d_head_v;
  add_projection(builder, 0, {d_q, config.d_model}, attn.has_q_bias, attn);
  add_projection(builder, 1, {d_k, config.d_model}, attn.has_k_bias, attn);
  add_projection(builder, 2, {d_v, config.d_model}, attn.has_v_bias, attn);
  add_qk_norm(builder, "attn.q_norm", names.q_norm, attn, attn.n_head);
  add_qk_norm(builder, "attn.k_norm", names.k_norm, attn, attn.n_kv_head);
}

}  // namespace

void add_attention_slots(SlotBuilder& builder, const ModelConfig& config, const AttentionSpec& attn) {
  const ModuleNames& names = builder.names();
  if (attn.kv_lora_rank > 0) {
    add_latent(builder, config, attn);
  } else {
    add_heads(builder, config, attn);
  }
  if (attn.has_sinks) builder.add_vector("attn.sinks", names.sinks, "", attn.n_head);
  if (attn.has_bias_table) {
    builder.add_plain("attn.rel_bias.w", names.rel_bias, {config.n_bias_buckets, attn.n_head});
  }
  builder.add_linear("attn.w_o", attn.has_o_bias ? "attn.b_o" : "", names.o,
                     {config.d_model, attn.n_head * attn.d_head_v});
}

void add_cross_attention_slots(SlotBuilder& builder, const ModelConfig& config, const AttentionSpec& attn) {
  const ModuleNames& names = builder.names();
  const int64_t d = config.d_model;
  builder.add_linear("cross.w_q", attn.has_q_bias ? "cross.b_q" : "", names.cross_q, {attn.n_head * attn.d_head, d});
  builder.add_linear("cross.w_k", attn.has_k_bias ? "cross.b_k" : "", names.cross_k, {attn.n_kv_head * attn.d_head, d});
  builder.add_linear("cross.w_v", attn.has_v_bias ? "cross.b_v" : "", names.cross_v,
                     {attn.n_kv_head * attn.d_head_v, d});
  builder.add_linear("cross.w_o", attn.has_o_bias ? "cross.b_o" : "", names.cross_o, {d, attn.n_head * attn.d_head_v});
}

}  // namespace vitro
