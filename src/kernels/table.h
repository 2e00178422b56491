// The contract of every kernel: raw loops over raw pointers, no allocation, no locks, no threads, no errors. One table
// of function pointers an instruction set; ops/ calls through it. The reference table (kernels/reference, plain loops,
// double accumulation) defines what each entry means and is the oracle of its tests.
//
// The order of sums. Within one table an output element is computed by the same operations in the same order however
// many rows, threads or columns the call has. Vector lanes are output elements (matmul) or fixed positions of a row
// (norms), never a function of the shape of the work; loop tails run the same code masked.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cache_type.h"
#include "tensor/dtype.h"
#include "tensor/panel.h"

namespace vitro {

/// Width of the lane type, and so weight rows in one panel: one AVX-512, two AVX2 or four SSE registers of float32.
inline constexpr int64_t kPanelRows = kRowsPerPanel;
/// Columns that a matmul sums in one run before adding the run to the total.
inline constexpr int64_t kSumBlock = 32;
/// Keys in an attention tile and in a span; both start at absolute position 0 (see attend).
inline constexpr int64_t kAttendTile = 64;
inline constexpr int64_t kAttendSpan = 512;
/// Rows that one attend call takes at most.
inline constexpr int64_t kAttendRows = 16;

/// y[t, r] = bias[r] + sum_k W[r, k] * x[t, k], for the rows of consecutive panels (tensor/panel.h).
///   For every weight type W[r, k] is the de-quantised float32, bit-equal to the gguf package, and the sum is the same
///   float32 sum: total = 0; for each run of kSumBlock columns in order: s = 0; for k in run, in order: s = fma(W[r,k],
///   x[t,k], s); total += s; y = total + bias. (Tables without FMA multiply, then add.) So a quantised matrix gives the
///   bits of its float32 copy. Scales must be finite, those of MXFP4 below 2^124.
struct MatmulArgs {
  const std::byte* panels = nullptr;  ///< first panel of the range, 64-byte aligned
  int64_t n_rows = 0;                 ///< output rows in the range; the last panel may be partly filled
  int64_t n_cols = 0;                 ///< reduction length, a multiple of the type's block
  const float* x = nullptr;           ///< [n_tokens, n_cols]
  int64_t x_stride = 0;
  int64_t n_tokens = 0;
  const float* bias = nullptr;  ///< [n_rows] of the range, or null
  float* y = nullptr;           ///< [n_tokens, n_rows] at the range's first row; must not alias x
  int64_t y_stride = 0;
};
using MatmulFn = void (*)(const MatmulArgs&) noexcept;

/// One row of n values:
///   RMSNorm    out[i] = x[i] * (gain[i] + gain_offset) / sqrt(mean(x^2) + eps)
///              (Zhang & Sennrich 2019, arXiv 1910.07467)
///   LayerNorm  out[i] = (x[i] - mean) / sqrt(mean((x - mean)^2) + eps) * gain[i] + bias[i]
///              (Ba et al. 2016, arXiv 1607.06450)
/// gain or bias null: 1 or 0. out may be x.
struct NormArgs {
  const float* x = nullptr;
  const float* gain = nullptr;
  const float* bias = nullptr;
  float gain_offset = 0;
  float eps = 0;
  int64_t n = 0;
  float* out = nullptr;
};

/// Rotary positions on one row of heads (Su et al. 2021, arXiv 2104.09864), in place. For pair i of n_pairs in a head:
///   (a, b) -> (a cos_i - b sin_i, b cos_i + a sin_i)
///   halves: a = x[i], b = x[i + n_pairs];  adjacent: a = x[2i], b = x[2i + 1]
/// Values from 2 * n_pairs on are left alone (partial rotary).
struct RopeArgs {
  float* x = nullptr;  ///< [n_head, d_head]
  int64_t n_head = 0;
  int64_t d_head = 0;
  int64_t n_pairs = 0;
  const float* cos = nullptr;  ///< [n_pairs], attention factor included
  const float* sin = nullptr;
  bool is_adjacent = false;
};

/// One query row of one head: reads q [d_head], attends keys first_pos..last_pos (both included; first_pos > last_pos:
/// none, z = 0, lse = -inf), writes z [d_head] and the log-sum-exp of its scores. No z may alias a q or another z: z
/// holds the running sum.
struct AttendRow {
  const float* q = nullptr;
  float* z = nullptr;
  float* lse = nullptr;
  int64_t first_pos = 0;
  int64_t last_pos = -1;
  /// bias[p] is added to the score of key p; null: none. Readable for every p of the tiles (kAttendTile) that the row
  /// touches.
  const float* bias = nullptr;
};

/// Where the keys and values of one sequence and one KV head lie, as elements of one CacheType. Position p is in page
/// page_ids[p / page_size], column p % page_size. With e bytes an element and page = page_ids[...] * page_stride:
///   key    element i   k_base + page + (i * page_size + column) * e          [d_head, page_size]: keys are contiguous
///   value  element i   v_base + page + (column * d_head + i) * e             [page_size, d_head]
///   key    scale b     k_scales + page + (b * page_size + column) * 2        [n_scales, page_size]
///   value  scale b     v_scales + page + (column * n_scales + b) * 2         [page_size, n_scales]
/// Scales are float16; scale b is that of elements [b * scale_block, (b + 1) * scale_block).
struct KvHead {
  const std::byte* k_base = nullptr;
  const std::byte* v_base = nullptr;
  const std::byte* k_scales = nullptr;  ///< null for types without scales
  const std::byte* v_scales = nullptr;
  const int32_t* page_ids = nullptr;
  int64_t page_stride = 0;  ///< bytes from page to page
  int64_t page_size = 0;    ///< positions a page, a multiple of 8
  int64_t d_head = 0;
  int64_t scale_block = 0;  ///< cache_scale_block(type, d_head)
};

/// Softmax attention of up to kAttendRows query rows over one KV head: online softmax (Milakov & Gimelshein 2018, arXiv
/// 1805.02867; Dao et al. 2022, arXiv 2205.14135).
///   score_p = cap(scale * sum_i q[i] K[p, i]) + bias[p];  cap(x) = c tanh(x / c), or x where softcap is 0
///   z = sum_p softmax(score)_p V[p];  lse = log sum_p exp(score_p)
/// K and V are the float32 that the stored elements stand for: a type gives the bits of kF32 on its rounded values.
/// Keys are taken in tiles of kAttendTile at absolute positions; kAttendSpan keys form a span with its own (max, sum,
/// z), spans are combined in order. So the result depends on neither page size, chunking, nor the other rows of the
/// call.
struct AttendArgs {
  KvHead kv;
  const AttendRow* rows = nullptr;
  int64_t n_rows = 0;  ///< 1..kAttendRows
  float scale = 1;
  float softcap = 0;
  float* scratch = nullptr;  ///< attend_scratch_floats(d_head) floats, 64-byte aligned
};
constexpr int64_t attend_scratch_floats(int64_t d_head) {
  return kAttendRows * (d_head + kPanelRows + kAttendTile + 8);
}

/// probs[p - first_pos] = exp(score_p - *row.lse) for the keys of one row: a row of the attention map, recomputed.
struct AttendProbsArgs {
  KvHead kv;
  AttendRow row;  ///< z unused
  float scale = 1;
  float softcap = 0;
  float* probs = nullptr;  ///< [last_pos - first_pos + 1]
};

/// Rounds one head's key or value of one position to a cache type: x [n] -> elements [n] and scales [n / scale_block],
/// both contiguous. Every table gives the same bytes.
///   float16, bfloat16   to nearest even; float16 makes infinity of magnitudes from 65520 on; NaN stays NaN
///   scaled types        step = max|x| / largest, in float32 (largest: 127 for int8, 448 for FP8);
///                       scale = float16(step); element = x * (1 / step), rounded: int8 to nearest, halves away from
///                       zero (all as GGUF's Q8_0), FP8 to nearest even
/// Where 1 / step is not finite (a block of zeros or of magnitudes below 1e-36) all elements are 0. A block with a NaN
/// or an infinity has scale NaN and elements 0, so that all of it reads as NaN. A step beyond float16 makes the scale
/// infinite.
struct EncodeArgs {
  const float* x = nullptr;
  int64_t n = 0;
  int64_t scale_block = 0;  ///< divides n; 0: no scales
  std::byte* elements = nullptr;
  std::byte* scales = nullptr;  ///< float16, 2-byte aligned
};

/// Element-wise functions of the feed-forward layer, over n contiguous values; out may be x.
///   silu x / (1 + e^-x);  gelu_tanh 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)));  gelu_erf 0.5 x (1 + erf(x / sqrt
///   2)); relu max(x, 0);  relu_squared max(x, 0)^2;  quick_gelu x / (1 + e^(-1.702 x))
enum class Activation : uint8_t { kSilu, kGeluTanh, kGeluErf, kRelu, kReluSquared, kQuickGelu };
inline constexpr int kNActivations = 6;

struct KernelTable {
  const char* name;  ///< "reference", "v2", "avx2", "avx512": what VITRO_ISA says

