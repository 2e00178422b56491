// Rotary position frequencies in float64: RoPE (Su et al. 2021, arXiv 2104.09864) and the ways to stretch it beyond the
// trained length. Not here: the rotation itself (ops/rope.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/config.h"

namespace vitro {

/// Divisors that a GGUF file keeps as tensors [d_rot / 2]; empty where it has none. A spec with lists of its own has
/// precedence.
struct RopeFactors {
  std::span<const float> all = {};                               ///< factors
  std::span<const float> short_context = {}, long_context = {};  ///< longrope
};

/// Inverse frequencies [d_rot / 2]: the angle of pair i at position p is p * f_i.
/// With b = theta, r = d_rot, L = n_ctx_original:
///   none      f_i = b^(-2i/r)
///   linear    f_i / factor                                           (Chen et al. 2023, arXiv 2306.15595)
///   ntk       f_i with b' = b factor^(r/(r-2))                        ("NTK-aware", bloc97 2023)
///   dynamic   the same with factor S/L - (factor - 1) in place of factor, S = max(seq_len, L)
///   yarn      f_i (1 - g_i) + f_i / factor * g_i, g_i a ramp from 0 to 1 between the pairs that turn beta_fast and
///             beta_slow times within L                               (Peng et al. 2023, arXiv 2309.00071)
///   longrope  f_i / e_i, e the long factors if seq_len > L, else the short ones    (Ding et al. 2024, arXiv
///   2402.13753) llama3    f_i / factor for wavelengths above L / low_freq_factor, f_i below L / high_freq_factor,
///   blended between
///                                                                    (Llama 3.1 reference code)
///   factors   f_i / factors_i; empty: f_i                            (what GGUF files keep of llama3)
/// seq_len is the length of the sequence's whole prompt; only dynamic and longrope look at it. Pure.
std::vector<double> rope_frequencies(const RopeSpec& spec, int64_t seq_len, const RopeFactors& factors = {});

/// What cos and sin are multiplied with: attention_factor where the spec sets it, else
///   yarn      m(mscale) / m(mscale_all_dim) if both are set, else m(1); m(k) = 0.1 k ln factor + 1, 1 for factor <= 1
///   longrope  sqrt(1 + ln factor / ln n_ctx_original), 1 for factor <= 1
///   others    1
double rope_attention_factor(const RopeSpec& spec);

}  // namespace vitro
