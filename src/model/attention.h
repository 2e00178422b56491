// Self-attention of one block, step by step (model/block.cc puts the steps in order). Heads are grouped: query head h
// reads key-value head h / group_size (Ainslie et al. 2023, arXiv 2305.13245).
#pragma once

#include "model/block.h"

namespace vitro {

/// Projected rows: q [n_tokens, n_head * d_head], k and v [n_tokens, n_kv_head * d_head].
struct Qkv {
  Rows q, k, v;
};

/// q = W_q x + b_q, k = W_k x + b_k, v = W_v x + b_v, clamped where the family does;  x [n_tokens, d_model]
Qkv project_qkv(const BlockPass& block, ConstRows x);
/// Normalises q and k where the family does, then applies rotary positions where this layer has them, in
/// place.
void rotate_qk(const BlockPass& block, const Qkv& qkv);
/// Stores the rows of k and v at their positions in the cache.
void append_to_cache(const BlockPass& block, const Qkv& qkv);
/// z [n_tokens, n_head * d_head]: each query's softmax-weighted values over the cache.
Rows attend_heads(const BlockPass& block, const Qkv& qkv);
/// W_o z + b_o, [n_tokens, d_model]
Rows project_out(const BlockPass& block, ConstRows z);

}  // namespace vitro
