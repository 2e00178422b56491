// Reference twins of RMSNorm and LayerNorm (formulas: NormArgs in table.h).
#include <cmath>

#include "kernels/reference/reference.h"

namespace vitro::reference {
namespace {

/// out[i] = (x[i] - center) * inverse * (gain[i] + gain_offset) + bias[i]
void normalize(const NormArgs& args, double center, double inverse) {
  for (int64_t i = 0; i < args.n; ++i) {
    const double gain = args.gain != nullptr ? static_cast<double>(args.gain[i]) + args.gain_offset : 1.0;
    const double bias = args.bias != nullptr ? args.bias[i] : 0.0;
    args.out[i] = static_cast<float>((args.x[i] - center) * inverse * gain + bias);
  }
}

double mean_square(const NormArgs& args, double center) {
  double sum = 0;
  for (int64_t i = 0; i < args.n; ++i) sum += (args.x[i] - center) * (args.x[i] - center);
  return sum / static_cast<double>(args.n);
}

}  // namespace

void rms_norm(const NormArgs& args) noexcept { normalize(args, 0, 1 / std::sqrt(mean_square(args, 0) + args.eps)); }

void layer_norm(const NormArgs& args) noexcept {
  double sum = 0;
  for (int64_t i = 0; i < args.n; ++i) sum += args.x[i];
  const double mean = sum / static_cast<double>(args.n);
  normalize(args, mean, 1 / std::sqrt(mean_square(args, mean) + args.eps));
}

}  // namespace vitro::reference
