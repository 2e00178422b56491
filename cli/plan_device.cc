#include "cli/plan_device.h"

#include <fmt/format.h>

#include "base/letters.h"

namespace vitro {

namespace {

Result<PlanDevice> measured_device(const PlanModel& model, const PlanOptions& options, const PlannedWeights& weights) {
  PlanDevice found;
  VITRO_TRY_ASSIGN(found.measurement, load_machine(machine_path()));
  if (!found.measurement) {
    return fail(ErrorCode::kNotFound, "this machine has not been measured yet: run 'vitro bench machine' (20 seconds)");
  }
  if (options.n_devices > 1) return fail(ErrorCode::kInvalidArgument, "--count: there is one of this machine");
  if (options.weights || model.bound.empty()) {
    VITRO_TRY_ASSIGN(found.bound,
                     this_machine(*found.measurement, model.config, weights.matrix_type, options.n_threads));
  } else {
    const std::vector<WeightShare> shares = weight_shares(model.config, model.bound);
    VITRO_TRY_ASSIGN(found.bound, this_machine(*found.measurement, model.config, shares, options.n_threads));
  }
  found.usual = found.bound;
  return found;
}

Result<PlanDevice> catalogue_device(const PlanOptions& options, std::string_view weight_type) {
  VITRO_TRY_ASSIGN(const std::vector<Device> devices,
                   options.device_file.empty() ? builtin_devices() : load_devices(options.device_file));
  VITRO_TRY_ASSIGN(const Device* const device, find_device(devices, options.device));
  PlanDevice found;
  found.bound = {.device = *device,
                 .compute = compute_type(*device, weight_type),
                 .n_devices = options.n_devices,
                 .efficiency = bound_efficiency()};
  found.usual = found.bound;
  found.usual.efficiency = usual_efficiency();
  return found;
}

std::string device_line(const PlanDevice& device) {
  const Device& d = device.bound.device;
  const PeakType compute = device.bound.compute;
  const auto figure = [](const Figure& f, std::string_view unit) { return decimal_text(f.value, unit); };
  const bool is_many = device.bound.n_devices > 1;
  std::string line = is_many ? fmt::format("{} x ", device.bound.n_devices) : "";
  line += fmt::format("{}: {}{}, {}", d.title.empty() ? d.name : d.title,
                      decimal_text(static_cast<double>(d.n_bytes()), "B"), is_many ? " each" : "",
                      figure(d.bandwidth, "B/s"));
  if (d.peak(compute).is_known()) {
    line += fmt::format(", {} {}{}", figure(d.peak(compute), "FLOP/s"), peak_type_name(compute),
                        narrows_activations(compute) ? ", activations too" : "");
  }
  if (is_many && d.link.is_known()) line += fmt::format(", {} {}", d.link_name, figure(d.link, "B/s"));
  return line;
}

}  // namespace

bool is_this_machine(std::string_view name) { return lower_case(name) == kThisMachine; }

Result<std::optional<PlanDevice>> find_plan_device(const PlanModel& model, const PlanOptions& options,
                                                   const PlannedWeights& weights) {
  if (options.device.empty()) return std::optional<PlanDevice>();
  Result<PlanDevice> found = is_this_machine(options.device) ? measured_device(model, options, weights)
                                                             : catalogue_device(options, weights.matrix_type);
  if (!found) return tl::unexpected(std::move(found).error());
  return std::optional<PlanDevice>(*std::move(found));
}

Result<Machine> usual_machine(const PlanDevice& device, const PlanModel& model, const PlanOptions& options,
                              const std::string& weight_type) {
  if (device.measurement) return this_machine(*device.measurement, model.config, weight_type, options.n_threads);
  Machine machine = device.usual;
  machine.compute = compute_type(machine.device, weight_type);
  return machine;
}

void add_device_lines(const PlanDevice& device, PlanReport* report) {
  report->heads.push_back(device_line(device));
  const Device& d = device.bound.device;
  if (!d.note.empty()) report->notes.push_back(fmt::format("{}: {}.", d.name, d.note));
  if (const Status can_time = device.can_time(); !can_time) {
    report->notes.push_back(fmt::format("No times: {}.", can_time.error().message));
  }
}

}  // namespace vitro
