// The body of the burst: written once over the lane type, compiled in the region that includes it.
namespace vitro::VITRO_ISA_NS {

/// Twelve registers of chains: the latency of a multiply-add (4 or 5 cycles) times two a cycle, and room for a and b.
inline constexpr int kBurstChains = kLaneAccumulators >= 16 ? 12 : kLaneAccumulators >= 4 ? 6 : 3;

/// Only indices that the compiler knows: chains in an array that a loop walks would live in memory.
template <int... kIdx>
VITRO_LANE float run_chains(F32x16 a, F32x16 b, int64_t n_rounds, std::integer_sequence<int, kIdx...>) {
  F32x16 x[kBurstChains];
  ((x[kIdx] = zero()), ...);
  for (int64_t i = 0; i < n_rounds; ++i) {
    ((x[kIdx] = fma(a, x[kIdx], b)), ...);
    (keep_in_register(x[kIdx]), ...);  // alike chains must not become one
  }
  return (reduce_add(x[kIdx]) + ...);
}

static float burst(float a, float b, int64_t n_rounds) noexcept {
  return run_chains(set1(a), set1(b), n_rounds, std::make_integer_sequence<int, kBurstChains>());
}

}  // namespace vitro::VITRO_ISA_NS
