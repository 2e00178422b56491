// Feed-forward layer of one block, plain or gated (Shazeer 2020, arXiv 2002.05202), in two steps.
#pragma once

#include "model/block.h"

namespace vitro {

/// The neurons, [n_tokens, d_ff]:
///   plain  act(W_up x + b_up)
///   gated  act(W_gate x + b_gate) * (W_up x + b_up)
/// x [n_tokens, d_model]
Rows widen(const BlockPass& block, ConstRows x);
/// W_down neurons + b_down, [n_tokens, d_model]
Rows narrow(const BlockPass& block, ConstRows neurons);

}  // namespace vitro
