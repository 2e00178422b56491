// Reference twins of sums, multiples, bounds and the log-sum-exp of rows.
#include <algorithm>
#include <cmath>

#include "kernels/reference/reference.h"

namespace vitro::reference {

void add(const float* a, const float* b, int64_t n, float* out) noexcept {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}

void scale(const float* x, float factor, int64_t n, float* out) noexcept {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] * factor;
}

void softcap(const float* x, float cap, int64_t n, float* out) noexcept {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(cap * std::tanh(static_cast<double>(x[i]) / cap));
}

void clamp(const float* x, float limit, int64_t n, float* out) noexcept {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] < -limit ? -limit : x[i] > limit ? limit : x[i];
}

double log_sum_exp(const float* x, int64_t n) noexcept {
  double highest = -INFINITY;
  for (int64_t i = 0; i < n; ++i) highest = std::max(highest, static_cast<double>(x[i]));
  if (highest == INFINITY) return highest;
  const double shift = highest == -INFINITY ? 0 : highest;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(x[i] - shift);
  return shift + std::log(sum);
}

}  // namespace vitro::reference
