#include "model/arch/slots.h"

#include <fmt/core.h>

namespace vitro {
namespace {

constexpr std::string_view kNoRoot[] = {""};

/// Builds the slots of one model; `prefix_` is "" or that of the current block, ours and foreign.
class SlotWalk {
 public:
  SlotWalk(const ModelConfig& config, const ModuleNames& names) : config_(config), names_(names) {}

  std::vector<TensorSlot> walk() {
    add_embedding();
    for (size_t i = 0; i < config_.blocks.size(); ++i) {
      ours_ = fmt::format("blocks.{}.", i);
      theirs_ = fmt::format("{}{}.", names_.block, i);
      add_block(config_.blocks[i]);
    }
    ours_.clear();
    theirs_.clear();
    add_norm("final_norm", names_.final_norm, config_.final_norm, config_.d_model);
    add_head();
    return std::move(slots_);
  }

 private:
  void add(std::string_view ours, std::string_view module, std::string_view suffix, Shape shape, TensorSource source) {
    TensorSlot slot;
    slot.name = ours_ + std::string(ours);
    slot.shape = shape;
    slot.use = shape.rank() == 2 ? SlotUse::kMatrix : SlotUse::kVector;
    for (const std::string_view root : names_.roots) {
      slot.sources.push_back(source);
      slot.sources.back().name = fmt::format("{}{}{}{}", root, theirs_, module, suffix);
    }
    slots_.push_back(std::move(slot));
  }

  /// A matrix outside the blocks, as the file has it.
  void add_plain(std::string_view ours, std::string_view module, Shape shape) {
    add(ours, module, ".weight", shape, {.shape = shape});
  }

  void add_vector(std::string_view ours, std::string_view module, std::string_view suffix, int64_t n,
                  double fold = 0.0) {
    add(ours, module, suffix, {n}, {.shape = {n}, .add = fold});
  }

  void add_norm(std::string_view ours, std::string_view module, const NormSpec& norm, int64_t width) {
    if (norm.kind == NormKind::kNone) return;
    if (norm.has_gain) add_vector(fmt::format("{}.gain", ours), module, ".weight", width, names_.norm_add);
    if (norm.has_bias) add_vector(fmt::format("{}.bias", ours), module, ".bias", width);
  }

  /// A matrix of a block and its bias: rows `map` of a file tensor that has `file_rows` rows.
  void add_linear(std::string_view w, std::string_view b, std::string_view module, Shape shape, int64_t file_rows,
                  RowMap map) {
    const int64_t width = shape[1];
    const Shape file_shape = names_.is_transposed ? Shape{width, file_rows} : Shape{file_rows, width};
    add(w, module, ".weight", shape, {.shape = file_shape, .rows = map, .is_transposed = names_.is_transposed});
    if (!b.empty()) add(b, module, ".bias", {shape[0]}, {.shape = {file_rows}, .rows = map});
  }

  void add_linear(std::string_view w, std::string_view b, std::string_view module, Shape shape) {
    add_linear(w, b, module, shape, shape[0], {});
  }

  void add_embedding() {
    add_plain("embed.w", names_.embed, {config_.vocab_size, config_.embed_width()});
    if (config_.d_embed > 0) add_plain("embed_in.w", names_.embed_in, {config_.d_model, config_.d_embed});
    if (config_.position == PositionKind::kLearned) {
      add_plain("pos_embed.w", names_.pos_embed, {config_.n_position_rows, config_.d_model});
    }
    add_norm("embed_norm", names_.embed_norm, config_.embed_norm, config_.d_model);
    add_rope_factors();
  }

  void add_rope_factors() {
    for (const BlockSpec& block : config_.blocks) {
      if (block.attn.position != PositionKind::kRope) continue;
      const RopeSpec& rope = block.attn.rope;
      if (rope.scaling == RopeScaling::kFactors) {
        add_vector("rope_factors", names_.rope_factors, ".weight", rope.d_rot / 2);
        slots_.back().is_optional = true;
        return;
      }
      if (rope.scaling == RopeScaling::kLongRope && rope.short_factors.empty()) {
        add_vector("rope_factors_short", names_.rope_factors_short, ".weight", rope.d_rot / 2);
        add_vector("rope_factors_long", names_.rope_factors_long, ".weight", rope.d_rot / 2);
        return;
      }
    }
  }

  void add_block(const BlockSpec& block) {
    const bool has_main_norms = block.norm_place != NormPlace::kOutOnly;
    const bool has_out_norms = block.norm_place == NormPlace::kSandwich || block.norm_place == NormPlace::kOutOnly;
    if (has_main_norms) add_norm("attn_norm", names_.attn_norm, block.norm, config_.d_model);
    add_attention(block.attn);
    if (has_out_norms) add_norm("attn_post_norm", names_.attn_post_norm, block.norm, config_.d_model);
    if (has_main_norms && block.residual != Residual::kParallelSharedNorm) {
      add_norm("ffn_norm", names_.ffn_norm, block.norm, config_.d_model);
    }
    add_feed_forward(block.ffn);
    if (has_out_norms) add_norm("ffn_post_norm", names_.ffn_post_norm, block.norm, config_.d_model);
  }

