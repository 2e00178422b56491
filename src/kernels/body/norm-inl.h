// RMSNorm and LayerNorm of one row. Lane l sums the elements l, l + 16, l + 32, ... in order; the fixed tree joins the
// lanes.
namespace vitro::VITRO_ISA_NS {

/// sum_i (x[i] - center)^2
static float sum_of_squares(const float* x, int64_t n, float center) {
  F32x16 sum = zero();
  for_each_vector(n, [&](int64_t i, int64_t n_lanes) {
    const F32x16 centered = sub(load_partial(x + i, n_lanes), set1(center));
    const F32x16 inside = select(lane_range(0, n_lanes), centered, zero());
    sum = fma(inside, inside, sum);
  });
  return reduce_add(sum);
}

static float sum_of_row(const float* x, int64_t n) {
  F32x16 sum = zero();
  for_each_vector(n, [&](int64_t i, int64_t n_lanes) { sum = add(sum, load_partial(x + i, n_lanes)); });
  return reduce_add(sum);
}

/// 1 / sqrt(sum / n + eps), rounded once.
static float inverse_root(float sum, int64_t n, float eps) {
  const double mean = static_cast<double>(sum) / static_cast<double>(n);
  return static_cast<float>(1.0 / std::sqrt(mean + static_cast<double>(eps)));
}

/// out[i] = (x[i] - center) * inverse * (gain[i] + gain_offset) + bias[i]; both norms end like this.
static void normalize(const NormArgs& args, float center, float inverse) {
  for_each_vector(args.n, [&](int64_t i, int64_t n_lanes) {
    F32x16 y = mul(sub(load_partial(args.x + i, n_lanes), set1(center)), set1(inverse));
    if (args.gain != nullptr) y = mul(y, add(load_partial(args.gain + i, n_lanes), set1(args.gain_offset)));
    if (args.bias != nullptr) y = add(y, load_partial(args.bias + i, n_lanes));
    store_partial(y, args.out + i, n_lanes);
  });
}

static void rms_norm(const NormArgs& args) noexcept {
  normalize(args, 0.0F, inverse_root(sum_of_squares(args.x, args.n, 0.0F), args.n, args.eps));
}

static void layer_norm(const NormArgs& args) noexcept {
  const float mean = sum_of_row(args.x, args.n) / static_cast<float>(args.n);
  normalize(args, mean, inverse_root(sum_of_squares(args.x, args.n, mean), args.n, args.eps));
}

}  // namespace vitro::VITRO_ISA_NS
