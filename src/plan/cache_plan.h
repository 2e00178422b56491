// The key-value cache by kind of layer: what a token costs, what sequences of a length cost, by formula. For models
// that the engine runs the bytes are those of plan_session.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/cache_type.h"
#include "model/config.h"
#include "plan/item.h"

namespace vitro {

struct CachePolicy {
  CacheType type = CacheType::kF16;
  int64_t page_size = 16;           ///< 1: no rounding
  bool keeps_only_windows = false;  ///< layers with a window keep that and a pass, not the whole context
  int64_t n_batch = 256;            ///< rows of a pass, which a window must take in addition
  bool is_latent_expanded = false;  ///< MLA: K and V of every head instead of the latent vector
};

/// Bytes of one position in a layer with such attention.
int64_t layer_cache_bytes_per_token(const AttentionSpec& attn, CacheType type, bool is_latent_expanded = false);
/// Bytes of one position in all layers, no pages, no windows: "a token costs".
int64_t cache_bytes_per_token(const ModelConfig& config, CacheType type, bool is_latent_expanded = false);

/// Of n_sequences with n_ctx positions each: a part for each kind of layers that keep the same (full, window W, latent,
/// cross attention over n_source positions). Saturating.
PlanItem cache_item(const ModelConfig& config, const CachePolicy& policy, int64_t n_ctx, int64_t n_sequences,
                    int64_t n_source = 0);

}  // namespace vitro
