// Attention over cached keys and values: the maths only, no weights, no cache policy. Memory O(n): online softmax over
// fixed tiles.
#pragma once

#include <cstdint>
#include <span>

#include "ops/context.h"
#include "tensor/view.h"

namespace vitro {

/// What one layer's attention looks at.
struct AttendShape {
  int64_t n_head = 0;
  int64_t n_kv_head = 0;  ///< query head h reads KV head h / (n_head / n_kv_head)
  int64_t d_head = 0;
  int64_t window = 0;  ///< keys with q_pos - k_pos < window; 0: all earlier keys
  float scale = 1;
  /// First key that position `pos` sees; the last is pos itself (causal).
  int64_t first_key(int64_t pos) const { return window > 0 && pos >= window ? pos - window + 1 : 0; }
};

/// Rows of one sequence with the cache of its KV heads.
struct AttendSequence {
  int64_t first_row = 0;
  int64_t n_rows = 0;
  int64_t first_pos = 0;
  std::span<const KvHead> heads;  ///< [n_kv_head]
};

/// What attention writes: the weighted values and, for recomputing any part of the map, the log-sum-exp of each row's
/// scores.
struct AttendOut {
  Rows z;    ///< [n_tokens, n_head * d_head]
  Rows lse;  ///< [n_tokens, n_head]
};

/// z[t, h] = sum_s softmax_s(scale q[t, h] . K[s, g]) V[s, g];  lse[t, h] = log sum_s exp(score).
///   q [n_tokens, n_head * d_head]; scratch [n_threads, attend_scratch_floats(d_head)]
/// Work items are (sequence, block of rows, KV head); the result does not depend on how they are cut.
void attend(const AttendShape& shape, std::span<const AttendSequence> sequences, ConstRows q, const AttendOut& out,
            Rows scratch, OpContext& ctx);

}  // namespace vitro
