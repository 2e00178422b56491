// A plan as one picture: memory as a bar and as a treemap whose areas are bytes, and the roofline of a device with the
// parts of a pass as points. Needs nothing else: no script, no font, no other file; readable on light and dark pages.
#pragma once

#include <string>

#include "cli/plan_report.h"

namespace vitro {

std::string plan_svg(const PlanReport& report);

}  // namespace vitro
