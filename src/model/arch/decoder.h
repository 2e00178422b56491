// What the blocks of most decoders have in common, so that a family file says only what is its own.
#pragma once

#include "model/config.h"

namespace vitro {

/// What most families set alike in every layer.
struct DecoderSizes {
  int64_t n_layer = 1;
  int64_t n_head = 1;
  int64_t n_kv_head = 1;
  int64_t d_head = 1;
  int64_t d_ff = 1;
};

/// Causal attention with these heads, score scale d_head^-1/2, no biases, and no positions of its own.
AttentionSpec plain_attention(const DecoderSizes& sizes);
/// The same with rotary positions.
AttentionSpec rope_attention(const DecoderSizes& sizes, const RopeSpec& rope);

/// All four biases of the projections at once.
void set_attention_biases(bool has_bias, AttentionSpec* attn);
/// Attention to the last `window` positions; 0 leaves the mask as it is.
void set_window(int64_t window, AttentionSpec* attn);

/// n_layer equal blocks, and a final norm like theirs.
void set_blocks(int64_t n_layer, const BlockSpec& block, ModelConfig* config);

}  // namespace vitro
