// Rotary positions on the heads of one row, in place; both ways of pairing elements.
namespace vitro::VITRO_ISA_NS {

/// (a, b) -> (a cos - b sin, b cos + a sin)
VITRO_LANE void rotate(F32x16& a, F32x16& b, F32x16 cos, F32x16 sin) {
  const F32x16 rotated_a = sub(mul(a, cos), mul(b, sin));
  b = add(mul(b, cos), mul(a, sin));
  a = rotated_a;
}

/// Pairs (x[i], x[i + n_pairs]).
static void rotate_halves(float* x, const RopeArgs& args) {
  for_each_vector(args.n_pairs, [&](int64_t i, int64_t n_lanes) {
    F32x16 a = load_partial(x + i, n_lanes), b = load_partial(x + i + args.n_pairs, n_lanes);
    rotate(a, b, load_partial(args.cos + i, n_lanes), load_partial(args.sin + i, n_lanes));
    store_partial(a, x + i, n_lanes);
    store_partial(b, x + i + args.n_pairs, n_lanes);
  });
}

/// Pairs (x[2i], x[2i + 1]): two vectors of neighbours are split into a and b and joined again.
static void rotate_adjacent(float* x, const RopeArgs& args) {
  for_each_vector(args.n_pairs, [&](int64_t i, int64_t n_lanes) {
    float* pairs = x + 2 * i;
    const int64_t n_values = 2 * n_lanes;
    F32x16 a, b;
    split_pairs(load_partial(pairs, n_values), load_partial(pairs + kPanelRows, n_values - kPanelRows), a, b);
    rotate(a, b, load_partial(args.cos + i, n_lanes), load_partial(args.sin + i, n_lanes));
    F32x16 low, high;
    join_pairs(a, b, low, high);
    store_partial(low, pairs, n_values);
    store_partial(high, pairs + kPanelRows, n_values - kPanelRows);
  });
}

static void rope(const RopeArgs& args) noexcept {
  for (int64_t head = 0; head < args.n_head; ++head) {
    float* x = args.x + head * args.d_head;
    args.is_adjacent ? rotate_adjacent(x, args) : rotate_halves(x, args);
  }
}

}  // namespace vitro::VITRO_ISA_NS
