// Layers that keep the same tensors for the backward are one line of the plan: this finds them, and the layers of a
// pipeline stage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/config.h"
#include "plan/item.h"
#include "plan/training_activations.h"

namespace vitro {

using Blocks = std::vector<const BlockSpec*>;

/// Blocks that keep the same, in order of first use.
struct LayerGroup {
  const BlockSpec* block;
  int64_t n = 0;
  int64_t first = 0;  ///< among the blocks that were grouped
};

std::vector<LayerGroup> group_layers(const ActivationQuestion& question, const Blocks& blocks, bool is_encoder);

/// The blocks of one stack on a pipeline stage.
Blocks blocks_of_stage(const ActivationQuestion& question, int64_t stage, bool is_encoder);

/// n things of a stage's layers: of each micro-batch in flight; interleaved, of each chunk of one.
std::vector<Factor> pass_factors(const ActivationQuestion& question, int64_t stage, std::string name, int64_t n);

/// What the blocks keep, a part for each group: of all micro-batches in flight on a stage, or of one.
std::vector<PlanItem> layer_items(const ActivationQuestion& question, const Blocks& blocks, bool is_encoder,
                                  std::optional<int64_t> stage_in_flight);

}  // namespace vitro
