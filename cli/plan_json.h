// A plan for programs: docs/plan.schema.json says what stands where. Amounts are whole numbers of bytes, FLOPs or
// parameters; times are seconds.
#pragma once

#include "cli/plan_report.h"

namespace vitro {

Value plan_json(const PlanReport& report);

}  // namespace vitro
