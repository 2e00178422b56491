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

/// Where the chunks of a tile lie: keys[c] is element 0 of d_head of the chunk's first key, values[c] its first value;
/// beside them their first scales, in types that have them.
struct Tile {
  const std::byte* keys[kTileChunks];
  const std::byte* values[kTileChunks];
  const std::byte* key_scales[kTileChunks];
  const std::byte* value_scales[kTileChunks];
};

/// Whether sixteen keys from an aligned position lie in one page too; the tile's chunks then come in whole pairs.
VITRO_LANE bool has_whole_vectors(const KvHead& kv) { return kv.page_size % kPanelRows == 0; }

/// Finds the chunks of the tile at tile_pos. Only pages that hold `used` positions exist for us: a chunk outside them
/// gets the address of the nearest chunk inside; what is read there is masked or skipped.
template <CacheType kType>
static Tile find_tile(const KvHead& kv, int64_t tile_pos, KeyRange used) {
  Tile tile;
  const int64_t unit = has_whole_vectors(kv) ? kPanelRows : kChunkKeys;
  const int64_t first = used.begin / unit * unit, last = (used.end - 1) / kChunkKeys * kChunkKeys;
  int64_t page = first / kv.page_size, column = first % kv.page_size;
  for (int64_t c = 0; c < kTileChunks; ++c) {
    const int64_t base = kv.page_ids[page] * kv.page_stride;
    tile.keys[c] = kv.k_base + base + column * kElementBytes<kType>;
    tile.values[c] = kv.v_base + base + column * kv.d_head * kElementBytes<kType>;
    if constexpr (kIsScaled<kType>) {
      tile.key_scales[c] = kv.k_scales + base + column * kScaleBytes;
      tile.value_scales[c] = kv.v_scales + base + column * cache_n_scales(kType, kv.d_head) * kScaleBytes;
    }
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

/// Sixteen elements for vector v of the tile, `offset` bytes into its chunks. Where pages hold whole vectors it is one
/// load, else two halves.
template <class Memory, bool kIsWhole>
VITRO_LANE auto load_chunks(const std::byte* const* chunks, int v, int64_t offset) {
  if constexpr (kIsWhole) {
    return Memory::load(chunks[2 * v] + offset);
  } else {
    return Memory::load_halves(chunks[2 * v] + offset, chunks[2 * v + 1] + offset);
  }
}

/// scores[r][key] = scale * sum_i q[r][i] K[key, i] for kVectors vectors of keys from vector v0 on; rows of scores are
/// kAttendTile apart.
template <CacheType kType, int kRows, int kVectors, bool kIsWhole>
VITRO_LANE void score_block(const AttendArgs& args, const Tile& tile, const float* const* q, int v0, float* scores) {
  using S = Stored<kType>;
  const int64_t d_head = args.kv.d_head, page_size = args.kv.page_size;
  const int64_t block = kIsScaled<kType> ? args.kv.scale_block : d_head;
  const float* q_row[kRows];
  for (int r = 0; r < kRows; ++r) q_row[r] = q[r];
  F32x16 sum[kRows][kVectors];
  for (auto& row : sum) {
    for (F32x16& s : row) s = zero();
  }
  for (int64_t begin = 0, b = 0; begin < d_head; begin += block, ++b) {
    [[maybe_unused]] F32x16 step[kVectors];
    if constexpr (kIsScaled<kType>) {
      for (int v = 0; v < kVectors; ++v) {
        const int64_t at = b * page_size * kScaleBytes;
        step[v] = in_units<kType>(widen_f16(load_chunks<WordMemory, kIsWhole>(tile.key_scales, v0 + v, at)));
      }
    }
    for (int64_t i = begin; i < begin + block; ++i) {
      F32x16 q_i[kRows];
      for (int r = 0; r < kRows; ++r) q_i[r] = set1(q_row[r][i]);
      for (int v = 0; v < kVectors; ++v) {
        const int64_t at = i * page_size * kElementBytes<kType>;
        F32x16 keys = S::widen(load_chunks<S, kIsWhole>(tile.keys, v0 + v, at));
        if constexpr (kIsScaled<kType>) keys = mul(keys, step[v]);
        if (kRows > 1) keep_in_register(keys);
        for (int r = 0; r < kRows; ++r) sum[r][v] = fma(q_i[r], keys, sum[r][v]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      store(mul(sum[r][v], set1(args.scale)), scores + r * kAttendTile + (v0 + v) * kPanelRows);
    }
  }
}

/// The products of kRows rows with all keys of the tile. Not inlined: a function of its own has all registers for the
/// block.
template <CacheType kType, int kRows>
__attribute__((noinline)) static void score_rows(const AttendArgs& args, const Tile& tile, const float* const* q,
                                                 float* scores) {
  constexpr int kVectors = block_vectors(kRows);
  const bool is_whole = has_whole_vectors(args.kv);
  for (int v = 0; v < kTileVectors; v += kVectors) {
    if (is_whole) {
      score_block<kType, kRows, kVectors, true>(args, tile, q, v, scores);
    } else {
      score_block<kType, kRows, kVectors, false>(args, tile, q, v, scores);
    }
  }
}

/// Columns of z that a block works on: n_lanes of the last vector count, the others are whole.
struct ZColumns {
  int64_t first = 0;
  int64_t n_lanes = 0;
};

/// What the elements of a key's value are multiplied by around one column.
template <CacheType kType>
VITRO_LANE F32x16 value_step(const std::byte* scales, int64_t column) {
  uint16_t bits;
  __builtin_memcpy(&bits, scales + column / kScaleColumns<kType> * kScaleBytes, sizeof(bits));
  return in_units<kType>(set1_f16(bits));
}

/// z[r][column] += sum over keys, in order, of probs[r][key] V[key, column], for kVectors vectors of columns.
template <CacheType kType, int kRows, int kVectors>
VITRO_LANE void value_block(const KvHead& kv, const Tile& tile, KeyRange keys, ZColumns columns, const float* probs,
                            float* const* z) {
  using S = Stored<kType>;
  const int64_t row_bytes = kv.d_head * kElementBytes<kType>;
  [[maybe_unused]] const int64_t scale_bytes = cache_n_scales(kType, kv.d_head) * kScaleBytes;
  F32x16 sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sum[r][v] = load(z[r] + columns.first + v * kPanelRows);
  }
  for (int64_t key = keys.begin; key < keys.end;) {
    const int64_t chunk = key / kChunkKeys, chunk_end = std::min(keys.end, (chunk + 1) * kChunkKeys);
    const std::byte* value = tile.values[chunk] + key % kChunkKeys * row_bytes + columns.first * kElementBytes<kType>;
    const std::byte* scales = nullptr;
    if constexpr (kIsScaled<kType>) scales = tile.value_scales[chunk] + key % kChunkKeys * scale_bytes;
    for (; key < chunk_end; ++key, value += row_bytes, scales += scale_bytes) {
      F32x16 prob[kRows];
      for (int r = 0; r < kRows; ++r) prob[r] = set1(probs[r * kAttendTile + key]);
      [[maybe_unused]] F32x16 step = zero();
      for (int v = 0; v < kVectors; ++v) {
        const int64_t n_lanes = v + 1 < kVectors ? kPanelRows : columns.n_lanes;
        F32x16 values = S::widen(S::load_partial(value + v * kPanelRows * kElementBytes<kType>, n_lanes));
        if constexpr (kIsScaled<kType>) {
          // Blocks of vectors begin where scales do, or are single.
          if (v * kPanelRows % kScaleColumns<kType> == 0)
            step = value_step<kType>(scales, columns.first + v * kPanelRows);
          values = mul(values, step);
        }
        if (kRows > 1) keep_in_register(values);
        for (int r = 0; r < kRows; ++r) sum[r][v] = fma(prob[r], values, sum[r][v]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) store(sum[r][v], z[r] + columns.first + v * kPanelRows);
  }
}

/// z of kRows rows over the same keys, all columns. z rows are padded to whole vectors; V is not, so its last vector
/// may be partial.
template <CacheType kType, int kRows>
__attribute__((noinline)) static void value_rows(const KvHead& kv, const Tile& tile, KeyRange keys, const float* probs,
                                                 float* const* z) {
  constexpr int kVectors = block_vectors(kRows);
  int64_t first = 0;
  for (; first + kVectors * kPanelRows <= kv.d_head; first += kVectors * kPanelRows) {
    value_block<kType, kRows, kVectors>(kv, tile, keys, {first, kPanelRows}, probs, z);
  }
  for (; first < kv.d_head; first += kPanelRows) {
    value_block<kType, kRows, 1>(kv, tile, keys, {first, std::min(kPanelRows, kv.d_head - first)}, probs, z);
  }
}

}  // namespace vitro::VITRO_ISA_NS
