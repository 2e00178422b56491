// InferencePlan: the memory of running a model, by owner, before anything is loaded: weights, cache, activations at
// their peak, logits, ids and tables.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/config.h"
#include "plan/cache_plan.h"
#include "plan/item.h"
#include "plan/session_plan.h"
#include "plan/weights_plan.h"

namespace vitro {

/// Whose allocation is planned.
enum class EngineKind : uint8_t {
  kVitro,  ///< this engine on a CPU: weights in panels, float32 vectors and activations; exact for what it runs
  kHalf    ///< an engine on a GPU that keeps all in the weights' type, activations in 16 bits, attention in tiles
};

struct InferenceShape {
  SessionShape session;  ///< context, sequences, batch, cache type, page size, threads
  EngineKind engine = EngineKind::kVitro;
  int64_t n_source = 0;             ///< positions of the source of an encoder-decoder
  bool is_latent_expanded = false;  ///< MLA: the cache has K and V of every head instead of the latent vector
};

struct InferencePlan {
  PlanItem memory = {};  ///< parts: weights, cache, activations, ...; amount: all bytes
  WeightsPlan weights = {};
  int64_t cache_bytes_per_token = 0;
  std::string_view peak_step = {};  ///< moment of a pass with the most live activations, and the largest buffer then
  std::string peak_buffer = {};
  int64_t n_bytes() const { return memory.amount; }
};

/// Pure. Rows of a decoder pass in batches, those of encoders all at once. What this engine cannot run (a knob of
/// check_runnable, a format of weights) is estimated in all parts. Errors of plan_session where the engine runs the
/// model; InvalidArgument for sizes that do not fit.
Result<InferencePlan> plan_inference(const ModelConfig& config, const WeightsPlan& weights,
                                     const InferenceShape& shape);

/// Attention of one layer and sequence of n positions, all heads: the n x n scores, n_head x n x n x element_bytes, and
/// what tiles need in their place, output rows and a float32 log-sum-exp a row and head (Dao et al. 2022, arXiv
/// 2205.14135).
struct AttentionMemory {
  PlanItem matrix, output, log_sum_exp;
  int64_t tiled_bytes() const;
};
AttentionMemory attention_memory(const AttentionSpec& attn, int64_t n, int64_t element_bytes);

}  // namespace vitro
