// TokenBatch: all work is one axis of token rows. Prefill, chunks of a prompt, single steps and many sequences at once
// are the same call with other tables.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cache/kv_cache.h"

namespace vitro {

/// Rotary positions as a sequence uses them: inverse wavelengths of each pair, and the multiplier on cosines and sines.
struct Rotary {
  std::vector<double> frequencies;
  double attention_factor = 1.0;
  friend bool operator==(const Rotary&, const Rotary&) = default;
};

/// Consecutive rows of one sequence: rows [first_row, first_row + n_rows) hold positions first_pos, first_pos + 1, ...
/// of the cache.
struct SequenceRows {
  SequenceId sequence = 0;
  int64_t first_row = 0;
  int64_t n_rows = 0;
  int64_t first_pos = 0;  ///< place in the cache
  int64_t pos_shift = 0;  ///< added where a place becomes a position (rotary, learned, sinusoidal)
  /// By rotary kind (Model::rope_kinds). The same for all rows that a sequence has in the cache, because some kinds
  /// depend on the length and cached keys keep the angles they were stored with.
  std::span<const Rotary> rotary;
};

/// One forward pass: token ids of every row, whose rows they are, and which rows need logits (ascending).
/// Views: the arrays belong to the caller and outlive the pass.
struct TokenBatch {
  std::span<const int32_t> ids;             ///< [n_tokens]
  std::span<const SequenceRows> sequences;  ///< cover the rows in order, without gaps
  std::span<const int32_t> logit_rows;      ///< [n_logits]

  int64_t n_tokens() const { return static_cast<int64_t>(ids.size()); }
  int64_t n_logits() const { return static_cast<int64_t>(logit_rows.size()); }
};

}  // namespace vitro
