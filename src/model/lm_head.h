// Residual stream -> logits.
#pragma once

#include "model/transformer.h"

namespace vitro {

/// logits[i] = w_unembed norm(resid[logit_rows[i]]) + b_unembed;  [n_logits, vocab_size]. Only the rows that are asked
/// for cost anything.
Rows lm_head(const Model& model, ConstRows resid, Pass& pass);

}  // namespace vitro
