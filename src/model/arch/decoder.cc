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
  attn.position = PositionKind::kRope;
  attn.rope = rope;
  return attn;
}

void set_attention_biases(bool has_bias, AttentionSpec* attn) {
  attn->has_q_bias = attn->has_k_bias = attn->has_v_bias = attn->has_o_bias = has_bias;
}

void set_window(int64_t window, AttentionSpec* attn) {
  if (window == 0) return;
  attn->mask = MaskKind::kWindow;
  attn->window = window;
}

void set_blocks(int64_t n_layer, const BlockSpec& block, ModelConfig* config) {
  config->blocks.assign(static_cast<size_t>(n_layer), block);
  config->final_norm = block.norm;
}

}  // namespace vitro
