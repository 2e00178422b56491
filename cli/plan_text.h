// A plan for people: one screen of 80 columns, or the arithmetic written out.
#pragma once

#include <string>

#include "cli/plan_report.h"

namespace vitro {

/// Owners with their share and a bar, tables, notes. Each figure that is no exact one is marked: ~ estimated, *
/// measured.
std::string plan_screen(const PlanReport& report);
/// Every owner of every section with its formula, the formula with the model's numbers, and how sure it is.
std::string plan_explanation(const PlanReport& report);

}  // namespace vitro
