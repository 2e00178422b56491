// Softmax attention by tiles and spans (AttendArgs in table.h has the formula and the order of sums).
//   per tile, per row:  m' = max(m, max s);  c = e^(m - m');  p = e^(s - m');  l = c l + sum p;  z = c z + p V
//   per span, per row:  the same step with the span's (m, l, z) in place of a tile's
// The outer loop goes over tiles, so the rows of a call share every load of K and V. Rows never mix: a row's numbers
// are lanes or memory of its own, and work is skipped only where it would multiply by exactly one or add exactly
// nothing.
namespace vitro::VITRO_ISA_NS {

/// What the rows carry from tile to tile, in the caller's scratch: 8 numbers, a tile of scores and a padded z a row.
struct AttendState {
  float* m;        ///< [kAttendRows] maximum of the span so far
  float* l;        ///< [kAttendRows] sum of e^(s - m) of the span so far
  float* total_m;  ///< the same of the finished spans
  float* total_l;
  float* tile_m;  ///< [kAttendRows] maximum of this tile
  float* factor;  ///< [kAttendRows] what the older sums shrink by
  float* gain;    ///< [kAttendRows] what the newer sums shrink by (spans only)
  float* probs;   ///< [kAttendRows, kAttendTile] scores, then probabilities, of the rows active in the tile
  float* z;       ///< [kAttendRows, z_stride] of the span
  int64_t z_stride;
};

static AttendState split_scratch(const AttendArgs& args) {
  float* p = args.scratch;
  const auto take = [&p](int64_t n) { return p += n, p - n; };
  AttendState state;
  for (float** row : {&state.m, &state.l, &state.total_m, &state.total_l, &state.tile_m, &state.factor, &state.gain}) {
    *row = take(kAttendRows);
  }
  state.probs = take(kAttendRows * kAttendTile);
  state.z_stride = (args.kv.d_head + kPanelRows - 1) / kPanelRows * kPanelRows;
  state.z = take(kAttendRows * state.z_stride);
  return state;
}

/// The rows that attend keys of an interval, each with its part of it (positions from the interval's start).
struct ActiveRows {
  int64_t n = 0;
  int64_t row[kAttendRows];
  KeyRange keys[kAttendRows];
};

static ActiveRows rows_in(const AttendArgs& args, int64_t pos, int64_t n_keys) {
  ActiveRows active;
  for (int64_t r = 0; r < args.n_rows; ++r) {
    const KeyRange keys{std::max<int64_t>(args.rows[r].first_pos - pos, 0),
                        std::min(args.rows[r].last_pos + 1 - pos, n_keys)};
    if (keys.begin >= keys.end) continue;
    active.row[active.n] = r;
    active.keys[active.n++] = keys;
  }
  return active;
}

/// The smallest interval that holds the keys of all active rows.
static KeyRange span_of(const ActiveRows& active) {
  KeyRange all = active.keys[0];
  for (int64_t a = 1; a < active.n; ++a) {
    all = {std::min(all.begin, active.keys[a].begin), std::max(all.end, active.keys[a].end)};
  }
  return all;
}

/// Makes a row's products with a tile its scores: cap(x) + bias (AttendArgs in table.h).
VITRO_LANE void cap_and_bias(const AttendArgs& args, const AttendRow& row, int64_t tile_pos, float* scores) {
  if (args.softcap == 0 && row.bias == nullptr) return;
  for (int64_t i = 0; i < kAttendTile; i += kPanelRows) {
    F32x16 score = load(scores + i);
    if (args.softcap != 0) score = soft_cap(score, set1(args.softcap));
    if (row.bias != nullptr) score = add(score, load(row.bias + tile_pos + i));
    store(score, scores + i);
  }
}

/// m, or 0 where nothing was seen, so that e^(-inf - m) is 0 and not NaN.
VITRO_LANE F32x16 finite_max(F32x16 m) { return select(less(m, set1(-FLT_MAX)), zero(), m); }

/// Scores outside a row's keys become -inf (whatever stale memory made of them); tile_m of all rows.
static void mask_scores(const ActiveRows& active, const AttendState& state) {
  store(set1(-INFINITY), state.tile_m);
  for (int64_t a = 0; a < active.n; ++a) {
    float* scores = state.probs + a * kAttendTile;
    F32x16 highest = set1(-INFINITY);
    for (int64_t i = 0; i < kAttendTile; i += kPanelRows) {
      const Mask16 inside = lane_range(active.keys[a].begin - i, active.keys[a].end - i);
      const F32x16 masked = select(inside, load(scores + i), set1(-INFINITY));
      store(masked, scores + i);
      highest = max(highest, masked);
    }
    state.tile_m[active.row[a]] = reduce_max(highest);
  }
}

/// m' = max(m, tile_m); factor = e^(m - m'); l = factor l. Lanes are rows; a row without keys here gets factor 1 and
/// keeps all.
static void raise_max(const AttendState& state) {
  const F32x16 old_m = load(state.m), new_m = max(old_m, load(state.tile_m));
  const F32x16 factor = exp(sub(old_m, finite_max(new_m)));
  store(new_m, state.m);
  store(factor, state.factor);
  store(mul(load(state.l), factor), state.l);
}

/// p = e^(s - m); l += sum p; z = factor z.
static void exponentiate(const ActiveRows& active, const AttendState& state) {
  for (int64_t a = 0; a < active.n; ++a) {
    const int64_t row = active.row[a];
    float* probs = state.probs + a * kAttendTile;
    const F32x16 m = finite_max(set1(state.m[row]));
    F32x16 sum = zero();
    for (int64_t i = 0; i < kAttendTile; i += kPanelRows) {
      const F32x16 p = exp(sub(load(probs + i), m));
      store(p, probs + i);
      sum = add(sum, p);
    }
    state.l[row] += reduce_add(sum);
    const float factor = state.factor[row];
    float* z = state.z + row * state.z_stride;
    for (int64_t i = 0; factor != 1.0F && i < state.z_stride; i += kPanelRows) {
      store(mul(load(z + i), set1(factor)), z + i);
    }
  }
}

/// z += p V for the active rows from a on, kRows of them: together over the keys that all attend, each alone before and
/// after, so a row never touches the value of a key outside its own.
template <CacheType kType, int kRows>
static void add_values(const AttendArgs& args, const Tile& tile, const ActiveRows& active, int64_t a,
                       const AttendState& state) {
  const float* probs = state.probs + a * kAttendTile;
  const KeyRange* keys = active.keys + a;
  float* z[kRows];
  KeyRange common = keys[0];
  for (int r = 0; r < kRows; ++r) {
    z[r] = state.z + active.row[a + r] * state.z_stride;
    common = {std::max(common.begin, keys[r].begin), std::min(common.end, keys[r].end)};
  }
  if (common.begin >= common.end) common = {kAttendTile, kAttendTile};
  const auto alone = [&](int r, KeyRange part) {
    if (part.begin < part.end) value_rows<kType, 1>(args.kv, tile, part, probs + r * kAttendTile, z + r);
  };
  for (int r = 0; r < kRows; ++r) alone(r, {keys[r].begin, std::min(keys[r].end, common.begin)});
  if (common.begin < common.end) value_rows<kType, kRows>(args.kv, tile, common, probs, z);
  for (int r = 0; r < kRows; ++r) alone(r, {common.end, keys[r].end});
}

template <CacheType kType>
static void score_active(const AttendArgs& args, const Tile& tile, const ActiveRows& active, float* scores) {
  const float* q[kAttendRows];
  for (int64_t a = 0; a < active.n; ++a) q[a] = args.rows[active.row[a]].q;
  for (int64_t a = 0; a < active.n; a += kBlockRows) {
    with_constant<kBlockRows>(active.n - a, [&](auto n) {
      score_rows<kType, decltype(n)::value>(args, tile, q + a, scores + a * kAttendTile);
    });
  }
}

template <CacheType kType>
static void attend_tile(const AttendArgs& args, int64_t tile_pos, const AttendState& state) {
  const ActiveRows active = rows_in(args, tile_pos, kAttendTile);
  if (active.n == 0) return;
  const KeyRange used = span_of(active);
  const Tile tile = find_tile<kType>(args.kv, tile_pos, {tile_pos + used.begin, tile_pos + used.end});
  score_active<kType>(args, tile, active, state.probs);
  for (int64_t a = 0; a < active.n; ++a) {
    cap_and_bias(args, args.rows[active.row[a]], tile_pos, state.probs + a * kAttendTile);
  }
  mask_scores(active, state);
  raise_max(state);
  exponentiate(active, state);
  for (int64_t a = 0; a < active.n; a += kBlockRows) {
    with_constant<kBlockRows>(active.n - a,
                              [&](auto n) { add_values<kType, decltype(n)::value>(args, tile, active, a, state); });
  }
}

/// Adds the span's (m, l, z) to the totals; the total z is the caller's output row.
static void combine_span(const AttendArgs& args, const ActiveRows& active, const AttendState& state) {
  const F32x16 total_m = load(state.total_m), span_m = load(state.m), new_m = max(total_m, span_m);
  const F32x16 factor = exp(sub(total_m, finite_max(new_m))), gain = exp(sub(span_m, finite_max(new_m)));
  store(new_m, state.total_m);
  store(add(mul(load(state.total_l), factor), mul(load(state.l), gain)), state.total_l);
  store(factor, state.factor);
  store(gain, state.gain);
  for (int64_t a = 0; a < active.n; ++a) {
    const int64_t row = active.row[a];
    const F32x16 old_factor = set1(state.factor[row]), new_factor = set1(state.gain[row]);
    const float* z = state.z + row * state.z_stride;
    float* total = args.rows[row].z;
    for_each_vector(args.kv.d_head, [&](int64_t i, int64_t n_lanes) {
      const F32x16 older = mul(load_partial(total + i, n_lanes), old_factor);
      store_partial(add(older, mul(load(z + i), new_factor)), total + i, n_lanes);
    });
  }
}

template <CacheType kType>
static void attend_span(const AttendArgs& args, int64_t span_pos, const AttendState& state) {
  const ActiveRows active = rows_in(args, span_pos, kAttendSpan);
  if (active.n == 0) return;
  store(set1(-INFINITY), state.m);
  store(zero(), state.l);
  for (int64_t a = 0; a < active.n; ++a) {
    float* z = state.z + active.row[a] * state.z_stride;
    for (int64_t i = 0; i < state.z_stride; i += kPanelRows) store(zero(), z + i);
  }
  const KeyRange used = span_of(active);
  for (int64_t pos = used.begin / kAttendTile * kAttendTile; pos < used.end; pos += kAttendTile) {
    attend_tile<kType>(args, span_pos + pos, state);
  }
  combine_span(args, active, state);
}

/// z / l and m + log l; a row without keys keeps z = 0 and gets -inf.
static void finish_row(const AttendArgs& args, int64_t r, const AttendState& state) {
  const AttendRow& row = args.rows[r];
  if (row.first_pos > row.last_pos) {
    *row.lse = -INFINITY;
    return;
  }
  const float l = state.total_l[r];
  *row.lse = state.total_m[r] + std::log(l);
  for_each_vector(args.kv.d_head, [&](int64_t i, int64_t n_lanes) {
    store_partial(div(load_partial(row.z + i, n_lanes), set1(l)), row.z + i, n_lanes);
  });
}

template <CacheType kType>
static void attend(const AttendArgs& args) noexcept {
  VITRO_DCHECK(args.n_rows >= 1 && args.n_rows <= kAttendRows && args.kv.page_size % kChunkKeys == 0);
  const AttendState state = split_scratch(args);
  store(set1(-INFINITY), state.total_m);
  store(zero(), state.total_l);
  KeyRange all{INT64_MAX, 0};
  for (int64_t r = 0; r < args.n_rows; ++r) {
    const AttendRow& row = args.rows[r];
    for_each_vector(args.kv.d_head, [&](int64_t i, int64_t n) { store_partial(zero(), row.z + i, n); });
    if (row.first_pos <= row.last_pos) all = {std::min(all.begin, row.first_pos), std::max(all.end, row.last_pos + 1)};
  }
  for (int64_t pos = all.begin / kAttendSpan * kAttendSpan; pos < all.end; pos += kAttendSpan) {
    attend_span<kType>(args, pos, state);
  }
  for (int64_t r = 0; r < args.n_rows; ++r) finish_row(args, r, state);
}

/// The scores are those of attend, by the same code, so exp(score - lse) is exact up to the rounding of lse.
template <CacheType kType>
static void attend_probs(const AttendProbsArgs& args) noexcept {
  if (args.row.first_pos > args.row.last_pos) return;
  const AttendArgs one_row{.kv = args.kv, .rows = &args.row, .n_rows = 1, .scale = args.scale, .softcap = args.softcap};
  const F32x16 lse = set1(*args.row.lse);
  const int64_t first_tile = args.row.first_pos / kAttendTile * kAttendTile;
  for (int64_t pos = first_tile; pos <= args.row.last_pos; pos += kAttendTile) {
    const ActiveRows active = rows_in(one_row, pos, kAttendTile);
    const KeyRange keys = active.keys[0];
    float scores[kAttendTile];
    const Tile tile = find_tile<kType>(args.kv, pos, {pos + keys.begin, pos + keys.end});
    score_rows<kType, 1>(one_row, tile, &args.row.q, scores);
    cap_and_bias(one_row, args.row, pos, scores);
    float* probs = args.probs + (pos + keys.begin - args.row.first_pos);
    for_each_vector(keys.end - keys.begin, [&](int64_t i, int64_t n_lanes) {
      store_partial(exp(sub(load_partial(scores + keys.begin + i, n_lanes), lse)), probs + i, n_lanes);
    });
  }
}

}  // namespace vitro::VITRO_ISA_NS