  void add_attention(const AttentionSpec& attn) {
    const int64_t d_q = attn.n_head * attn.d_head;
    const int64_t d_k = attn.n_kv_head * attn.d_head;
    const int64_t d_v = attn.n_kv_head * attn.d_head_v;
    add_projection("q", names_.q, {d_q, config_.d_model}, attn.has_q_bias, attn, 0);
    add_projection("k", names_.k, {d_k, config_.d_model}, attn.has_k_bias, attn, 1);
    add_projection("v", names_.v, {d_v, config_.d_model}, attn.has_v_bias, attn, 2);
    add_qk_norm("attn.q_norm", names_.q_norm, attn, attn.n_head);
    add_qk_norm("attn.k_norm", names_.k_norm, attn, attn.n_kv_head);
    const int64_t d_z = attn.n_head * attn.d_head_v;
    add_linear("attn.w_o", attn.has_o_bias ? "attn.b_o" : "", names_.o, {config_.d_model, d_z});
  }

  void add_qk_norm(std::string_view ours, std::string_view module, const AttentionSpec& attn, int64_t n_head) {
    if (attn.qk_norm == QkNorm::kPerHeadShared) add_norm(ours, module, attn.qk_norm_spec, attn.d_head);
    if (attn.qk_norm == QkNorm::kWholeProjection) add_norm(ours, module, attn.qk_norm_spec, n_head * attn.d_head);
    if (attn.qk_norm != QkNorm::kPerHeadOwn) return;
    for (int64_t h = 0; h < n_head; ++h) {
      const std::string name = fmt::format("{}.{}", ours, h);
      if (names_.is_head_norm_apart) {
        add_norm(name, fmt::format("{}.{}", module, h), attn.qk_norm_spec, attn.d_head);
      } else {
        add_head_rows(name + ".gain", module, ".weight", attn.d_head, n_head, h);
        if (attn.qk_norm_spec.has_bias) add_head_rows(name + ".bias", module, ".bias", attn.d_head, n_head, h);
      }
    }
  }

  /// Row h of a file tensor [n_head, d_head].
  void add_head_rows(std::string_view ours, std::string_view module, std::string_view suffix, int64_t d_head,
                     int64_t n_head, int64_t h) {
    add(ours, module, suffix, {d_head},
        {.shape = {n_head, d_head}, .rows = {.kind = RowMap::Kind::kRange, .first = h * d_head}});
  }

  /// q, k or v (which = 0, 1, 2) with its own tensor or out of the fused one.
  void add_projection(std::string_view letter, std::string_view module, Shape shape, bool has_bias,
                      const AttentionSpec& attn, int64_t which) {
    const std::string w = fmt::format("attn.w_{}", letter);
    const std::string b = has_bias ? fmt::format("attn.b_{}", letter) : "";
    const int64_t d = attn.d_head;
    if (!module.empty()) {
      const bool is_permuted = names_.is_rope_adjacent && which < 2;
      add_linear(w, b, module, shape, shape[0],
                 is_permuted ? RowMap{.kind = RowMap::Kind::kRopeUnpermute, .d = d} : RowMap{});
      return;
    }
    const int64_t file_rows = (attn.n_head + 2 * attn.n_kv_head) * d;
    const bool is_grouped = names_.qkv_layout == QkvLayout::kGrouped;
    add_linear(w, b, names_.qkv, shape, file_rows, is_grouped ? grouped_rows(attn, which) : block_rows(attn, which));
  }

  static RowMap block_rows(const AttentionSpec& attn, int64_t which) {
    const int64_t first_head = which == 0 ? 0 : attn.n_head + (which - 1) * attn.n_kv_head;
    return {.kind = RowMap::Kind::kRange, .first = first_head * attn.d_head};
  }

  /// The query rows of a group lie together, so a group is one long "head".
  static RowMap grouped_rows(const AttentionSpec& attn, int64_t which) {
    const int64_t d = attn.d_head, n_group = attn.group_size();
    const int64_t first_head = which == 0 ? 0 : n_group + which - 1;
    return {.kind = RowMap::Kind::kPerHead,
            .first = first_head * d,
            .d = which == 0 ? n_group * d : d,
            .stride = (n_group + 2) * d};
  }

  void add_feed_forward(const FeedForwardSpec& ffn) {
    const Shape in_shape = {ffn.d_ff, config_.d_model};
    const bool is_fused = !names_.gate_up.empty();
    const std::string_view gate = is_fused ? names_.gate_up : names_.gate;
    const std::string_view up = is_fused ? names_.gate_up : names_.up;
    const int64_t file_rows = is_fused ? 2 * ffn.d_ff : ffn.d_ff;
    const auto half = [&](int64_t which) {
      return is_fused ? RowMap{.kind = RowMap::Kind::kRange, .first = which * ffn.d_ff} : RowMap{};
    };
    if (ffn.is_gated) add_linear("ffn.w_gate", ffn.has_in_bias ? "ffn.b_gate" : "", gate, in_shape, file_rows, half(0));
    add_linear("ffn.w_up", ffn.has_in_bias ? "ffn.b_up" : "", up, in_shape, file_rows, half(1));
    add_linear("ffn.w_down", ffn.has_out_bias ? "ffn.b_down" : "", names_.down, {config_.d_model, ffn.d_ff});
  }

