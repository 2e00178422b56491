// Normalisation of rows: RMSNorm and LayerNorm. Formulas: kernels/table.h, NormArgs.
#pragma once

#include <cstdint>

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
  /// Of normalize_heads: how far head h + 1's gain (and bias) lies behind head h's; 0: all heads share them.
  int64_t gain_stride = 0;
};

/// out[t] = norm(x[t]) for every row; out may be x. gain_stride must be 0.
void normalize(const NormOp& op, ConstRows x, Rows out, OpContext& ctx);

/// Normalises each head of each row by itself, in place: x is [n_tokens, n_head * d_head]. Head h uses
/// gain + h * gain_stride and bias + h * gain_stride: a gain of [d_head] with stride 0, of [n_head, d_head] with
/// d_head.
void normalize_heads(const NormOp& op, Rows x, int64_t d_head, OpContext& ctx);

}  // namespace vitro
