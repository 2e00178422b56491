// How the work of a whole text grows with its length: the feed-forward part in step with it, scores with its square.
// From which length on does attention cost more?
#pragma once

#include <cstdint>
#include <optional>

#include "model/config.h"
#include "plan/weights_plan.h"

namespace vitro {

/// FLOPs of all layers over a text of n positions in one pass (of an encoder-decoder: over a source as long, too).
struct TextFlops {
  int64_t projections = 0;  ///< q, k, v and the output
  int64_t all_pairs = 0;    ///< scores and weighted sums of all n x n pairs
  int64_t masked = 0;       ///< of those that the mask lets through
  int64_t feed_forward = 0;
};
TextFlops text_flops(const ModelConfig& config, const WeightsPlan& weights, int64_t n);

/// The shortest texts whose attention costs as much as the feed-forward part; nothing: none up to 2^24 positions.
struct AttentionCrossovers {
  std::optional<int64_t> all_pairs, masked;                                    ///< scores alone
  std::optional<int64_t> all_pairs_with_projections, masked_with_projections;  ///< the whole of attention
};
AttentionCrossovers attention_crossovers(const ModelConfig& config, const WeightsPlan& weights);

}  // namespace vitro
