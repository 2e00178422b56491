// Rotary position frequencies in float64: RoPE (Su et al. 2021, arXiv 2104.09864) and the ways to stretch it beyond the
// trained length. Not here: the rotation itself (ops/rope.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/config.h"

namespace vitro {

/// Inverse frequencies [d_rot / 2]: the angle of pair i at position p is p * f_i. With b = theta, r = d_rot, base f_i =
/// b^(-2i/r):
///   none      f_i
///   linear    f_i / factor                                                  (Chen et al. 2023, arXiv 2306.15595)
///   dynamic   b' = b ((factor S / M) - (factor - 1))^(r/(r-2)), S = max(seq_len, M), M = n_ctx_original  (NTK-aware,
///   "dynamic") yarn      f_i (1 - g_i) + f_i / factor * g_i, g_i a ramp from 0 to 1 between the pairs that turn
///   beta_fast and beta_slow times
///             within n_ctx_original                                          (Peng et al. 2023, arXiv 2309.00071)
///   longrope  f_i / e_i, e the long factors if seq_len > n_ctx_original, else the short ones (Ding et al. 2024, arXiv
///   2402.13753);
///             `factors` where the spec has no lists
///   llama3    wavelengths above n_ctx_original / low_freq_factor divided by factor, below n_ctx_original /
///   high_freq_factor kept,
///             blended in between                                             (Llama 3.1 reference code)
///   factors   f_i / factors_i; empty: f_i                                    (what GGUF files keep of llama3)
/// seq_len: length of the sequence's whole prompt; only dynamic and longrope look at it. Pure; allocates its result.
std::vector<double> rope_frequencies(const RopeSpec& spec, int64_t seq_len, std::span<const float> factors);

/// What cos and sin are multiplied with: the spec's attention_factor if set; else yarn m(factor, mscale) / m(factor,
/// mscale_all_dim) if both are set, or m(factor, 1), with m(s, k) = 0.1 k ln s + 1 above s = 1; longrope sqrt(1 + ln
/// factor / ln n_ctx_original); else 1.
double rope_attention_factor(const RopeSpec& spec, int64_t seq_len);

}  // namespace vitro
