// What attention costs as texts grow: its n x n matrix beside tiles, and its FLOPs beside those of the feed-forward
// part.
#pragma once

#include "cli/plan_model.h"
#include "cli/plan_report.h"

namespace vitro {

/// Adds a table of bytes and one of FLOPs, from 1,024 to 32,768 positions, and the lengths at which attention passes
/// the feed-forward part.
void add_lengths(const PlanModel& model, const WeightsPlan& weights, PlanReport* report);

}  // namespace vitro
