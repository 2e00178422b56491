// Several plans beside each other, owner by owner.
#pragma once

#include <span>

#include "cli/plan_report.h"

namespace vitro {

/// A report whose tables have a column for each of the reports, and for two of them the difference. Owners are matched
/// by their names; what a report lacks is left empty.
PlanReport compare_reports(std::span<const PlanReport> reports);

}  // namespace vitro
