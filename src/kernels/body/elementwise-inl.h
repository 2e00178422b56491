// Sums, multiples and bounds of rows, and the log-sum-exp of a row of logits.
namespace vitro::VITRO_ISA_NS {

static void add(const float* a, const float* b, int64_t n, float* out) noexcept {
  for_each_vector(n, [=](int64_t i, int64_t n_lanes) {
    store_partial(add(load_partial(a + i, n_lanes), load_partial(b + i, n_lanes)), out + i, n_lanes);
  });
}

static void scale(const float* x, float factor, int64_t n, float* out) noexcept {
  for_each_vector(n, [=](int64_t i, int64_t n_lanes) {
    store_partial(mul(load_partial(x + i, n_lanes), set1(factor)), out + i, n_lanes);
  });
}

static void softcap(const float* x, float cap, int64_t n, float* out) noexcept {
  for_each_vector(n, [=](int64_t i, int64_t n_lanes) {
    store_partial(soft_cap(load_partial(x + i, n_lanes), set1(cap)), out + i, n_lanes);
  });
}

/// The operands' order lets NaN through.
static void clamp(const float* x, float limit, int64_t n, float* out) noexcept {
  for_each_vector(n, [=](int64_t i, int64_t n_lanes) {
    const F32x16 raised = max(set1(-limit), load_partial(x + i, n_lanes));
    store_partial(min(set1(limit), raised), out + i, n_lanes);
  });
}

static float row_max(const float* x, int64_t n) {
  F32x16 highest = set1(-INFINITY);
  for_each_vector(n, [&](int64_t i, int64_t n_lanes) {
    const F32x16 lanes = select(lane_range(0, n_lanes), load_partial(x + i, n_lanes), set1(-INFINITY));
    highest = max(lanes, highest);
  });
  return reduce_max(highest);
}

/// log sum_i e^x_i = m + log sum_i e^(x_i - m), m the maximum. max passes over NaN, the sum then finds it.
static double log_sum_exp(const float* x, int64_t n) noexcept {
  const float highest = row_max(x, n);
  if (highest == INFINITY) return highest;
  const float shift = highest == -INFINITY ? 0.0F : highest;
  double sum = 0;
  for_each_vector(n, [&](int64_t i, int64_t n_lanes) {
    const F32x16 lanes = exp(sub(load_partial(x + i, n_lanes), set1(shift)));
    sum += reduce_add(select(lane_range(0, n_lanes), lanes, zero()));
  });
  return shift + std::log(sum);
}

}  // namespace vitro::VITRO_ISA_NS
