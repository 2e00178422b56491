// Token ids -> residual stream, and the tables that rotary positions need.
#pragma once

#include "model/transformer.h"
#include "ops/rope.h"

namespace vitro {

/// The rows as they enter the first block, [n_tokens, d_model]:
///   resid[t] = embed_scale * w_embed[ids[t]] (+ w_pos[position + offset] where positions are learned)
Rows embed(const Model& model, Pass& pass);

/// Fills the cosines and sines of every rotary kind for the rows of the batch.
void fill_rope_tables(const Model& model, Pass& pass);
/// The tables of one kind, as filled: [n_tokens, d_rot / 2] each.
RopeTables rope_tables(const Model& model, int kind, const Pass& pass);

}  // namespace vitro
