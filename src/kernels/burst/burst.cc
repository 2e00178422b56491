#include "kernels/burst/burst.h"

#include <string_view>

namespace vitro {
namespace {

float scalar_burst(float a, float b, int64_t n_rounds) noexcept {
  float x = 0;
  for (int64_t i = 0; i < n_rounds; ++i) x = a * x + b;
  return x;
}

}  // namespace

Burst burst_of(const KernelTable& table) {
#if defined(__x86_64__)
  const std::string_view name = table.name;
  if (name == "avx512") return kBurstAvx512;
  if (name == "avx2") return kBurstAvx2;
  if (name == "v2") return kBurstV2;
#else
  static_cast<void>(table);
#endif
  return {scalar_burst, 1};
}

}  // namespace vitro
