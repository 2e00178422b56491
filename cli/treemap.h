// Squarified treemap (Bruls, Huizing & van Wijk 2000): boxes whose areas are as their values, as near to squares as may
// be.
#pragma once

#include <span>
#include <vector>

#include "cli/svg_canvas.h"

namespace vitro {

/// One box a value, in their order; together they fill `whole`. Values are not negative; of none above 0 all are empty.
std::vector<Box> treemap(std::span<const double> values, const Box& whole);

}  // namespace vitro
