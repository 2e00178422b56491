// Reference twin of rotary positions (formula: RopeArgs in table.h).
#include "kernels/reference/reference.h"

namespace vitro::reference {

void rope(const RopeArgs& args) noexcept {
  for (int64_t head = 0; head < args.n_head; ++head) {
    float* x = args.x + head * args.d_head;
    for (int64_t i = 0; i < args.n_pairs; ++i) {
      float& first = args.is_adjacent ? x[2 * i] : x[i];
      float& second = args.is_adjacent ? x[2 * i + 1] : x[i + args.n_pairs];
      const double a = first, b = second, cos = args.cos[i], sin = args.sin[i];
      first = static_cast<float>(a * cos - b * sin);
      second = static_cast<float>(b * cos + a * sin);
    }
  }
}

}  // namespace vitro::reference
