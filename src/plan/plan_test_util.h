// Real models for the planner's tests: committed configurations, read as any file is.
#pragma once

#include <string>
#include <vector>

#include "formats/checkpoint.h"
#include "model/arch/architecture.h"
#include "plan/weights_plan.h"

namespace vitro::testing {

struct PlannedModel {
  ModelConfig config;
  std::vector<TensorSlot> slots;

  WeightsPlan weights(const WeightStorage& storage = {}) const { return plan_weights(config, slots, storage); }
};

/// Of tests/golden/plan/NAME/config.json.
inline PlannedModel planned_model(const std::string& name) {
  const std::string path = std::string(VITRO_SOURCE_DIR) + "/tests/golden/plan/" + name + "/config.json";
  const Checkpoint checkpoint = Checkpoint::open(path, {.needs_weights = false}).value();
  ModelDescription description = describe_model(checkpoint).value();
  std::vector<TensorSlot> slots = description.arch->tensor_slots(checkpoint.format(), description.config);
  return {std::move(description.config), std::move(slots)};
}

}  // namespace vitro::testing
