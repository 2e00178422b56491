#include "base/cpu.h"

#include <sched.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>

namespace vitro {

#if defined(__x86_64__)
namespace {
/// CPUID leaf 1; Clang 14 has no name for F16C in __builtin_cpu_supports.
bool has_f16c() {
  unsigned int eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
}  // namespace
#endif

CpuFeatures detect_cpu() {
  CpuFeatures features;
#if defined(__x86_64__)
  __builtin_cpu_init();
  features.has_v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  features.has_avx2 = features.has_v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
  features.has_avx512 = features.has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
  return features;
}

int n_usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace vitro
