#include "plan/session_plan.h"

#include <algorithm>

#include "plan/liveness.h"

namespace vitro {
namespace {

Status check_shape(const ModelConfig& config, const SessionShape& shape) {
  if (std::min({shape.n_ctx, shape.n_sequences, shape.n_batch, shape.n_logits, int64_t{shape.n_threads}}) < 1) {
    return fail(ErrorCode::kInvalidArgument,
                "context {}, sequences {}, batch {}, logit rows {}, threads {}: each must be at least 1", shape.n_ctx,
                shape.n_sequences, shape.n_batch, shape.n_logits, shape.n_threads);
  }
  VITRO_TRY(check_page_size(shape.page_size));
  constexpr int64_t kMaxRows = int64_t{1} << 20;  // of a pass, and of sequences: far above any use, far below overflow
  if (std::max({shape.n_batch, shape.n_logits, shape.n_sequences}) > kMaxRows) {
    return fail(ErrorCode::kInvalidArgument, "batch {}, logit rows {}, sequences {}: at most {} each", shape.n_batch,
                shape.n_logits, shape.n_sequences, kMaxRows);
  }
  const int64_t n_reach =
      config.position == PositionKind::kLearned ? config.n_position_rows - config.position_offset : kMaxContext;
  if (shape.n_ctx > n_reach) {
    return fail(ErrorCode::kInvalidArgument, "context {}: this model's positions end at {}; ask for at most that",
                shape.n_ctx, n_reach);
  }
  return {};
}

KvCacheSpec cache_spec(const ModelConfig& config, const SessionShape& shape) {
  KvCacheSpec spec;
  for (const BlockSpec& block : config.blocks) spec.layers.push_back({block.attn.n_kv_head, block.attn.d_head});
  spec.page_size = shape.page_size;
  spec.n_pages = shape.n_sequences * pages_for(shape.n_ctx, shape.page_size);
  spec.n_sequences = shape.n_sequences;
  return spec;
}

}  // namespace

Result<SessionPlan> plan_session(const ModelConfig& config, const SessionShape& shape) {
  VITRO_TRY(check_shape(config, shape));
  SessionPlan plan;
  plan.shape = shape;
  plan.limits = {shape.n_batch, shape.n_logits, shape.n_sequences, shape.n_threads, shape.n_ctx};
  plan.slots = activation_slots(config, plan.limits);
  std::array<Lifetime, kNActs> lifetimes;
  std::transform(plan.slots.begin(), plan.slots.end(), lifetimes.begin(), [](const ActivationSlot& slot) {
    return Lifetime{slot.n_bytes(), static_cast<int>(slot.first), static_cast<int>(slot.last)};
  });
  const Placement placement = place_buffers(lifetimes);
  std::copy(placement.offsets.begin(), placement.offsets.end(), plan.offsets.begin());
  plan.activation_bytes = placement.n_bytes;
  plan.cache = cache_spec(config, shape);
  VITRO_TRY_ASSIGN(plan.cache_bytes, kv_cache_bytes(plan.cache));
  return plan;
}

}  // namespace vitro
