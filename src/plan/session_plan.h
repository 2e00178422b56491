// SessionPlan: the memory that running a model takes, laid out before anything is allocated. What it says is what a
// session allocates.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "cache/kv_cache.h"
#include "model/activations.h"
#include "model/config.h"
#include "plan/item.h"

namespace vitro {

/// What a user wants to run.
struct SessionShape {
  int64_t n_ctx = 0;  ///< positions a sequence may have
  int64_t n_sequences = 1;
  int64_t n_batch = 256;  ///< rows a pass takes at most; longer prompts go in chunks
  int64_t n_logits = 1;   ///< rows of logits a pass gives at most
  int64_t page_size = 16;
  CacheType cache_type = CacheType::kF16;
  /// Layers that attend a window keep no more of the cache than that: less memory, but a sequence can then be cut or
  /// shared without computing anew only where its last window is still there.
  bool keeps_only_windows = false;
  int n_threads = 1;
};

/// Bytes of a session by owner: all that it asks the system for.
struct SessionBytes {
  int64_t cache_bytes = 0;         ///< keys and values, all pages
  int64_t activation_bytes = 0;    ///< the arena, lifetimes shared
  int64_t page_table_bytes = 0;    ///< pages of each sequence, owners of each page, places of the layers
  int64_t attend_table_bytes = 0;  ///< where attention finds the heads of each sequence
  int64_t sequence_bytes = 0;      ///< what each sequence remembers: its ids, its rotary frequencies
  int64_t batch_bytes = 0;         ///< ids and rows of a pass

  int64_t n_bytes() const;
  friend bool operator==(const SessionBytes&, const SessionBytes&) = default;
};

struct SessionPlan : SessionBytes {
  SessionShape shape;
  BatchLimits limits;
  std::array<ActivationSlot, kNActs> slots;
  std::array<int64_t, kNActs> offsets{};  ///< of each activation in the arena
  KvCacheSpec cache;
};

/// Of one sequence beside its ids and frequencies: the record of generate/session.h, which is held against it.
inline constexpr int64_t kSequenceRecordBytes = 72;

/// A part for each owner, under the same names for what is planned and what is held; the tables are all but cache and
/// activations.
std::vector<PlanItem> session_items(const SessionBytes& bytes);
std::vector<PlanItem> session_table_items(const SessionBytes& bytes);

/// Positions that the model can tell apart: as far as learned ones reach, or the engine's limit.
int64_t n_reachable(const ModelConfig& config);

/// Pure. InvalidArgument for sizes below 1, page sizes that are not multiples of 8, a context longer than learned
/// positions reach, or a cache type that does not fit the heads.
Result<SessionPlan> plan_session(const ModelConfig& config, const SessionShape& shape);

}  // namespace vitro
