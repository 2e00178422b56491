// The report of training a model: memory at the worst moment of the most loaded device, moment by moment, what other
// choices would change, and the work, time and energy.
#pragma once

#include "base/result.h"
#include "cli/cli11_fwd.h"
#include "cli/plan_model.h"
#include "cli/plan_report.h"
#include "plan/training_plan.h"
#include "plan/training_time.h"

namespace vitro {

struct TrainOptions {
  bool is_training = false;
  TrainingSpec spec;  ///< complete but for its shape, which the common options give
  FlopsConvention convention = FlopsConvention::kAllPairs;
  double mfu = 0.4;
  double pue = 1.2;
  int64_t n_tokens = 0;  ///< of the whole run; 0: a step only
};

/// --train and what belongs to it; messages name the option.
void add_train_options(CLI::App& app, TrainOptions& options);

/// Errors of plan_training, training_work and of the device's figures.
Result<PlanReport> training_report(const PlanModel& model, const PlanOptions& options, const TrainOptions& train);

}  // namespace vitro