  void add_head() {
    if (config_.d_embed > 0) add_plain("embed_out.w", names_.embed_out, {config_.d_embed, config_.d_model});
    const std::string_view module = names_.unembed;
    const Shape w = {config_.vocab_size, config_.embed_width()};
    const Shape b = {config_.vocab_size};
    if (!config_.is_head_tied) add_one("unembed.w", fmt::format("{}.weight", module), w, SlotUse::kMatrix);
    if (config_.has_head_bias) add_one("unembed.b", fmt::format("{}.bias", module), b, SlotUse::kVector);
  }

  void add_one(std::string_view ours, std::string theirs, Shape shape, SlotUse use) {
    slots_.push_back({std::string(ours), shape, use, {{.name = std::move(theirs), .shape = shape}}});
  }

  const ModelConfig& config_;
  const ModuleNames& names_;
  std::string ours_, theirs_;
  std::vector<TensorSlot> slots_;
};

}  // namespace

ModuleNames hf_names(std::span<const std::string_view> roots) {
  return {.roots = roots,
          .block = "layers.",
          .embed = "embed_tokens",
          .final_norm = "norm",
          .unembed = "lm_head",
          .attn_norm = "input_layernorm",
          .q = "self_attn.q_proj",
          .k = "self_attn.k_proj",
          .v = "self_attn.v_proj",
          .o = "self_attn.o_proj",
          .q_norm = "self_attn.q_norm",
          .k_norm = "self_attn.k_norm",
          .ffn_norm = "post_attention_layernorm",
          .gate = "mlp.gate_proj",
          .up = "mlp.up_proj",
          .down = "mlp.down_proj"};
}

ModuleNames hf_gpt_names(std::span<const std::string_view> roots) {
  return {.roots = roots,
          .block = "h.",
          .embed = "wte",
          .pos_embed = "wpe",
          .final_norm = "ln_f",
          .unembed = "lm_head",
          .attn_norm = "ln_1",
          .ffn_norm = "ln_2",
          .up = "mlp.c_fc",
          .down = "mlp.c_proj"};
}

ModuleNames hf_megatron_names(std::span<const std::string_view> roots) {
  return {.roots = roots,
          .block = "h.",
          .embed = "word_embeddings",
          .embed_norm = "word_embeddings_layernorm",
          .final_norm = "ln_f",
          .unembed = "lm_head",
          .attn_norm = "input_layernorm",
          .o = "self_attention.dense",
          .ffn_norm = "post_attention_layernorm",
          .up = "mlp.dense_h_to_4h",
          .down = "mlp.dense_4h_to_h",
          .qkv = "self_attention.query_key_value",
          .qkv_layout = QkvLayout::kGrouped};
}

ModuleNames gguf_names() {
  return {.roots = kNoRoot,
          .block = "blk.",
          .embed = "token_embd",
          .pos_embed = "position_embd",
          .embed_norm = "token_embd_norm",
          .final_norm = "output_norm",
          .unembed = "output",
          .attn_norm = "attn_norm",
          .q = "attn_q",
          .k = "attn_k",
          .v = "attn_v",
          .o = "attn_output",
          .q_norm = "attn_q_norm",
          .k_norm = "attn_k_norm",
          .attn_post_norm = "post_attention_norm",
          .ffn_norm = "ffn_norm",
          .gate = "ffn_gate",
          .up = "ffn_up",
          .down = "ffn_down",
          .ffn_post_norm = "post_ffw_norm",
          .rope_factors = "rope_freqs",
          .rope_factors_short = "rope_factors_short",
          .rope_factors_long = "rope_factors_long"};
}

ModuleNames gguf_permuted_names() {
  ModuleNames names = gguf_names();
  names.is_rope_adjacent = true;
  return names;
}

ModuleNames gguf_fused_names() {
  ModuleNames names = gguf_names();
  names.q = names.k = names.v = "";
  names.qkv = "attn_qkv";
  return names;
}

std::vector<TensorSlot> decoder_slots(const ModelConfig& config, const ModuleNames& names) {
  return SlotWalk(config, names).walk();
}

std::vector<TensorSlot> decoder_slots(const ModelConfig& config, const ModuleNames& names, const ModuleNames& others) {
  std::vector<TensorSlot> slots = decoder_slots(config, names);
  std::vector<TensorSlot> more = decoder_slots(config, others);
  for (size_t i = 0; i < slots.size(); ++i) {
    for (TensorSource& source : more[i].sources) slots[i].sources.push_back(std::move(source));
  }
  return slots;
}

}  // namespace vitro
