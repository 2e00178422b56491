// The body of the skeleton's kernel: written once over the lane type, compiled in the region that includes it.
namespace vitro::VITRO_ISA_NS {

static float dot(const float* a, const float* b, int64_t n) noexcept {
  F32x16 sum = zero();
  for_each_vector(n, [&](int64_t i, int64_t n_lanes) {
    // Lanes beyond n load as zero and add nothing.
    sum = fma(load_partial(a + i, n_lanes), load_partial(b + i, n_lanes), sum);
  });
  return reduce_add(sum);
}

}  // namespace vitro::VITRO_ISA_NS
