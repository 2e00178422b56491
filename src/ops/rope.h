// Rotary positions on rows of heads, with tables of cosines and sines made once a pass.
#pragma once

#include <cstdint>
#include <span>

#include "ops/context.h"
#include "tensor/view.h"

namespace vitro {

/// Cosines and sines of rows of positions.
struct RopeTables {
  Rows cos;  ///< [n_rows, n_pairs]
  Rows sin;  ///< [n_rows, n_pairs]
  bool is_adjacent = false;
};

/// cos[t, i] = m cos((first_pos + t) f_i), sin[t, i] likewise, in double, rounded once.
///   frequencies [n_pairs], inverse wavelengths;  m = attention_factor
void fill_rope_rows(std::span<const double> frequencies, double attention_factor, int64_t first_pos,
                    const RopeTables& tables, OpContext& ctx);

/// Rotates every head of every row in place, row t by row t of the tables: x is [n_tokens, n_head * d_head].
void rotate(const RopeTables& tables, Rows x, int64_t d_head, OpContext& ctx);

}  // namespace vitro
