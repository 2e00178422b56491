// What one core can compute at most: multiply-adds on registers alone, as fast as the instruction set of a table can be
// given them. Nothing computes with it; measurements of kernels are held against it.
#pragma once

#include <cstdint>

#include "kernels/table.h"

namespace vitro {

struct Burst {
  /// n_rounds times x = a x + b in every lane of independent chains, all from x = 0; the sum of all lanes. Enough
  /// chains that none waits for its own result, few enough to stay in registers.
  float (*run)(float a, float b, int64_t n_rounds) noexcept = nullptr;
  int64_t n_lanes = 0;  ///< of all chains together: a round has 2 n_lanes FLOPs
};

/// Of the instruction set that a table is for; of the reference, one scalar chain.
Burst burst_of(const KernelTable& table);

#if defined(__x86_64__)
extern const Burst kBurstV2;
extern const Burst kBurstAvx2;
extern const Burst kBurstAvx512;
#endif

}  // namespace vitro
