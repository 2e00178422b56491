// SessionPlan: the memory that running a model takes, laid out before anything is allocated. What it says is what a
// session allocates.
#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "cache/kv_cache.h"
#include "model/activations.h"
#include "model/config.h"

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

struct SessionPlan {
  SessionShape shape;
  BatchLimits limits;
  std::array<ActivationSlot, kNActs> slots;
  std::array<int64_t, kNActs> offsets{};  ///< of each activation in the arena
  int64_t activation_bytes = 0;           ///< the arena, lifetimes shared
  KvCacheSpec cache;
  int64_t cache_bytes = 0;
  int64_t id_bytes = 0;  ///< the ids that each sequence remembers

  int64_t n_bytes() const { return activation_bytes + cache_bytes + id_bytes; }
};

/// Positions that the model can tell apart: as far as learned ones reach, or the engine's limit.
int64_t n_reachable(const ModelConfig& config);

/// Pure. InvalidArgument for sizes below 1, page sizes that are not multiples of 8, a context longer than learned
/// positions reach, or a cache type that does not fit the heads.
Result<SessionPlan> plan_session(const ModelConfig& config, const SessionShape& shape);

}  // namespace vitro
