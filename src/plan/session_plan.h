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
};

/// Pure. InvalidArgument for sizes below 1, page sizes that are not multiples of 8, or a context longer than learned
/// positions reach.
Result<SessionPlan> plan_session(const ModelConfig& config, const SessionShape& shape);

}  // namespace vitro
