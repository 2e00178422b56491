// The matmul algorithm (contract: MatmulArgs in kernels/table.h), once for all instruction sets and weight types. Lanes
// are weight rows.
//
// One token: each panel is one stream; columns are decoded in registers, two runs of columns are summed side by side.
//
// More tokens: a chunk of columns at a time. x is copied so that the tokens of a tile lie together; a panel's columns
// are decoded once into a small buffer; tiles of up to kTokenTile tokens stream over it. Between chunks the totals wait
// in y.
//
// Either way an output is the same chain of operations: runs of kSumBlock columns from zero, runs added in order, then
// the bias. kTokenTile comes from the ISA file: as many tokens as the registers hold sums for.

namespace vitro::VITRO_ISA_NS {
namespace {

inline constexpr int64_t kGroupTokens = 128;     ///< tokens that share one decoding of the weights
inline constexpr int64_t kCopyFloats = 32768;    ///< of x, copied for a group: 128 KiB, in the second-level cache
inline constexpr int64_t kDecodedColumns = 256;  ///< 16 KiB of decoded weights, in the first-level cache; whole blocks

VITRO_LANE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/// total + the sums of kRuns runs, in order. x begins at the first of them.
template <DType kType, int kPhase, int kRuns>
VITRO_RUN F32x16 add_runs(F32x16 total, const std::byte* panel, int64_t run, const float* x, int64_t width) {
  F32x16 sums[kRuns];
  unrolled<kRuns>([&]<int b>() VITRO_LAMBDA { sums[b] = zero(); });
  visit_runs<kType, kPhase, kRuns>(panel, run, width, [&](int64_t k, int b, F32x16 w) VITRO_LAMBDA {
    sums[b] = fma(w, set1(x[b * kSumBlock + k]), sums[b]);
  });
  unrolled<kRuns>([&]<int b>() VITRO_LAMBDA { total = add(total, sums[b]); });
  return total;
}

/// Sixteen rows times one token, without the bias.
template <DType kType>
VITRO_LANE F32x16 panel_dot(const std::byte* panel, const float* x, int64_t n_cols) {
  using C = Codec<kType>;
  constexpr int kRuns = C::kIsFloat ? 1 : 2;  // floats are bound by memory, and by one stream best
  constexpr int kStep = C::kPhases > kRuns ? C::kPhases : kRuns;
  F32x16 total = zero();
  int64_t run = 0;
  for (; (run + kStep) * kSumBlock <= n_cols; run += kStep) {
    unrolled<kStep / kRuns>([&]<int i>() VITRO_LAMBDA {
      const int64_t first = run + kRuns * i;
      total = add_runs<kType, kRuns * i, kRuns>(total, panel, first, x + first * kSumBlock, kSumBlock);
    });
  }
  if constexpr (C::kPhases == 1) {
    const int64_t first = run * kSumBlock;
    if (first < n_cols) total = add_runs<kType, 0, 1>(total, panel, run, x + first, least(kSumBlock, n_cols - first));
  }
  return total;
}

template <DType kType>
void one_token(const MatmulArgs& args) {
  const int64_t stride = panel_bytes(kType, args.n_cols);
  const std::byte* panel = args.panels;
  for (int64_t row = 0; row < args.n_rows; row += kPanelRows, panel += stride) {
    const int64_t n = args.n_rows - row;
    F32x16 total = panel_dot<kType>(panel, args.x, args.n_cols);
    if (args.bias != nullptr) total = add(total, load_partial(args.bias + row, n));
    store_partial(total, args.y + row, n);
  }
}

/// Tokens first .. first + count - 1 of a call, cut into tiles that differ by at most one token.
struct Group {
  int64_t first, count;

