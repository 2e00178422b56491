// Liveness: gives buffers that are never alive together the same bytes. Pure; the offsets are what the engine then
// allocates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vitro {

/// One buffer: its size and the first and last moment that it is needed (both included).
struct Lifetime {
  int64_t n_bytes = 0;
  int first = 0;
  int last = 0;
};

/// Where each buffer goes, and the bytes of the arena that holds them all.
struct Placement {
  std::vector<int64_t> offsets;  ///< multiples of the alignment; 0 for empty buffers
  int64_t n_bytes = 0;
};

/// Places the largest buffers first, each at the lowest offset where it touches none that is alive at the same time.
/// Buffers that overlap in time never overlap in bytes. Deterministic. n log n + n^2 for n buffers.
Placement place_buffers(std::span<const Lifetime> buffers, int64_t alignment = 64);

}  // namespace vitro
