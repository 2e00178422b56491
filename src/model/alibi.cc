#include "model/alibi.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tensor/half.h"

namespace vitro {
namespace {

float alibi_slope(int64_t n, double max_bias, int64_t i) {
  return static_cast<float>(std::exp2(-max_bias * static_cast<double>(i) / static_cast<double>(n)));
}

float round_to_bf16(float x) { return bf16_to_f32(f32_to_bf16(x)); }

}  // namespace

std::vector<float> alibi_slopes(int64_t n_head, double max_bias) {
  const auto n_low = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n_head)));
  std::vector<float> slopes;
  slopes.reserve(static_cast<size_t>(n_head));
  for (int64_t i = 1; i <= n_low; ++i) slopes.push_back(alibi_slope(n_low, max_bias, i));
  for (int64_t i = 1; static_cast<int64_t>(slopes.size()) < n_head; i += 2) {
    slopes.push_back(alibi_slope(2 * n_low, max_bias, i));
  }
  return slopes;
}

void fill_alibi(const AttentionSpec& spec, std::span<const float> slopes, int64_t n_keys, int64_t n_positions,
                Rows table) {
  const auto factor = static_cast<float>(spec.alibi_factor);
  for (int64_t h = 0; h < table.n_rows; ++h) {
    const float slope = slopes[static_cast<size_t>(h)];
    float* row = table.row(h);
    for (int64_t i = 0; i < n_keys; ++i) {
      if (spec.is_alibi_bf16) {
        row[i] = factor * round_to_bf16(round_to_bf16(slope) * round_to_bf16(static_cast<float>(i)));
      } else {
        row[n_positions - 1 - i] = factor * (slope * static_cast<float>(-i));
      }
    }
  }
}

}  // namespace vitro
