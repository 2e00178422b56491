// Residual stream -> logits.
#pragma once

#include "model/transformer.h"

namespace vitro {

/// logits[i] = cap(logit_scale (w_unembed w_embed_out norm(resid[logit_rows[i]]) + b_unembed));  [n_logits, vocab_size]
/// cap(x) = c tanh(x / c) for c = logit_softcap. Norm, projection and cap only where the model has them. Only the rows
/// that are asked for cost anything.
Rows lm_head(const Model& model, ConstRows resid, Pass& pass);

}  // namespace vitro
