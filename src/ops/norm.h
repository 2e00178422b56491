// Normalisation of rows: RMSNorm and LayerNorm. Formulas: kernels/table.h, NormArgs.
#pragma once

#include "ops/context.h"
#include "tensor/view.h"

namespace vitro {

/// Which norm, with its learned vectors; gain and bias may be null (1 and 0).
struct NormOp {
  enum class Kind : uint8_t { kRms, kLayerNorm };
  Kind kind = Kind::kRms;
  const float* gain = nullptr;
  const float* bias = nullptr;
  float gain_offset = 0;
  float eps = 0;
  int64_t head_stride =
      0;  ///< normalize_heads: floats from one head's gain and bias to the next's; 0: heads share them
};

/// out[t] = norm(x[t]) for every row; out may be x.
void normalize(const NormOp& op, ConstRows x, Rows out, OpContext& ctx);

/// Normalises each head of each row by itself, with one gain for all heads or one for each: x is [n_tokens, n_head *
/// d_head], in place.
void normalize_heads(const NormOp& op, Rows x, int64_t d_head, OpContext& ctx);

}  // namespace vitro
