// Matrix products with packed weights. Threads split output rows, never a sum.
#pragma once

#include <span>

#include "ops/context.h"
#include "tensor/panel_matrix.h"
#include "tensor/view.h"

namespace vitro {

/// One product of a group: y = x w^T + bias.
struct LinearJob {
  PanelMatrix w;                ///< [n_out, d_in]
  const float* bias = nullptr;  ///< [n_out] or null
  Rows y;                       ///< [n_tokens, n_out], must not alias x
};

/// y_j[t, r] = bias_j[r] + sum_k w_j[r, k] x[t, k] for every job of the group; x is [n_tokens, d_in], the same for all.
/// One parallel loop over the panels of all jobs together, so that q, k, v (or gate, up) cost one start.
void linear(ConstRows x, std::span<const LinearJob> jobs, OpContext& ctx);

/// out[t] = row ids[t] of a packed table [n_rows, d], de-quantised. ids must be in range.
void gather_rows(const PanelMatrix& table, std::span<const int32_t> ids, Rows out, OpContext& ctx);

}  // namespace vitro
