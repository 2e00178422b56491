#include "model/arch/decoder.h"

#include <cmath>

namespace vitro {

AttentionSpec plain_attention(const DecoderSizes& sizes) {
  AttentionSpec attn;
  attn.n_head = sizes.n_head;
  attn.n_kv_head = sizes.n_kv_head;
  attn.d_head = attn.d_head_v = sizes.d_head;
  attn.scale = 1.0 / std::sqrt(static_cast<double>(sizes.d_head));
  attn.position = PositionKind::kNone;
  return attn;
}

AttentionSpec rope_attention(const DecoderSizes& sizes, const RopeSpec& rope) {
  AttentionSpec attn = plain_attention(sizes);
  set_rope(rope, &attn);
  return attn;
}

BlockSpec rms_block(const DecoderSizes& sizes, const RopeSpec& rope, double eps) {
  BlockSpec block;
  block.norm = {.kind = NormKind::kRms, .eps = eps};
  block.attn = rope_attention(sizes, rope);
  block.ffn = {.d_ff = sizes.d_ff};
  return block;
}

NormSpec layer_norm(double eps) { return {.kind = NormKind::kLayerNorm, .eps = eps, .has_bias = true}; }

BlockSpec layer_norm_block(const DecoderSizes& sizes, double eps, ActivationKind activation) {
  BlockSpec block;
  block.norm = layer_norm(eps);
  block.attn = plain_attention(sizes);
  block.ffn = {.d_ff = sizes.d_ff, .is_gated = false, .activation = activation};
  set_projection_biases(true, &block);
  return block;
}

void set_projection_biases(bool has_bias, BlockSpec* block) {
  set_attention_biases(has_bias, &block->attn);
  block->ffn.has_in_bias = block->ffn.has_out_bias = has_bias;
}

void set_rope(const RopeSpec& rope, AttentionSpec* attn) {
  attn->position = PositionKind::kRope;
  attn->rope = rope;
}

void set_alibi(double max_bias, AttentionSpec* attn) {
  attn->position = PositionKind::kAlibi;
  attn->alibi_max_bias = max_bias;
}

void set_learned_positions(ModelConfig* config, int64_t offset) {
  config->position = PositionKind::kLearned;
  config->position_offset = offset;
  config->n_position_rows = config->n_ctx + offset;
}

void set_attention_biases(bool has_bias, AttentionSpec* attn) {
  set_qkv_biases(has_bias, attn);
  attn->has_o_bias = has_bias;
}

void set_qkv_biases(bool has_bias, AttentionSpec* attn) {
  attn->has_q_bias = attn->has_k_bias = attn->has_v_bias = has_bias;
}

void set_window(int64_t window, AttentionSpec* attn) {
  if (window == 0) return;
  attn->mask = MaskKind::kWindow;
  attn->window = window;
}

void set_windows(const LayerWindows& windows, ModelConfig* config) {
  for (size_t i = 0; i < windows.masks.size(); ++i) {
    if (windows.masks[i] == MaskKind::kWindow) set_window(windows.window, &config->blocks[i].attn);
  }
}

Result<ModelConfig> finish_decoder(ConfigReader& reader, const UniformDecoder& decoder, ModelConfig config,
                                   const LayerWindows& windows) {
  // Only now: a file that asks for too many layers has been refused.
  VITRO_TRY(reader.finish());
  config.blocks.assign(static_cast<size_t>(decoder.sizes.n_layer), decoder.block);
  config.final_norm = decoder.block.norm;
  set_windows(windows, &config);
  config.values = reader.take_values();
  return config;
}

std::vector<MaskKind> periodic_masks(int64_t n_layer, int64_t period) {
  std::vector<MaskKind> masks;
  for (int64_t i = 0; i < n_layer; ++i) masks.push_back((i + 1) % period == 0 ? MaskKind::kCausal : MaskKind::kWindow);
  return masks;
}

}  // namespace vitro
