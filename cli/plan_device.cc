#include "cli/plan_device.h"

#include <fmt/format.h>

#include "cli/plan_report.h"

namespace vitro {

Result<std::optional<PlanDevice>> find_plan_device(const PlanOptions& options, std::string_view weight_type) {
  if (options.device.empty()) return std::optional<PlanDevice>();
  VITRO_TRY_ASSIGN(const std::vector<Device> devices,
                   options.device_file.empty() ? builtin_devices() : load_devices(options.device_file));
  VITRO_TRY_ASSIGN(const Device* const device, find_device(devices, options.device));
  PlanDevice found;
  found.bound = {.device = *device,
                 .compute = compute_type(*device, weight_type),
                 .n_devices = options.n_devices,
                 .efficiency = bound_efficiency()};
  VITRO_TRY(check_machine(found.bound));
  found.usual = found.bound;
  if (device->certainty != Certainty::kMeasured) found.usual.efficiency = usual_efficiency();
  return std::optional<PlanDevice>(std::move(found));
}

std::string device_line(const PlanDevice& device) {
  const Device& d = device.bound.device;
  const auto figure = [](const Figure& f, std::string_view unit) { return decimal_text(f.value, unit); };
  const bool is_many = device.bound.n_devices > 1;
  std::string line = is_many ? fmt::format("{} x ", device.bound.n_devices) : "";
  line += fmt::format("{}: {}{}, {}, {} {}", d.title.empty() ? d.name : d.title,
                      decimal_text(static_cast<double>(d.n_bytes()), "B"), is_many ? " each" : "",
                      figure(d.bandwidth, "B/s"), figure(d.peak(device.bound.compute), "FLOP/s"),
                      peak_type_name(device.bound.compute));
  if (is_many) line += fmt::format(", {} {}", d.link_name, figure(d.link, "B/s"));
  return line;
}

}  // namespace vitro
