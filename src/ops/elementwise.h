// Element-wise maths on rows: residual adds, scaling, bounds, the feed-forward activations.
#pragma once

#include <cstdint>
#include <span>

#include "ops/context.h"
#include "tensor/view.h"

namespace vitro {

/// out = a + b; out may be a or b.
void add(ConstRows a, ConstRows b, Rows out, OpContext& ctx);
/// x = x * factor, in place.
void scale(Rows x, float factor, OpContext& ctx);
/// x = cap tanh(x / cap), in place: smooth bounds -cap and cap (Gemma Team 2024, arXiv 2408.00118). cap > 0.
void softcap(Rows x, float cap, OpContext& ctx);
/// x = min(max(x, -limit), limit), in place; NaN stays. limit >= 0.
void clamp(Rows x, float limit, OpContext& ctx);
/// x = f(x), in place.
void activate(Activation f, Rows x, OpContext& ctx);
/// gate = f(gate) * up, in place.
void activate_gate(Activation f, Rows gate, ConstRows up, OpContext& ctx);
/// out[i] = x[rows[i]].
void copy_rows(ConstRows x, std::span<const int32_t> rows, Rows out);

}  // namespace vitro
