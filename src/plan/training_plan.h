// TrainingPlan: the memory of a training run on its most loaded device, instant by instant, before anything runs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/config.h"
#include "plan/item.h"
#include "plan/lora.h"
#include "plan/parallel_layout.h"
#include "plan/train_recipe.h"
#include "plan/training_activations.h"
#include "weights/slot.h"

namespace vitro {

struct TrainingSpec {
  TrainRecipe recipe;
  TrainingShape shape;
  ActivationPolicy policy = {};
  ParallelLayout layout = {};
  std::optional<LoraSpec> lora = {};
};

/// Activations are as wide as the weights.
void set_recipe(const TrainRecipe& recipe, TrainingSpec* spec);

struct TrainingPlan {
  int64_t n_parameters = 0;  ///< of the whole model
  int64_t n_trained = 0;     ///< those that the optimizer changes
  PlanItem states;           ///< of the whole model on one device: weights, gradients, master weights, moments
  int64_t stage = 0;         ///< pipeline stage of the most loaded device, for which the rest is
  PlanItem rank_states;      ///< what that device keeps for the whole run
  PlanItem activations;      ///< what it keeps at the end of the forward
  /// init, forward, loss, backward, step: everything that is alive at the worst moment of each. Gradients are allocated
  /// for the whole run.
  std::vector<PlanItem> phases;
  size_t peak = 0;         ///< the phase that needs the most
  std::string peak_owner;  ///< its largest part

  int64_t n_bytes() const { return phases[peak].amount; }
};

/// What plan_training asks of its arguments; training_work too.
Status check_training(const ModelConfig& config, std::span<const TensorSlot> slots, const TrainingSpec& spec);

/// Pure. InvalidArgument names the parameter: sizes below 1 or above their limits, layouts that do not divide, adapters
/// that do not fit, amounts beyond 64 bits. config is one that check_config accepts.
Result<TrainingPlan> plan_training(const ModelConfig& config, std::span<const TensorSlot> slots,
                                   const TrainingSpec& spec);

}  // namespace vitro
