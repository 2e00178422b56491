#include "plan/tensor_parallel.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/saturating.h"

namespace vitro {
namespace {

/// Rounded up, so that no device is promised less than it holds.
int64_t part_of(int64_t amount, double share) {
  if (amount == kSaturated || share >= 1) return amount;
  return static_cast<int64_t>(std::ceil(static_cast<double>(amount) * share));
}

struct Shares {
  double heads = 1;  ///< query heads
  double cache = 1;
};

/// Layers weigh as much as they keep a position, or as wide as their heads are together.
Shares shares(const ModelConfig& config, int64_t n, bool is_latent_expanded) {
  double heads = 0, device_heads = 0, cache = 0, device_cache = 0;
  for (const BlockSpec& block : config.blocks) {
    const AttentionSpec& attn = block.attn;
    const auto width = static_cast<double>(attn.d_head + attn.d_head_v);
    heads += width * static_cast<double>(attn.n_head);
    device_heads += width * static_cast<double>(sat_ceil_div(attn.n_head, n));
    const bool is_latent = attn.kv_lora_rank > 0;
    const bool is_whole = is_latent && !is_latent_expanded;
    const double row = is_whole ? static_cast<double>(attn.kv_lora_rank + attn.d_head_rope) : width;
    const int64_t n_kv_head = is_latent ? attn.n_head : attn.n_kv_head;
    cache += row * static_cast<double>(is_whole ? 1 : n_kv_head);
    device_cache += row * static_cast<double>(is_whole ? 1 : sat_ceil_div(n_kv_head, n));
  }
  return {heads > 0 ? device_heads / heads : 1, cache > 0 ? device_cache / cache : 1};
}

/// Sums over devices of one row in all blocks of a stack.
int64_t n_sums(const std::vector<BlockSpec>& blocks) {
  int64_t n = 0;
  for (const BlockSpec& block : blocks)
    n += (block.residual == Residual::kSequential ? 2 : 1) + (block.has_cross_attention ? 1 : 0);
  return n;
}

int64_t ring_sum_bytes(int64_t n_bytes, int64_t n) { return sat_mul(2 * (n - 1), sat_ceil_div(n_bytes, n)); }

bool is_latent(const ModelConfig& config) {
  return std::all_of(config.blocks.begin(), config.blocks.end(),
                     [](const BlockSpec& block) { return block.attn.kv_lora_rank > 0; });
}

int64_t max_heads(const ModelConfig& config) {
  int64_t most = 1;
  for (const BlockSpec& block : config.blocks) most = std::max(most, block.attn.n_head);
  return most;
}

std::string_view cache_formula(const ModelConfig& config, bool is_latent_expanded) {
  if (!is_latent(config)) return "cache x ceil(n_kv_head / devices) / n_kv_head";
  return is_latent_expanded ? "cache x ceil(n_head / devices) / n_head" : "a latent cache is whole on every device";
}

}  // namespace

Status check_tensor_parallel(const ModelConfig& config, int64_t n_devices) {
  if (n_devices >= 1 && n_devices <= max_heads(config)) return {};
  return fail(ErrorCode::kInvalidArgument, "{} devices: heads are divided among them, so 1 to {} can be used",
              n_devices, max_heads(config));
}

PassWork device_work(const ModelConfig& config, const PassWork& work, int64_t n_devices) {
  const Shares share = shares(config, n_devices, work.is_latent_expanded);
  PassWork out{.parts = work.parts, .is_latent_expanded = work.is_latent_expanded};
  for (int p = 0; p < kNParts; ++p) {
    const auto kind = static_cast<Part>(p);
    if (kind == Part::kOther) continue;
    PartWork& part = out.parts[static_cast<size_t>(p)];
    const double of_work = kind == Part::kScores ? share.heads : 1.0 / static_cast<double>(n_devices);
    part.flops = part_of(part.flops, of_work);
    part.flops_dense = part_of(part.flops_dense, of_work);
    part.weight_bytes = part_of(part.weight_bytes, of_work);
    part.row_bytes = part_of(part.row_bytes, of_work);
    part.cache_bytes = part_of(part.cache_bytes, share.cache);
  }
  return out;
}

int64_t device_cache_bytes(const ModelConfig& config, int64_t cache_bytes, int64_t n_devices, bool is_latent_expanded) {
  return part_of(cache_bytes, shares(config, n_devices, is_latent_expanded).cache);
}

int64_t device_weight_bytes(int64_t weight_bytes, int64_t n_devices) { return sat_ceil_div(weight_bytes, n_devices); }

PlanItem device_memory(const ModelConfig& config, const PlanItem& memory, int64_t n_devices, bool is_latent_expanded) {
  if (n_devices == 1) return memory;
  std::vector<PlanItem> parts;
  for (const PlanItem& part : memory.parts) {
    PlanItem share{.name = part.name, .amount = part.amount, .certainty = Certainty::kEstimated, .kind = part.kind};
    if (part.kind == ItemKind::kWeights) {
      share.amount = device_weight_bytes(part.amount, n_devices);
      share.formula = "weights / devices";
    } else if (part.kind == ItemKind::kCache) {
      share.amount = device_cache_bytes(config, part.amount, n_devices, is_latent_expanded);
      share.formula = cache_formula(config, is_latent_expanded);
    } else {
      share.formula = "whole on every device";
    }
    parts.push_back(std::move(share));
  }
  return sum_item(memory.name, std::move(parts));
}

int64_t exchanged_bytes(const ModelConfig& config, const PassShape& shape, int64_t n_devices, int64_t element_bytes) {
  if (n_devices <= 1) return 0;
  const int64_t row_bytes = sat_mul(config.d_model, element_bytes);
  const auto stack_bytes = [&](const std::vector<BlockSpec>& blocks, int64_t n_rows) {
    return sat_mul(n_sums(blocks), ring_sum_bytes(sat_mul(shape.n_sequences, n_rows, row_bytes), n_devices));
  };
  const int64_t logits = sat_mul(shape.n_sequences, shape.n_logits, config.vocab_size);
  const int64_t gathered = sat_mul(n_devices - 1, sat_ceil_div(logits, n_devices), element_bytes);
  const int64_t decoder = sat_add(stack_bytes(config.blocks, shape.n_rows), gathered);
  return shape.has_new_source ? sat_add(decoder, stack_bytes(config.encoder_blocks, shape.n_source)) : decoder;
}

}  // namespace vitro
