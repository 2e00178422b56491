// Rotary positions on rows of heads, with tables of cosines and sines made once a pass.
#pragma once

#include <cstdint>
#include <span>

#include "ops/context.h"
#include "tensor/view.h"

namespace vitro {

/// Fills row t of cos and sin ([n_rows, n_pairs]) for position `pos`: m cos(pos f_i), m sin(pos f_i), in double,
/// rounded once.
///   frequencies [n_pairs], inverse wavelengths;  m = attention_factor
void rope_row(std::span<const double> frequencies, double attention_factor, int64_t pos, float* cos, float* sin);

/// Rotates every head of every row in place: x is [n_tokens, n_head * d_head]; cos, sin [n_tokens, n_pairs].
struct RopeTables {
  ConstRows cos;
  ConstRows sin;
  bool is_adjacent = false;
};
void rotate(const RopeTables& tables, Rows x, int64_t d_head, OpContext& ctx);

}  // namespace vitro
