// What a trainer keeps of every parameter for the whole run: weights, gradients, master weights, moments; by component,
// whole or as ZeRO divides it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "plan/item.h"
#include "plan/lora.h"
#include "plan/parallel_layout.h"
#include "plan/train_recipe.h"

namespace vitro {

/// "states": weights, gradients, master weights, moments; each by component. `layout` with zero_stage 0 or data 1:
/// undivided. Saturating.
PlanItem state_item(std::span<const RankTensor> tensors, const TrainRecipe& recipe, const ParallelLayout& layout);
/// "frozen weights": matrices inside blocks in the base's format, as one row each; the rest in 16 bits.
PlanItem frozen_item(std::span<const RankTensor> tensors, const WeightFormat& base, const ParallelLayout& layout);

/// What the update needs for itself: Muon's orthogonalisation of the largest matrix, 16-bit: the matrix, its update,
/// and two products min(rows, cols)^2. Nothing for the others, which update in place.
PlanItem optimizer_temporary_item(std::span<const RankTensor> tensors, const TrainRecipe& recipe);
/// ZeRO 3: units whole at once, their 16-bit weights; in the backward also one unit's gradients before they are shared.
PlanItem gathered_item(std::span<const RankTensor> tensors, const TrainRecipe& recipe, const ParallelLayout& layout,
                       bool is_backward);
/// Parameters of the largest unit (ZeroUnit) of these tensors.
int64_t largest_unit(std::span<const RankTensor> tensors, ZeroUnit unit);

}  // namespace vitro
