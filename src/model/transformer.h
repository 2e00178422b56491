// The forward pass: token ids -> logits.
#pragma once

#include "model/activations.h"
#include "model/batch.h"
#include "model/hook.h"
#include "model/model.h"
#include "ops/context.h"

namespace vitro {

/// What one pass works with, besides the model. Model thread only.
struct Pass {
  const TokenBatch& batch;
  KvCache& cache;
  Activations& acts;
  HookSink* hooks = nullptr;  ///< may be null
  OpContext& ctx;

  /// Rows of this batch in a buffer, `width` columns wide.
  Rows rows(Act act, int64_t width) const { return acts.rows(act, batch.n_tokens(), width); }
  /// Shows `rows` to the sink if it asked for this point.
  void see(HookPoint point, int64_t layer, ConstRows rows) const {
    if (hooks && hooks->mask().has(point)) hooks->value({point, layer, batch}, rows);
  }
};

/// Runs the rows of the batch through the model (Vaswani et al. 2017, arXiv 1706.03762, decoder only) and returns the
/// logits of batch.logit_rows, [n_logits, vocab_size], valid until the next pass. The keys and values of every row are
/// appended to the cache, whose pages must be reserved. Ids must be in range and the batch within acts.limits().
/// Allocates nothing.
Rows forward(const Model& model, Pass& pass);

}  // namespace vitro
