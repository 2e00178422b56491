#include "plan/session_plan.h"

#include <algorithm>

#include "base/held_bytes.h"
#include "model/model.h"
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
  const int64_t n_reach = n_reachable(config);
  if (shape.n_ctx > n_reach) {
    return fail(ErrorCode::kInvalidArgument,
                "context {}: this model's positions end at {}; ask for at most that with --context", shape.n_ctx,
                n_reach);
  }
  return {};
}

// Positions that a layer must keep: its window, or 0 for all.
int64_t kept_window(const AttentionSpec& attn, const SessionShape& shape) {
  return shape.keeps_only_windows && attn.mask == MaskKind::kWindow ? attn.window : 0;
}

// One group for each distinct range that layers keep, in order of first use.
KvCacheSpec cache_spec(const ModelConfig& config, const SessionShape& shape) {
  KvCacheSpec spec;
  spec.layers.reserve(config.blocks.size());
  for (const BlockSpec& block : config.blocks) {
    const int64_t window = kept_window(block.attn, shape);
    const auto group = std::find_if(spec.groups.begin(), spec.groups.end(),
                                    [&](const PageGroupShape& other) { return other.window == window; });
    spec.layers.push_back({block.attn.n_kv_head, block.attn.d_head, group - spec.groups.begin()});
    if (group != spec.groups.end()) continue;
    const int64_t n_pages = window == 0 ? pages_for(shape.n_ctx, shape.page_size)
                                        : window_pages_for(shape.n_ctx, window, shape.n_batch, shape.page_size);
    spec.groups.push_back({window, shape.n_sequences * n_pages});
  }
  spec.groups.shrink_to_fit();
  spec.type = shape.cache_type;
  spec.page_size = shape.page_size;
  spec.n_positions = shape.n_ctx;
  spec.n_sequences = shape.n_sequences;
  return spec;
}

int64_t spec_bytes(const KvCacheSpec& spec) { return held_bytes(spec.layers) + held_bytes(spec.groups); }

// Ids of a pass, rows that logits are asked for (one for each sequence, or each row), whose rows they are.
int64_t batch_bytes(const SessionShape& shape) {
  const int64_t n_logit_rows = std::max(shape.n_batch, shape.n_sequences);
  return (shape.n_batch + n_logit_rows) * static_cast<int64_t>(sizeof(int32_t)) +
         shape.n_sequences * static_cast<int64_t>(sizeof(SequenceRows));
}

int64_t sequence_bytes(const ModelConfig& config, const SessionShape& shape) {
  const int64_t ids = shape.n_ctx * static_cast<int64_t>(sizeof(int32_t));
  return shape.n_sequences * (kSequenceRecordBytes + ids + rotary_bytes(config));
}

}  // namespace

int64_t SessionBytes::n_bytes() const {
  return cache_bytes + activation_bytes + page_table_bytes + attend_table_bytes + sequence_bytes + batch_bytes;
}

std::vector<PlanItem> session_items(const SessionBytes& bytes) {
  std::vector<PlanItem> items = {{"cache", bytes.cache_bytes}, {"activations", bytes.activation_bytes}};
  const std::vector<PlanItem> tables = session_table_items(bytes);
  items.insert(items.end(), tables.begin(), tables.end());
  return items;
}

std::vector<PlanItem> session_table_items(const SessionBytes& bytes) {
  constexpr Certainty kExact = Certainty::kExact;
  return {{"page tables", bytes.page_table_bytes, kExact, "page numbers of each sequence, owners of each page"},
          {"attention tables", bytes.attend_table_bytes, kExact, "n_sequences x (places of n_kv_head heads)"},
          {"sequences", bytes.sequence_bytes, kExact, "n_sequences x (n_ctx ids + rotary frequencies)"},
          {"batch", bytes.batch_bytes, kExact, "ids and rows of a pass"}};
}

int64_t n_reachable(const ModelConfig& config) {
  return config.position == PositionKind::kLearned ? config.n_position_rows - config.position_offset : kMaxContext;
}

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
  plan.page_table_bytes = kv_table_bytes(plan.cache) + spec_bytes(plan.cache);
  plan.attend_table_bytes = attend_table_bytes(config, plan.limits);
  plan.sequence_bytes = sequence_bytes(config, shape);
  plan.batch_bytes = batch_bytes(shape);
  return plan;
}

}  // namespace vitro
