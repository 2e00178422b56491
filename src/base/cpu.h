// What this processor can do, asked once by whoever chooses kernels or thread counts.
#pragma once

namespace vitro {

/// Instruction sets that kernels/isa has tables for; each includes the ones before it.
struct CpuFeatures {
  bool has_v2 = false;      ///< x86-64-v2: SSE4.2, POPCNT
  bool has_avx2 = false;    ///< AVX2, FMA, F16C
  bool has_avx512 = false;  ///< AVX-512 F, BW, DQ, VL
};

/// Asks CPUID (and the operating system, whether it saves the registers).
CpuFeatures detect_cpu();

/// Processors this process may run on (its affinity mask), at least 1.
int n_usable_cpus();

}  // namespace vitro
