// Counter-based random numbers: the value is a pure function of (seed, sequence, position), so a draw does not depend
// on what was drawn before, on the batch or on threads. Philox 4x32-10 (Salmon et al. 2011, "Parallel random numbers:
// as easy as 1, 2, 3").
#pragma once

#include <array>
#include <cstdint>

namespace vitro {

/// Ten rounds of Philox 4x32 on a 128-bit counter with a 64-bit key.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// Uniform in [0, 1) with 53 random bits, for draw number `position` of stream `sequence` under `seed`.
double uniform_at(uint64_t seed, uint64_t sequence, uint64_t position);

}  // namespace vitro