  /// By weight type, indexed by static_cast<int>(DType): kNMatmulTypes entries (kernels/matmul_tables.h), null where
  /// the type has no kernel (those of kPanelTypes have).
  const MatmulFn* matmul;

  void (*rms_norm)(const NormArgs&) noexcept;
  void (*layer_norm)(const NormArgs&) noexcept;
  void (*rope)(const RopeArgs&) noexcept;
  void (*attend[kNCacheTypes])(const AttendArgs&) noexcept;
  void (*attend_probs[kNCacheTypes])(const AttendProbsArgs&) noexcept;
  void (*encode[kNCacheTypes])(const EncodeArgs&) noexcept;
  /// out[i] = f(x[i])
  void (*activate[kNActivations])(const float* x, int64_t n, float* out) noexcept;
  /// out[i] = f(gate[i]) * up[i]
  void (*activate_gate[kNActivations])(const float* gate, const float* up, int64_t n, float* out) noexcept;
  /// out[i] = a[i] + b[i]
  void (*add)(const float* a, const float* b, int64_t n, float* out) noexcept;
  /// out[i] = x[i] * factor
  void (*scale)(const float* x, float factor, int64_t n, float* out) noexcept;
  /// out[i] = cap * tanh(x[i] / cap)
  void (*softcap)(const float* x, float cap, int64_t n, float* out) noexcept;
  /// out[i] = x[i] clamped to [-limit, limit]
  void (*clamp)(const float* x, float limit, int64_t n, float* out) noexcept;
  /// log sum_i exp(x[i]) of a row of logits, sums in double; -inf for n = 0.
  double (*log_sum_exp)(const float* x, int64_t n) noexcept;
};

/// Null if this build or this processor has no such table. `name` as in KernelTable::name.
const KernelTable* find_kernel_table(const char* name);
/// The best table of this processor.
const KernelTable& best_kernel_table();
/// Names of all tables that run here, best first, separated by ", ".
const char* available_kernel_tables();

}  // namespace vitro
