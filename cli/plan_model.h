// What a plan knows of a model before it asks anything: its description, its tensors, and the types that its file has.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/plan_options.h"
#include "formats/checkpoint.h"
#include "formats/value.h"
#include "model/arch/architecture.h"
#include "model/config.h"
#include "plan/weights_plan.h"

namespace vitro {

struct PlanModel {
  std::string name;  ///< for titles: the folder or file, without the way to it
  ModelConfig config;
  std::vector<TensorSlot> slots;
  /// Empty for a description alone. Points into slots and checkpoint.
  std::vector<BoundTensor> bound;
  std::unique_ptr<Checkpoint> checkpoint;  ///< null where sizes alone describe the model
};

/// Opens and describes. Errors of open_checkpoint, describe_model, bind_tensors.
Result<PlanModel> open_plan_model(const std::string& path);
/// A model of which only the sizes are known. Errors of describe_sizes.
Result<PlanModel> sized_plan_model(const PlanOptions& options);

/// For the question of a plan: the sizes given with --arch, "d_model" and so on; null for other models.
Value sizes_json(const PlanOptions& options);

/// As people type it: "bf16", "q4_k".
std::string format_name(const WeightFormat& format);

/// In what form the weights are planned.
struct PlannedWeights {
  WeightsPlan plan;
  std::string words;        ///< "bf16", "q4_k; embedding and head bf16", "the file's types (q4_1 94 %)"
  std::string matrix_type;  ///< name of the type that most bytes of the layers have
};
/// The file's own types, or, where `format` is given or the file holds no tensors, those of the question.
PlannedWeights planned_weights(const PlanModel& model, const PlanOptions& options, std::optional<WeightFormat> format,
                               EngineKind engine);

}  // namespace vitro
