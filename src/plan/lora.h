// LoRA and QLoRA: low-rank adapters beside frozen matrices (Hu et al. 2021, arXiv 2106.09685), which may be quantised
// (Dettmers et al. 2023, arXiv 2305.14314).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/config.h"
#include "plan/parallel_layout.h"
#include "plan/weight_format.h"

namespace vitro {

/// X-macro: enum name, printed name. The matrices that adapters stand beside, those of experts included.
// clang-format off
#define VITRO_LORA_TARGETS(X) X(kQ, "q") X(kK, "k") X(kV, "v") X(kO, "o") X(kGate, "gate") X(kUp, "up") X(kDown, "down")
// clang-format on

enum class LoraTarget : uint8_t {
#define VITRO_X(name, text) name,
  VITRO_LORA_TARGETS(VITRO_X)
#undef VITRO_X
};

/// A set of targets, one bit each.
using LoraTargets = uint32_t;
constexpr LoraTargets lora_bit(LoraTarget target) { return LoraTargets{1} << static_cast<uint32_t>(target); }
inline constexpr LoraTargets kAllLoraTargets = 2 * lora_bit(LoraTarget::kDown) - 1;

struct LoraSpec {
  int64_t rank = 8;
  LoraTargets targets = lora_bit(LoraTarget::kQ) | lora_bit(LoraTarget::kV);
  WeightFormat base = kBf16Weights;  ///< of the frozen matrices inside blocks; everything else stays in 16 bits
};

/// "q,v" or "all". InvalidArgument lists the names.
Result<LoraTargets> parse_lora_targets(std::string_view names);
/// "q,v": as parse_lora_targets reads them.
std::string lora_target_names(LoraTargets targets);
/// InvalidArgument: a rank below 1 or above the smallest side of an adapted matrix; targets that the model lacks.
Status check_lora(const LoraSpec& lora, std::span<const TensorSlot> slots);

/// Adapters of a slot's matrix, A [rank, cols] and B [rows, rank]: rank x (rows + cols) parameters each.
bool is_adapted(std::string_view slot_name, LoraTargets targets);
int64_t lora_parameters(const LoraSpec& lora, std::span<const TensorSlot> slots);
/// Those that one token passes: of the experts', the chosen ones'.
int64_t active_lora_parameters(const LoraSpec& lora, const ModelConfig& config, std::span<const TensorSlot> slots);

}  // namespace vitro
