// The roofline of a device (Williams, Waterman & Patterson 2009) with the parts of passes as points, on logarithmic
// axes.
#pragma once

#include "cli/plan_report.h"
#include "cli/svg_canvas.h"

namespace vitro {

/// Draws into the box and gives the y below it.
double draw_roofline(const RooflinePlot& plot, const Box& box, SvgCanvas* canvas);

}  // namespace vitro
