// Measures this machine in about 20 seconds: bandwidth and float32 peak by number of threads, and the engine's own
// matrix kernels by weight type. Wall clock; medians of several runs.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "kernels/table.h"
#include "plan/machine.h"

namespace vitro {

struct MeasureOptions {
  int n_threads = 1;             ///< the most; also 1, 2, 4, ... below it
  int64_t buffer_bytes = 0;      ///< 0: beyond the caches, at most 1 GiB and an eighth of the memory
  double seconds_a_run = 0.02;   ///< of one run of five
  int64_t n_prefill_rows = 128;  ///< of activations
  /// Steps done and steps in all; false: stop.
  std::function<bool(int n_done, int n_steps)> progress = {};
};

/// OutOfMemory for the buffer; Cancelled where progress says so. Nothing else should run meanwhile.
Result<MachineMeasurement> measure_machine(const KernelTable& kernels, const MeasureOptions& options);

}  // namespace vitro
