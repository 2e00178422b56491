#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kNoRoot[] = {""};

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
          .down = "mlp.down_proj",
          .experts = kHfExperts,
          .router = "mlp.gate",
          .selection_bias = "mlp.gate.e_score_correction_bias",
          .shared_gate = "mlp.shared_experts.gate_proj",
          .shared_up = "mlp.shared_experts.up_proj",
          .shared_down = "mlp.shared_experts.down_proj"};
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
          .experts = kGgufExperts,
          .router = "ffn_gate_inp",
          .selection_bias = "exp_probs_b.bias",
          .shared_gate = "ffn_gate_shexp",
          .shared_up = "ffn_up_shexp",
          .shared_down = "ffn_down_shexp",
          .shared_switch = "ffn_gate_inp_shexp",
          .sinks = "attn_sinks.weight",
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

}  // namespace vitro
