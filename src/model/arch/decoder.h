// What the blocks of most decoders have in common, so that a family file says only what is its own.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "model/arch/config_reader.h"
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

/// The block that Llama's descendants start from: RMS norms before each half, rotary positions, gated SiLU, no biases.
BlockSpec rms_block(const DecoderSizes& sizes, const RopeSpec& rope, double eps);
/// LayerNorm with gain and bias.
NormSpec layer_norm(double eps);
/// The block that GPT-2's descendants start from: LayerNorms before each half, no positions in attention, two matrices
/// with an activation between them, biases everywhere.
BlockSpec layer_norm_block(const DecoderSizes& sizes, double eps, ActivationKind activation);
/// The biases of every projection of a block at once; those of norms are not touched.
void set_projection_biases(bool has_bias, BlockSpec* block);

/// A model of equal blocks, before its family changes what is its own.
struct UniformDecoder {
  DecoderSizes sizes;
  BlockSpec block;
};

/// Rotary positions, or ALiBi with slopes down to 2^-max_bias, in attention that has none yet.
void set_rope(const RopeSpec& rope, AttentionSpec* attn);
void set_alibi(double max_bias, AttentionSpec* attn);
inline constexpr double kAlibiMaxBias = 8.0;  ///< of the paper (Press et al. 2021, arXiv 2108.12409)
/// A learned vector for each position of the context; the table begins with `offset` rows of no position.
void set_learned_positions(ModelConfig* config, int64_t offset = 0);

/// All four biases of the projections at once.
void set_attention_biases(bool has_bias, AttentionSpec* attn);
/// Those of q, k and v; the output projection has none.
void set_qkv_biases(bool has_bias, AttentionSpec* attn);
/// Attention to the last `window` positions; 0 leaves the mask as it is.
void set_window(int64_t window, AttentionSpec* attn);

/// Which layers see a window, and how far it reaches (0: no layer has one).
struct LayerWindows {
  std::vector<MaskKind> masks = {};  ///< [n_layer], kWindow or kCausal
  int64_t window = 0;
};
/// Sets the windows of blocks that are there.
void set_windows(const LayerWindows& windows, ModelConfig* config);
/// What a reading comes to: its problems, or the description with its blocks, windows, a final norm like theirs, and
/// values.
Result<ModelConfig> finish_decoder(ConfigReader& reader, const UniformDecoder& decoder, ModelConfig config,
                                   const LayerWindows& windows = {});
/// Layers period - 1, 2 period - 1, ... see all, the others a window.
std::vector<MaskKind> periodic_masks(int64_t n_layer, int64_t period);

}  // namespace vitro
