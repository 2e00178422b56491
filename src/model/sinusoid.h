// Sinusoidal positions, added to the embeddings (Vaswani et al. 2017, arXiv 1706.03762, section 3.5).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vitro {

/// f_i = 10000^(-2i / d_model), i < d_model / 2, for an even d_model.
std::vector<double> sinusoid_frequencies(int64_t d_model);

/// row[d_model] = sin(pos f_i) and cos(pos f_i): side by side as in the paper (sines in even columns), or all sines,
/// then all cosines. Angles in float64, rounded once.
void fill_sinusoid(std::span<const double> frequencies, int64_t pos, bool is_adjacent, float* row);

}  // namespace vitro
