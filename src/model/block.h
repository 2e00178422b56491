// One transformer block: attention and feed-forward, each normalised and added to the residual stream.
#pragma once

#include "model/transformer.h"

namespace vitro {

/// One block of a pass: what its steps need. A view, made anew for each block.
struct BlockPass {
  const Model& model;
  int64_t layer;
  Pass& pass;

  const BlockSpec& spec() const { return model.config.blocks[static_cast<size_t>(layer)]; }
  const BlockWeights& weights() const { return model.blocks[static_cast<size_t>(layer)]; }
  void see(HookPoint point, ConstRows rows) const { pass.see(point, layer, rows); }
};

/// Reads and updates `resid` [n_tokens, d_model].
void run_block(const Model& model, int64_t layer, Rows resid, Pass& pass);

}  // namespace vitro
