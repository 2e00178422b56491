#include "model/sinusoid.h"

#include <cmath>

namespace vitro {

std::vector<double> sinusoid_frequencies(int64_t d_model) {
  constexpr double kBase = 10000.0;  // the paper's; no model has another
  std::vector<double> frequencies;
  frequencies.reserve(static_cast<size_t>(d_model / 2));
  for (int64_t i = 0; i < d_model / 2; ++i) {
    frequencies.push_back(std::pow(kBase, -2.0 * static_cast<double>(i) / static_cast<double>(d_model)));
  }
  return frequencies;
}

void fill_sinusoid(std::span<const double> frequencies, int64_t pos, bool is_adjacent, float* row) {
  const size_t n = frequencies.size();
  for (size_t i = 0; i < n; ++i) {
    const double angle = static_cast<double>(pos) * frequencies[i];
    row[is_adjacent ? 2 * i : i] = static_cast<float>(std::sin(angle));
    row[is_adjacent ? 2 * i + 1 : n + i] = static_cast<float>(std::cos(angle));
  }
}

}  // namespace vitro
