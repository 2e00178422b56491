// The reference twin of the skeleton's kernel.
#include "kernels/skeleton/dot.h"

namespace vitro {

float dot_reference(const float* a, const float* b, int64_t n) noexcept {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * b[i];
  return static_cast<float>(sum);
}

}  // namespace vitro
