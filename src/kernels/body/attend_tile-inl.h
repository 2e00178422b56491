// The two products of attention inside one tile of kAttendTile keys: scores = q K^T and z += probs V. Both are blocked
// in registers over a few rows at a time, so that one load of K or V serves them all; the block's shape never changes
// the order of a sum: a score is a sequential sum over d_head (lanes are keys), a z is a sequential sum over the keys
// (lanes are columns of d_head).
namespace vitro::VITRO_ISA_NS {

/// Page sizes are multiples of eight, so eight keys from an aligned position lie in one page.
inline constexpr int64_t kChunkKeys = 8;
inline constexpr int64_t kTileChunks = kAttendTile / kChunkKeys;
inline constexpr int kTileVectors = static_cast<int>(kAttendTile / kPanelRows);

/// Rows that share the loads of K and V, and the vectors that a block then has accumulators for.
inline constexpr int kBlockRows = kLaneAccumulators >= 16 ? 4 : 2;
constexpr int block_vectors(int n_rows) {
  return kLaneAccumulators / n_rows >= kTileVectors ? kTileVectors : kLaneAccumulators / n_rows;
}

struct KeyRange {
  int64_t begin = 0;
  int64_t end = 0;  ///< one past the last
};

/// Where the chunks of a tile lie: keys[c] is element 0 of d_head of the chunk's first key, values[c] its first value.
struct Tile {
  const float* keys[kTileChunks];
  const float* values[kTileChunks];
};

/// Whether sixteen keys from an aligned position lie in one page too; the tile's chunks then come in whole pairs.
VITRO_LANE bool has_whole_vectors(const KvHead& kv) { return kv.page_size % kPanelRows == 0; }

/// Finds the chunks of the tile at tile_pos. Only pages that hold `used` positions exist for us: a chunk outside them
/// gets the address of the nearest chunk inside; what is read there is masked or skipped.
static Tile find_tile(const KvHead& kv, int64_t tile_pos, KeyRange used) {
  Tile tile;
  const int64_t unit = has_whole_vectors(kv) ? kPanelRows : kChunkKeys;
  const int64_t first = used.begin / unit * unit, last = (used.end - 1) / kChunkKeys * kChunkKeys;
  int64_t page = first / kv.page_size, column = first % kv.page_size;
  for (int64_t c = 0; c < kTileChunks; ++c) {
    const int64_t base = kv.page_ids[page] * kv.page_stride;
    tile.keys[c] = reinterpret_cast<const float*>(kv.k_base + base) + column;
    tile.values[c] = reinterpret_cast<const float*>(kv.v_base + base) + column * kv.d_head;
    const int64_t next = tile_pos + (c + 1) * kChunkKeys;
    if (next <= first || next > last) continue;
    column += kChunkKeys;
    if (column == kv.page_size) column = 0, ++page;
  }
  return tile;
}

/// f(std::integral_constant<int, n>), 1 <= n <= kMax: a loop bound that the compiler can unroll by.
template <int kMax, class F>
VITRO_LANE void with_constant(int64_t n, F f) {
  if constexpr (kMax > 1) {
    if (n < kMax) return with_constant<kMax - 1>(n, f);
  }
  f(std::integral_constant<int, kMax>{});
}

/// The keys of vector v of the tile at one index of d_head. Where pages hold whole vectors it is one load, else two
/// halves.
template <bool kIsWhole>
VITRO_LANE F32x16 load_keys(const Tile& tile, int v, int64_t offset) {
  if constexpr (kIsWhole) return load(tile.keys[2 * v] + offset);
  return load_halves(tile.keys[2 * v] + offset, tile.keys[2 * v + 1] + offset);
}

/// scores[r][key] = scale * sum_i q[r][i] K[key, i] for kVectors vectors of keys from vector v0 on; rows of scores are
/// kAttendTile apart.
template <int kRows, int kVectors, bool kIsWhole>
VITRO_LANE void score_block(const AttendArgs& args, const Tile& tile, const float* const* q, int v0, float* scores) {
  const float* q_row[kRows];
  for (int r = 0; r < kRows; ++r) q_row[r] = q[r];
  F32x16 sum[kRows][kVectors];
  for (auto& row : sum) {
    for (F32x16& s : row) s = zero();
  }
  for (int64_t i = 0; i < args.kv.d_head; ++i) {
    F32x16 keys[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      keys[v] = load_keys<kIsWhole>(tile, v0 + v, i * args.kv.page_size);
      if (kRows > 1) keep_in_register(keys[v]);
    }
    for (int r = 0; r < kRows; ++r) {
      const F32x16 q_i = set1(q_row[r][i]);
      for (int v = 0; v < kVectors; ++v) sum[r][v] = fma(q_i, keys[v], sum[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      store(mul(sum[r][v], set1(args.scale)), scores + r * kAttendTile + (v0 + v) * kPanelRows);
    }
  }
}

/// The scores of kRows rows with all keys of the tile. Not inlined: a function of its own has all registers for the
/// block.
template <int kRows>
__attribute__((noinline)) static void score_rows(const AttendArgs& args, const Tile& tile, const float* const* q,
                                                 float* scores) {
  constexpr int kVectors = block_vectors(kRows);
  const bool is_whole = has_whole_vectors(args.kv);
  for (int v = 0; v < kTileVectors; v += kVectors) {
    if (is_whole) {
      score_block<kRows, kVectors, true>(args, tile, q, v, scores);
    } else {
      score_block<kRows, kVectors, false>(args, tile, q, v, scores);
    }
  }
}

/// Columns of z that a block works on: n_lanes of the last vector count, the others are whole.
struct ZColumns {
  int64_t first = 0;
  int64_t n_lanes = 0;
};

/// z[r][column] += sum over keys, in order, of probs[r][key] V[key, column], for kVectors vectors of columns.
template <int kRows, int kVectors>
VITRO_LANE void value_block(const KvHead& kv, const Tile& tile, KeyRange keys, ZColumns columns, const float* probs,
                            float* const* z) {
  F32x16 sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sum[r][v] = load(z[r] + columns.first + v * kPanelRows);
  }
  for (int64_t key = keys.begin; key < keys.end;) {
    const float* value = tile.values[key / kChunkKeys] + (key % kChunkKeys) * kv.d_head + columns.first;
    const int64_t chunk_end = std::min(keys.end, (key / kChunkKeys + 1) * kChunkKeys);
    for (; key < chunk_end; ++key, value += kv.d_head) {
      F32x16 values[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        values[v] = load_partial(value + v * kPanelRows, v + 1 < kVectors ? kPanelRows : columns.n_lanes);
        if (kRows > 1) keep_in_register(values[v]);
      }
      for (int r = 0; r < kRows; ++r) {
        const F32x16 prob = set1(probs[r * kAttendTile + key]);
        for (int v = 0; v < kVectors; ++v) sum[r][v] = fma(prob, values[v], sum[r][v]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) store(sum[r][v], z[r] + columns.first + v * kPanelRows);
  }
}

/// z of kRows rows over the same keys, all columns. z rows are padded to whole vectors; V is not, so its last vector
/// may be partial.
template <int kRows>
__attribute__((noinline)) static void value_rows(const KvHead& kv, const Tile& tile, KeyRange keys, const float* probs,
                                                 float* const* z) {
  constexpr int kVectors = block_vectors(kRows);
  int64_t first = 0;
  for (; first + kVectors * kPanelRows <= kv.d_head; first += kVectors * kPanelRows) {
    value_block<kRows, kVectors>(kv, tile, keys, {first, kPanelRows}, probs, z);
  }
  for (; first < kv.d_head; first += kPanelRows) {
    value_block<kRows, 1>(kv, tile, keys, {first, std::min(kPanelRows, kv.d_head - first)}, probs, z);
  }
}

}  // namespace vitro::VITRO_ISA_NS
