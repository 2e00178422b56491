// Token ids -> residual stream, and the tables that positions need inside attention.
#pragma once

#include "model/transformer.h"
#include "ops/attend.h"
#include "ops/rope.h"

namespace vitro {

/// The rows as they enter the first block, [n_tokens, d_model]:
///   resid[t] = norm(embed_scale * w_embed_in w_embed[ids[t]] + P(pos))
///   P learned: w_pos[pos + offset];  sinusoidal: model/sinusoid.h
/// Projection, P and norm only where the model has them.
Rows embed(const Model& model, Pass& pass);

/// Fills what attention needs of positions for the rows of the batch: cosines and sines of every rotary kind, ALiBi.
void fill_position_tables(const Model& model, Pass& pass);
/// ALiBi as filled, for layers that have it.
AttendBias alibi_bias(const AttentionSpec& spec, const Pass& pass);
/// The tables of one kind, as filled: [n_tokens, d_rot / 2] each.
RopeTables rope_tables(const Model& model, int kind, const Pass& pass);

}  // namespace vitro
