// The report of running a model: who has the memory, what a pass computes and moves, and on a device how long that
// takes and how much of it fits.
#pragma once

#include "base/result.h"
#include "cli/plan_model.h"
#include "cli/plan_options.h"
#include "cli/plan_report.h"

namespace vitro {

/// What is asked, complete: defaults filled in.
struct InferenceQuestion {
  PlanOptions options;
  InferenceShape shape;
  int64_t n_prompt = 0;
};
InferenceQuestion inference_question(const ModelConfig& config, const PlanOptions& options);

/// "llama-7b: 6,738,415,616 parameters, 32 layers of width 4,096, ..."
std::string model_line(const PlanModel& model, const WeightsPlan& weights);

/// Errors of plan_inference and of the device's figures.
Result<PlanReport> inference_report(const PlanModel& model, const PlanOptions& options);

}  // namespace vitro
