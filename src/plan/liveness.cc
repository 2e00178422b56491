#include "plan/liveness.h"

#include <algorithm>
#include <numeric>

#include "base/checked_math.h"

namespace vitro {
namespace {

struct Placed {
  int64_t begin, end;
  int first, last;
};

// Lowest aligned offset at which n_bytes fit beside everything alive in [first, last]. `placed` is sorted by begin.
int64_t lowest_gap(const std::vector<Placed>& placed, const Lifetime& buffer, int64_t alignment) {
  int64_t offset = 0;
  for (const Placed& other : placed) {
    if (other.last < buffer.first || buffer.last < other.first) continue;
    if (offset + buffer.n_bytes <= other.begin) break;
    offset = std::max(offset, round_up(other.end, alignment));
  }
  return offset;
}

}  // namespace

Placement place_buffers(std::span<const Lifetime> buffers, int64_t alignment) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return buffers[a].n_bytes > buffers[b].n_bytes; });
  Placement placement{std::vector<int64_t>(buffers.size(), 0), 0};
  std::vector<Placed> placed;
  for (const size_t idx : order) {
    const Lifetime& buffer = buffers[idx];
    if (buffer.n_bytes == 0) continue;
    const int64_t offset = lowest_gap(placed, buffer, alignment);
    const Placed entry{offset, offset + buffer.n_bytes, buffer.first, buffer.last};
    placed.insert(std::upper_bound(placed.begin(), placed.end(), entry,
                                   [](const Placed& a, const Placed& b) { return a.begin < b.begin; }),
                  entry);
    placement.offsets[idx] = offset;
    placement.n_bytes = std::max(placement.n_bytes, round_up(entry.end, alignment));
  }
  return placement;
}

}  // namespace vitro
