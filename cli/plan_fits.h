// What fits: the longest context, the most users, and what other types of the weights would change.
#pragma once

#include "base/result.h"
#include "cli/plan_device.h"
#include "cli/plan_inference.h"
#include "cli/plan_model.h"
#include "cli/plan_report.h"

namespace vitro {

/// Bytes of each device that the plan may fill; 0 where nothing says how many.
int64_t plan_budget(const PlanOptions& options, const std::optional<PlanDevice>& device);

/// Only with a budget. Errors of the plans tried.
Result<PlanTable> fits_table(const PlanModel& model, const PlannedWeights& weights, const InferenceQuestion& question,
                             const std::optional<PlanDevice>& device, int64_t budget);
/// A row for the weights of the question and each type beside it. Without a device the times are left out.
Result<PlanTable> formats_table(const PlanModel& model, const PlannedWeights& weights,
                                const InferenceQuestion& question, const std::optional<PlanDevice>& device,
                                int64_t budget);

}  // namespace vitro
