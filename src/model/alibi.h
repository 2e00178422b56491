// ALiBi: a bias on attention scores that grows with distance, in place of positions (Press et al. 2021, arXiv
// 2108.12409).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/config.h"
#include "tensor/view.h"

namespace vitro {

/// The slope of each head [n_head]. For n a power of two, slope_h = 2^(-max_bias (h + 1) / n); for other counts the
/// slopes of the next lower power of two, then every second one of the next higher.
std::vector<float> alibi_slopes(int64_t n_head, double max_bias);

/// Fills the table that attention reads (ops/attend.h, AttendBias), one head a row, for sequences of up to n_keys
/// positions; n_positions is what the table was made for.
///   bias(q, k) = slope_h (k - q)                              at column n_positions - 1 - (q - k)
///   is_alibi_bf16: bf16(bf16(slope_h) bf16(k))                at column k; softmax does not see the difference in q
/// times spec.alibi_factor. Other columns are left alone.
void fill_alibi(const AttentionSpec& spec, std::span<const float> slopes, int64_t n_keys, int64_t n_positions,
                Rows table);

}  // namespace vitro
