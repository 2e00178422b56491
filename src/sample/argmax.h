// One pass over a row of logits: its largest value and whether it holds a NaN.
#pragma once

#include <cstdint>
#include <span>

namespace vitro {

struct RowScan {
  int64_t argmax = -1;  ///< lowest index of the largest value that is not NaN; -1 if there is none
  bool has_nan = false;
};

/// row [n], read. Cost: one pass at about the speed of memory.
RowScan scan_row(std::span<const float> row);

}  // namespace vitro
