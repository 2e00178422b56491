#include "plan/lora.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/saturating.h"
#include "plan/component.h"

namespace vitro {
namespace {

constexpr auto kNames = std::to_array<std::string_view>({
#define VITRO_X(name, text) text,
    VITRO_LORA_TARGETS(VITRO_X)
#undef VITRO_X
});

std::string target_names() {
  std::string names;
  for (const std::string_view name : kNames) names.append(name).append(", ");
  return names + "all";
}

// The bit of a name, 0 of anything else.
LoraTargets target_bit(std::string_view name) {
  const auto at = std::find(kNames.begin(), kNames.end(), name);
  return at == kNames.end() ? 0 : lora_bit(static_cast<LoraTarget>(at - kNames.begin()));
}

// "attn.w_q" -> q: a matrix of attention or feed-forward inside a block.
LoraTargets target_of_slot(std::string_view slot_name) {
  const SlotPlace place = place_of(slot_name);
  const size_t at = place.name.rfind(".w_");
  if (place.layer < 0 || at == std::string_view::npos) return 0;
  return target_bit(place.name.substr(at + std::string_view(".w_").size()));
}

int64_t smallest_side(const TensorSlot& slot) {
  const int rank = slot.shape.rank();
  return rank < 2 ? 0 : std::min(slot.shape[rank - 1], slot.shape[rank - 2]);
}

int64_t n_matrices(const TensorSlot& slot) {
  int64_t n = 1;
  for (int axis = 0; axis < slot.shape.rank() - 2; ++axis) n = sat_mul(n, slot.shape[axis]);
  return n;
}

int64_t one_adapter(const LoraSpec& lora, const TensorSlot& slot) {
  const int rank = slot.shape.rank();
  return rank < 2 ? 0 : sat_mul(lora.rank, sat_add(slot.shape[rank - 1], slot.shape[rank - 2]));
}

}  // namespace

std::string lora_target_names(LoraTargets targets) {
  std::string names;
  for (const std::string_view name : kNames) {
    if ((targets & target_bit(name)) != 0) names.append(names.empty() ? "" : ",").append(name);
  }
  return names;
}

Result<LoraTargets> parse_lora_targets(std::string_view names) {
  LoraTargets targets = 0;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    const std::string_view name = names.substr(begin, end - begin);
    const LoraTargets found = name == "all" ? kAllLoraTargets : target_bit(name);
    if (found == 0) {
      return fail(ErrorCode::kInvalidArgument, "--lora-targets '{}': there are {}", name, target_names());
    }
    targets |= found;
    begin = end + 1;
  }
  return targets;
}

bool is_adapted(std::string_view slot_name, LoraTargets targets) { return (target_of_slot(slot_name) & targets) != 0; }

Status check_lora(const LoraSpec& lora, std::span<const TensorSlot> slots) {
  LoraTargets found = 0;
  for (const TensorSlot& slot : slots) {
    if (!is_adapted(slot.name, lora.targets)) continue;
    found |= target_of_slot(slot.name);
    if (lora.rank >= 1 && lora.rank <= smallest_side(slot)) continue;
    return fail(ErrorCode::kInvalidArgument, "--lora {}: must be between 1 and {}, the smaller side of {}", lora.rank,
                smallest_side(slot), slot.name);
  }
  // "all" means those that are there.
  const LoraTargets missing = lora.targets == kAllLoraTargets && found != 0 ? 0 : lora.targets & ~found;
  if (lora.targets != 0 && missing == 0) return {};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if ((missing >> i & 1) == 0) continue;
    return fail(ErrorCode::kInvalidArgument, "--lora-targets '{}': the model has no such matrix", kNames[i]);
  }
  return fail(ErrorCode::kInvalidArgument, "--lora-targets: none is named; there are {}", target_names());
}

int64_t lora_parameters(const LoraSpec& lora, std::span<const TensorSlot> slots) {
  int64_t n = 0;
  for (const TensorSlot& slot : slots) {
    if (slot.is_optional || !is_adapted(slot.name, lora.targets)) continue;
    n = sat_add(n, sat_mul(n_matrices(slot), one_adapter(lora, slot)));
  }
  return n;
}

int64_t active_lora_parameters(const LoraSpec& lora, const ModelConfig& config, std::span<const TensorSlot> slots) {
  int64_t n = 0;
  for (const TensorSlot& slot : slots) {
    if (slot.is_optional || !is_adapted(slot.name, lora.targets)) continue;
    const SlotPlace place = place_of(slot.name);
    const bool is_expert = component_of(slot.name) == Component::kExperts && place.layer < config.n_layer();
    const int64_t n_active =
        is_expert ? config.blocks[static_cast<size_t>(place.layer)].ffn.moe.n_expert_used : n_matrices(slot);
    n = sat_add(n, sat_mul(n_active, one_adapter(lora, slot)));
  }
  return n;
}

}  // namespace vitro
