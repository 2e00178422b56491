// The device of a question: looked up in the catalogue, once as a bound and once as engines usually reach it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/plan_model.h"
#include "cli/plan_options.h"
#include "cli/plan_report.h"
#include "plan/fit.h"
#include "plan/machine.h"
#include "plan/roofline.h"
#include "plan/tensor_parallel.h"

namespace vitro {

struct PlanDevice {
  Machine bound;  ///< efficiencies of 1: nothing is faster; of this machine what was measured
  Machine usual;  ///< as measured, or as public measurements say
  std::optional<MachineMeasurement> measurement = {};  ///< of "this"
  int64_t n_bytes() const { return bound.device.n_bytes(); }
  /// Errors of check_timed, where a figure is unknown: memory and fits are told, times are not.
  Status can_time() const { return check_timed(bound); }
};

/// The name of the machine that vitro bench machine measured.
inline constexpr std::string_view kThisMachine = "this";
/// In any case, as names of devices are.
bool is_this_machine(std::string_view name);

/// Nothing where none is asked for. NotFound names the nearest devices, or says how to measure this machine.
Result<std::optional<PlanDevice>> find_plan_device(const PlanModel& model, const PlanOptions& options,
                                                   const PlannedWeights& weights);
/// The device as it runs weights of another type. NotFound: none is known to run them here.
Result<Machine> usual_machine(const PlanDevice& device, const PlanModel& model, const PlanOptions& options,
                              const std::string& weight_type);
/// The device and its figures at the head of the report, "8 x NVIDIA H100 SXM5 80 GB: 85.9 GB each, 3.35 TB/s, 989
/// TFLOP/s bf16, NVLink 4 450.0 GB/s"; below it what a reader must know of them, and which figure is missing for times.
void add_device_lines(const PlanDevice& device, PlanReport* report);

}  // namespace vitro