  VITRO_LANE int64_t n_tiles() const { return (count + kTokenTile - 1) / kTokenTile; }
  /// Token of the group at which tile i begins.
  VITRO_LANE int64_t tile_begin(int64_t i) const { return count * i / n_tiles(); }
};

/// Columns first .. first + count - 1 of a row.
struct Chunk {
  int64_t first, count;
};

/// copy[tile][column of the chunk][token of the tile] = x
inline void copy_inputs(const MatmulArgs& args, Group group, Chunk chunk, float* copy) {
  for (int64_t i = 0; i < group.n_tiles(); ++i) {
    const int64_t begin = group.tile_begin(i), n = group.tile_begin(i + 1) - begin;
    float* tile = copy + begin * chunk.count;
    for (int64_t t = 0; t < n; ++t) {
      const float* x = args.x + (group.first + begin + t) * args.x_stride + chunk.first;
      for (int64_t k = 0; k < chunk.count; ++k) tile[k * n + t] = x[k];
    }
  }
}

/// A run of a panel as float32 [kSumBlock][kPanelRows]. Not inlined: a function that holds several takes compilers
/// long.
template <DType kType, int kPhase>
__attribute__((noinline)) void decode_run(const std::byte* panel, int64_t run, int64_t width, float* out) {
  visit_runs<kType, kPhase, 1>(panel, run, width,
                               [&](int64_t k, int, F32x16 w) VITRO_LAMBDA { store(w, out + k * kPanelRows); });
}

/// Columns of a panel as float32 [count][kPanelRows]: decoded into the buffer, or where they lie if they are float32.
template <DType kType>
const float* decoded(const std::byte* panel, Chunk chunk, float* buffer) {
  if constexpr (kType == DType::kF32) return reinterpret_cast<const float*>(panel) + chunk.first * kPanelRows;
  static_assert(kDecodedColumns % block_layout(kType).columns == 0);
  constexpr int kPhases = Codec<kType>::kPhases;
  for (int64_t begin = 0; begin < chunk.count; begin += kPhases * kSumBlock) {
    unrolled<kPhases>([&]<int kPhase>() VITRO_LAMBDA {
      const int64_t first = begin + kPhase * kSumBlock;
      decode_run<kType, kPhase>(panel, (chunk.first + first) / kSumBlock, least(kSumBlock, chunk.count - first),
                                buffer + first * kPanelRows);
    });
  }
  return buffer;
}

/// totals[kTokens][kPanelRows] += the runs of n_cols columns; x [n_cols][kTokens] as copy_inputs made it.
template <int kTokens>
void tile_sums(const float* weights, int64_t n_cols, const float* x, float* totals) {
  for (int64_t begin = 0; begin < n_cols; begin += kSumBlock) {
    const int64_t end = least(n_cols, begin + kSumBlock);
    F32x16 sums[kTokens];
    unrolled<kTokens>([&]<int t>() VITRO_LAMBDA { sums[t] = zero(); });
    for (int64_t k = begin; k < end; ++k) {
      const F32x16 w = load(weights + k * kPanelRows);
      unrolled<kTokens>([&]<int t>() VITRO_LAMBDA { sums[t] = fma(w, set1(x[k * kTokens + t]), sums[t]); });
    }
    unrolled<kTokens>([&]<int t>() VITRO_LAMBDA {
      float* total = totals + t * kPanelRows;
      store(add(load(total), sums[t]), total);
    });
  }
}

using TileFn = void (*)(const float* weights, int64_t n_cols, const float* x, float* totals);
/// tile_sums for 1 .. kTokenTile tokens.
template <int... kIdx>
TileFn tile_fn(int64_t n_tokens, std::integer_sequence<int, kIdx...>) {
  static constexpr TileFn kFns[] = {tile_sums<kIdx + 1>...};
  return kFns[n_tokens - 1];
}

/// Adds a chunk of columns of one panel to its totals [tokens of the group][kPanelRows].
template <DType kType>
void panel_chunk(const std::byte* panel, Group group, Chunk chunk, const float* copy, float* totals) {
  alignas(64) float buffer[kDecodedColumns * kPanelRows];
  for (int64_t done = 0; done < chunk.count; done += kDecodedColumns) {
    const int64_t n_cols = least(kDecodedColumns, chunk.count - done);
    const float* weights = decoded<kType>(panel, {chunk.first + done, n_cols}, buffer);
    for (int64_t i = 0; i < group.n_tiles(); ++i) {
      const int64_t begin = group.tile_begin(i), n = group.tile_begin(i + 1) - begin;
      const TileFn tile = tile_fn(n, std::make_integer_sequence<int, kTokenTile>());
      tile(weights, n_cols, copy + begin * chunk.count + done * n, totals + begin * kPanelRows);
    }
  }
}

/// The totals of one panel as they stand in y, and back.
struct Totals {
  float* y;  ///< first row of the panel, first token of the group
  int64_t y_stride, n_rows, n_tokens;

  VITRO_LANE void clear(float* totals) const {
    for (int64_t t = 0; t < n_tokens; ++t) store(zero(), totals + t * kPanelRows);
  }
  VITRO_LANE void read(float* totals) const {
    for (int64_t t = 0; t < n_tokens; ++t) store(load_partial(y + t * y_stride, n_rows), totals + t * kPanelRows);
  }
  VITRO_LANE void write(const float* totals, F32x16 bias) const {
    for (int64_t t = 0; t < n_tokens; ++t) {
      store_partial(add(load(totals + t * kPanelRows), bias), y + t * y_stride, n_rows);
    }
  }
};

template <DType kType>
void many_tokens(const MatmulArgs& args, Group group) {
  alignas(64) float copy[kCopyFloats];
  alignas(64) float totals[kGroupTokens * kPanelRows];
  const int64_t stride = panel_bytes(kType, args.n_cols);
  const int64_t chunk_columns = kCopyFloats / group.count / kDecodedColumns * kDecodedColumns;
  for (int64_t first = 0; first < args.n_cols; first += chunk_columns) {
    const Chunk chunk = {first, least(chunk_columns, args.n_cols - first)};
    const bool is_last = first + chunk.count == args.n_cols;
    copy_inputs(args, group, chunk, copy);
    for (int64_t row = 0; row < args.n_rows; row += kPanelRows) {
      const int64_t n = args.n_rows - row;
      const Totals open = {args.y + group.first * args.y_stride + row, args.y_stride, n, group.count};
      if (first == 0) open.clear(totals);
      if (first > 0) open.read(totals);
      panel_chunk<kType>(args.panels + row / kPanelRows * stride, group, chunk, copy, totals);
      open.write(totals, is_last && args.bias != nullptr ? load_partial(args.bias + row, n) : zero());
    }
  }
}

template <DType kType>
void matmul(const MatmulArgs& args) noexcept {
  if (args.n_tokens == 1) return one_token<kType>(args);
  const int64_t n_groups = (args.n_tokens + kGroupTokens - 1) / kGroupTokens;
  for (int64_t i = 0; i < n_groups; ++i) {
    const int64_t begin = args.n_tokens * i / n_groups, end = args.n_tokens * (i + 1) / n_groups;
    many_tokens<kType>(args, {begin, end - begin});
  }
}

template <DType kType>
constexpr MatmulFn matmul_of() {
  if constexpr (block_layout(kType).columns > 0) return matmul<kType>;
  return nullptr;
}

}  // namespace
}  // namespace vitro::VITRO_ISA_NS
