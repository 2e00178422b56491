#include "plan/roofline.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "plan/first_where.h"
#include "plan/tensor_parallel.h"

namespace vitro {
namespace {

constexpr int64_t kMaxBatch = int64_t{1} << 20;

/// The matrix products: all that reads weights.
constexpr std::array kProducts = {Part::kQkv, Part::kAttnOut, Part::kFfn, Part::kHead};

double flops_per_s(const Machine& machine) {
  return machine.device.peak(machine.compute).value * machine.efficiency.compute;
}
double bytes_per_s(const Machine& machine) { return machine.device.bandwidth.value * machine.efficiency.bandwidth; }

std::vector<std::string_view> known_peaks(const Device& device) {
  std::vector<std::string_view> names;
  for (int t = 0; t < kNPeakTypes; ++t) {
    if (device.peak(static_cast<PeakType>(t)).is_known()) names.push_back(peak_type_name(static_cast<PeakType>(t)));
  }
  return names;
}

bool is_fraction(double x) { return x > 0 && x <= 1; }

Status check_efficiency(const Efficiency& efficiency) {
  const bool is_valid = is_fraction(efficiency.compute) && is_fraction(efficiency.bandwidth) &&
                        is_fraction(efficiency.link) && efficiency.seconds_a_pass >= 0 &&
                        std::isfinite(efficiency.seconds_a_pass);
  if (is_valid) return {};
  return fail(ErrorCode::kInvalidArgument, "efficiencies are above 0 and at most 1; found {} {} {}", efficiency.compute,
              efficiency.bandwidth, efficiency.link);
}

Status check_links(const Machine& machine) {
  const Device& device = machine.device;
  if (machine.n_devices < 1) return fail(ErrorCode::kInvalidArgument, "{} devices: at least 1", machine.n_devices);
  if (machine.n_devices == 1) return {};
  if (!device.link.is_known())
    return fail(ErrorCode::kInvalidArgument,
                "{}: no figure for the link between devices, so {} of them cannot be timed; give one in a file for "
                "--devices",
                device.name, machine.n_devices);
  if (machine.n_devices > device.n_linked)
    return fail(ErrorCode::kInvalidArgument,
                "{}: {} joins {} devices, not {}; for others give the link in a file for --devices", device.name,
                device.link_name, device.n_linked, machine.n_devices);
  return {};
}

PartTime time_part(const PartWork& work, const Machine& machine) {
  PartTime time;
  if (has_times(machine)) time.compute_seconds = static_cast<double>(work.flops) / flops_per_s(machine);
  time.memory_seconds = static_cast<double>(work.n_bytes()) / bytes_per_s(machine);
  time.seconds = std::max(time.compute_seconds, time.memory_seconds);
  time.intensity = work.intensity();
  time.bound = time.compute_seconds > time.memory_seconds ? BoundBy::kCompute : BoundBy::kMemory;
  return time;
}

/// What most of the seconds go to.
BoundBy bound_of(const PassTime& time) {
  double compute = 0, memory = 0;
  for (const PartTime& part : time.parts) (part.bound == BoundBy::kCompute ? compute : memory) += part.seconds;
  if (time.link_seconds > std::max(compute, memory)) return BoundBy::kLink;
  return compute > memory ? BoundBy::kCompute : BoundBy::kMemory;
}

/// Whether the products of a token of each of n sequences take longer to compute than their weights to read.
bool is_beyond_ridge(const ModelConfig& config, const WorkOf& work, int64_t n_sequences, const Machine& machine) {
  const PassWork one = device_work(config, work({.n_sequences = n_sequences}), machine.n_devices);
  double flops = 0, bytes = 0;
  for (const Part part : kProducts) {
    flops += static_cast<double>(one[part].flops);
    bytes += static_cast<double>(one[part].weight_bytes);
  }
  return flops / flops_per_s(machine) >= bytes / bytes_per_s(machine);
}

Status check_serving(const ModelConfig& config, const Serving& serving) {
  if (config.kind == ModelKind::kEncoder)
    return fail(ErrorCode::kInvalidArgument, "an encoder makes no tokens; time a pass instead");
  const bool is_valid =
      serving.n_prompt >= 1 && serving.n_past >= 0 && serving.n_sequences >= 1 && serving.n_source >= 0;
  if (is_valid) return {};
  return fail(ErrorCode::kInvalidArgument,
              "expected a prompt and a batch of at least 1 and a context of at least 0, found {}, {} and {}",
              serving.n_prompt, serving.n_sequences, serving.n_past);
}

}  // namespace

Efficiency bound_efficiency() { return {}; }

Efficiency usual_efficiency() {
  return {.compute = 43.7 / 63.17,
          .bandwidth = 17.07 / 22.0,
          .link = 17.07 / 22.0,
          .certainty = Certainty::kEstimated,
          .origin =
              "as FasterTransformer ran a 13B model on an A100: 69 % of the peak in prefill (43.7 of 63.17 ms), "
              "78 % of the bandwidth in decoding (17.07 of 22.0 ms); links as the bandwidth"};
}

std::string_view bound_name(BoundBy bound) {
  constexpr std::array<std::string_view, 3> kNames = {"compute", "memory", "link"};
  return kNames[static_cast<size_t>(bound)];
}

Status check_machine(const Machine& machine) {
  const Device& device = machine.device;
  if (!device.bandwidth.is_known())
    return fail(ErrorCode::kInvalidArgument, "{}: no figure for the bandwidth of its memory", device.name);
  VITRO_TRY(check_efficiency(machine.efficiency));
  return check_links(machine);
}

bool has_times(const Machine& machine) { return machine.device.peak(machine.compute).is_known(); }

Status check_timed(const Machine& machine) {
  VITRO_TRY(check_machine(machine));
  if (has_times(machine)) return {};
  const std::vector<std::string_view> known = known_peaks(machine.device);
  if (known.empty())
    return fail(ErrorCode::kInvalidArgument, "{}: no figure for its peak in any type", machine.device.name);
  return fail(ErrorCode::kInvalidArgument, "{}: no figure for its peak in {}; known: {}", machine.device.name,
              peak_type_name(machine.compute), fmt::join(known, ", "));
}

double ridge_point(const Machine& machine) { return flops_per_s(machine) / bytes_per_s(machine); }

PassTime time_pass(const ModelConfig& config, const PassWork& work, const PassShape& shape, const Machine& machine) {
  const PassWork one = device_work(config, work, machine.n_devices);
  PassTime time;
  for (size_t p = 0; p < time.parts.size(); ++p) {
    time.parts[p] = time_part(one.parts[p], machine);
    time.seconds += time.parts[p].seconds;
  }
  const int64_t sent = exchanged_bytes(config, shape, machine.n_devices, machine.element_bytes);
  if (sent > 0) time.link_seconds = static_cast<double>(sent) / (machine.device.link.value * machine.efficiency.link);
  time.fixed_seconds = machine.efficiency.seconds_a_pass;
  time.seconds += time.link_seconds + time.fixed_seconds;
  time.bound = bound_of(time);
  return time;
}

Result<ServingTimes> serving_times(const ModelConfig& config, const WorkOf& work, const Serving& serving,
                                   const Machine& machine) {
  VITRO_TRY(check_timed(machine));
  VITRO_TRY(check_tensor_parallel(config, machine.n_devices));
  VITRO_TRY(check_serving(config, serving));
  const PassShape prompt{
      .n_rows = serving.n_prompt, .n_source = serving.n_source, .has_new_source = serving.n_source > 0};
  const PassShape token{.n_past = serving.n_past, .n_sequences = serving.n_sequences, .n_source = serving.n_source};
  ServingTimes times{.prefill = time_pass(config, work(prompt), prompt, machine),
                     .decode = time_pass(config, work(token), token, machine)};
  times.tokens_per_s = static_cast<double>(serving.n_sequences) / times.decode.seconds;
  times.ridge = ridge_point(machine);
  times.certainty = std::max(machine.device.certainty, machine.efficiency.certainty);
  return times;
}

std::optional<int64_t> crossover_batch(const ModelConfig& config, const WorkOf& work, const Machine& machine) {
  return first_where([&](int64_t n) { return is_beyond_ridge(config, work, n, machine); }, kMaxBatch);
}

}  // namespace vitro
