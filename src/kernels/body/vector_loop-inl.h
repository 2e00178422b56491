// Walking over a row in vectors of sixteen. The tail is the same code with fewer lanes (K6): the functor sees how many
// lanes count.
namespace vitro::VITRO_ISA_NS {

/// f(i, n_lanes) for i = 0, 16, 32, ... below n, in order; n_lanes is 16, in the last call perhaps less.
template <class F>
VITRO_LANE void for_each_vector(int64_t n, F f) {
  int64_t i = 0;
  for (; i + kPanelRows <= n; i += kPanelRows) f(i, kPanelRows);
  if (i < n) f(i, n - i);
}

}  // namespace vitro::VITRO_ISA_NS
