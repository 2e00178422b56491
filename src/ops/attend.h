// Attention over cached keys and values: the maths only, no weights, no cache policy. Memory O(n): online softmax over
// fixed tiles.
#pragma once

#include <cstdint>
#include <span>

#include "ops/context.h"
#include "tensor/view.h"

namespace vitro {

/// Numbers added to scores, by head and distance (ALiBi) or by head and key (ALiBi as Falcon rounds it).
struct AttendBias {
  ConstRows table;  ///< [n_head, n_positions + kAttendTile]; empty: none. The last kAttendTile columns are never used
  bool is_relative = true;  ///< column n_positions - 1 - (q_pos - k_pos); false: column k_pos

  bool is_empty() const { return table.n_rows == 0; }
  /// AttendRow::bias of one head and query position.
  const float* row(int64_t head, int64_t q_pos) const;
};

/// What one layer's attention looks at.
struct AttendShape {
  int64_t n_head = 0;
  int64_t n_kv_head = 0;  ///< query head h reads KV head h / (n_head / n_kv_head)
  int64_t d_head = 0;
  int64_t window = 0;  ///< keys with q_pos - k_pos < window; 0: all earlier keys
  float scale = 1;
  float softcap = 0;  ///< 0: none
  CacheType cache_type = CacheType::kF32;
  AttendBias bias = {};
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

/// score = cap(scale q[t, h] . K[s, g]) + bias;  z[t, h] = sum_s softmax_s(score) V[s, g];  lse[t, h] = log sum_s
/// exp(score)
///   q [n_tokens, n_head * d_head]; scratch [n_threads, attend_scratch_floats(d_head)]
/// Work items are (sequence, block of rows, KV head); the result does not depend on how they are cut.
void attend(const AttendShape& shape, std::span<const AttendSequence> sequences, ConstRows q, const AttendOut& out,
            Rows scratch, OpContext& ctx);

}  // namespace vitro
