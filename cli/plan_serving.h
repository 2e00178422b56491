// What a plan says about devices: the time of each part of a pass, what fits, and what other types of the weights would
// change.
#pragma once

#include "base/result.h"
#include "cli/plan_inference.h"
#include "cli/plan_model.h"
#include "cli/plan_report.h"
#include "plan/roofline.h"
#include "plan/work.h"

namespace vitro {

/// Rows that a pass takes at most on a GPU, unless told otherwise.
inline constexpr int64_t kGpuChunk = 2048;

/// Of activations and the cache, for pass_work.
WorkTypes work_types(const InferenceShape& shape);

/// Of passes of any shape. Keeps references to model and weights.
WorkOf work_of(const PlanModel& model, const PlannedWeights& weights, const InferenceShape& shape);
/// The question with so many sequences.
Serving serving_of(const InferenceQuestion& question, int64_t n_sequences);

/// Adds work, times, fits and the roofline to the report. Errors of the catalogue.
Status add_serving(const PlanModel& model, const PlannedWeights& weights, const InferenceQuestion& question,
                   PlanReport* report);

}  // namespace vitro
