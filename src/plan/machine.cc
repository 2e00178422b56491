#include "plan/machine.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <span>

#include "base/cache_folder.h"
#include "base/letters.h"
#include "base/read_file.h"
#include "base/saturating.h"
#include "base/write_file.h"
#include "formats/json.h"
#include "plan/component.h"
#include "tensor/shape.h"
#include "weights/tensors.h"

namespace vitro {
namespace {

constexpr uintmax_t kMaxFileBytes = uintmax_t{1} << 20;
constexpr size_t kMaxText = 200;   ///< bytes
constexpr double kMaxRate = 1e21;  ///< above any machine
constexpr int64_t kMaxThreads = 1024;
/// Loops of a block that several threads share where one token is made: q k v, attend, o, gate and up, down.
constexpr double kLoopsABlock = 5;

// ---- writing ----

Value rate_json(const Rate& rate) {
  return Value(Value::Object{{"median", Value(rate.median)}, {"best", Value(rate.best)}});
}

Value threads_json(const ThreadRates& rates) {
  return Value(Value::Object{{"n_threads", Value(int64_t{rates.n_threads})},
                             {"read_bytes_per_s", rate_json(rates.read)},
                             {"copy_bytes_per_s", rate_json(rates.copy)},
                             {"f32_flops_per_s", rate_json(rates.flops)}});
}

Value matmul_json(const MatmulRates& rates) {
  return Value(Value::Object{{"type", Value(std::string(dtype_info(rates.dtype).name))},
                             {"n_threads", Value(int64_t{rates.n_threads})},
                             {"stream_bytes_per_s", rate_json(rates.stream)},
                             {"flops_per_s", rate_json(rates.flops)}});
}

template <class Items, class Write>
Value list_json(const Items& items, Write write) {
  Value::Array out;
  for (const auto& item : items) out.push_back(write(item));
  return Value(std::move(out));
}

/// By name, any case; nothing if it is no type.
std::optional<DType> dtype_named(std::string_view name) {
  const auto is_same = [&](DType dtype) { return lower_case(dtype_info(dtype).name) == lower_case(name); };
  const auto* type = std::find_if(std::begin(kAllDTypes), std::end(kAllDTypes), is_same);
  return type == std::end(kAllDTypes) ? std::nullopt : std::optional(*type);
}

// ---- reading: the first thing that is wrong is remembered ----

class MachineReader {
 public:
  explicit MachineReader(std::string_view where) : where_(where) {}

  Result<MachineMeasurement> read(const Value& root) {
    MachineMeasurement machine;
    machine.measured_at = text(root, "measured_at");
    machine.processor = text(root, "processor");
    machine.kernels = text(root, "kernels");
    machine.n_cpus = static_cast<int>(integer(root, "n_cpus", kMaxThreads));
    machine.memory_bytes = integer(root, "memory_bytes", int64_t{1} << 50);
    machine.buffer_bytes = integer(root, "buffer_bytes", int64_t{1} << 50);
    machine.loop_seconds = real(root, "loop_seconds", 1);
    for (const Value& item : list(root, "threads")) machine.threads.push_back(thread_rates(item));
    for (const Value& item : list(root, "matmuls")) machine.matmuls.push_back(matmul_rates(item));
    if (machine.threads.empty()) wrong("threads", "a list that is not empty");
    if (!problem_.empty()) return fail(ErrorCode::kCorrupt, "{}", problem_);
    return machine;
  }

 private:
  void wrong(std::string_view key, std::string_view expected) {
    if (problem_.empty())
      problem_ = fmt::format("{}: {}: expected {}; measure anew with 'vitro bench machine'", where_, key, expected);
  }
  std::string text(const Value& value, std::string_view key) {
    const Value* found = value.find(key);
    const std::string* words = found ? found->as_string() : nullptr;
    if (words && words->size() <= kMaxText && !has_control(*words)) return *words;
    wrong(key, fmt::format("a text of at most {} bytes without control characters", kMaxText));
    return {};
  }
  int64_t integer(const Value& value, std::string_view key, int64_t most) {
    const Value* found = value.find(key);
    if (found && found->as_int() && *found->as_int() >= 1 && *found->as_int() <= most) return *found->as_int();
    wrong(key, fmt::format("a number from 1 to {}", most));
    return 1;
  }
  double real(const Value& value, std::string_view key, double most) {
    const Value* found = value.find(key);
    if (found && found->as_real() && *found->as_real() > 0 && *found->as_real() <= most) return *found->as_real();
    wrong(key, fmt::format("a number above 0, at most {:g}", most));
    return 1;
  }
  Rate rate(const Value& value, std::string_view key) {
    const Value* found = value.find(key);
    if (found) return {real(*found, "median", kMaxRate), real(*found, "best", kMaxRate)};
    wrong(key, "median and best");
    return {};
  }
  std::span<const Value> list(const Value& value, std::string_view key) {
    const Value* found = value.find(key);
    if (found && found->as_array()) return *found->as_array();
    wrong(key, "a list");
    return {};
  }
  ThreadRates thread_rates(const Value& item) {
    return {static_cast<int>(integer(item, "n_threads", kMaxThreads)), rate(item, "read_bytes_per_s"),
            rate(item, "copy_bytes_per_s"), rate(item, "f32_flops_per_s")};
  }
  MatmulRates matmul_rates(const Value& item) {
    const std::optional<DType> type = dtype_named(text(item, "type"));
    if (!type) wrong("type", "an element type");
    return {type.value_or(DType::kF32), static_cast<int>(integer(item, "n_threads", kMaxThreads)),
            rate(item, "stream_bytes_per_s"), rate(item, "flops_per_s")};
  }

  std::string_view where_;
  std::string problem_;
};

/// The measured rates of a type whose number of threads is nearest.
const MatmulRates* find_matmul(const MachineMeasurement& machine, DType weights, int n_threads) {
  const MatmulRates* best = nullptr;
  for (const MatmulRates& rates : machine.matmuls) {
    if (rates.dtype != weights) continue;
    if (!best || std::abs(rates.n_threads - n_threads) < std::abs(best->n_threads - n_threads)) best = &rates;
  }
  return best;
}

}  // namespace

Value machine_json(const MachineMeasurement& machine) {
  return Value(Value::Object{{"measured_at", Value(machine.measured_at)},
                             {"processor", Value(machine.processor)},
                             {"kernels", Value(machine.kernels)},
                             {"n_cpus", Value(int64_t{machine.n_cpus})},
                             {"memory_bytes", Value(machine.memory_bytes)},
                             {"buffer_bytes", Value(machine.buffer_bytes)},
                             {"loop_seconds", Value(machine.loop_seconds)},
                             {"threads", list_json(machine.threads, threads_json)},
                             {"matmuls", list_json(machine.matmuls, matmul_json)}});
}

Result<MachineMeasurement> parse_machine(std::string_view json, std::string_view where) {
  VITRO_TRY_ASSIGN(const Value root, parse_json(json, where));
  return MachineReader(where).read(root);
}

std::filesystem::path machine_path() { return cache_folder() / "machine.json"; }

Status save_machine(const MachineMeasurement& machine, const std::filesystem::path& path) {
  VITRO_TRY(make_folders(path.parent_path()));
  const std::string text = to_string(machine_json(machine), std::numeric_limits<size_t>::max()) + "\n";
  return write_file(path, text, true);
}

Result<std::optional<MachineMeasurement>> load_machine(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  VITRO_TRY_ASSIGN(const std::string text, read_small_file(path, kMaxFileBytes));
  VITRO_TRY_ASSIGN(MachineMeasurement machine, parse_machine(text, path.string()));
  return std::optional(std::move(machine));
}

std::vector<WeightShare> weight_shares(const ModelConfig& config, std::span<const BoundTensor> bound) {
  std::vector<WeightShare> shares;
  for (const BoundTensor& tensor : bound) {
    const TensorSlot& slot = *tensor.slot;
    const bool is_head = config.is_head_tied && slot.name == "embed.w";
    const bool is_looked_up = rows_of(slot.name) == RowsOf::kNone && !is_head;
    if (slot.use != SlotUse::kMatrix || is_looked_up) continue;
    const DType dtype = tensor.entry->dtype;
    auto share = std::find_if(shares.begin(), shares.end(), [&](const auto& s) { return s.dtype == dtype; });
    if (share == shares.end()) share = shares.insert(shares.end(), WeightShare{.dtype = dtype});
    share->n_bytes = sat_add(share->n_bytes, loaded_bytes(slot.use, dtype, tensor.shape()));
    share->n_elements = sat_add(share->n_elements, checked_elements(tensor.shape()).value_or(kSaturated));
  }
  return shares;
}

Result<Device> machine_device(const MachineMeasurement& machine, std::span<const WeightShare> weights, int n_threads) {
  double bytes = 0, stream_seconds = 0, elements = 0, product_seconds = 0;
  std::string names;
  for (const WeightShare& share : weights) {
    const MatmulRates* rates = find_matmul(machine, share.dtype, n_threads);
    if (!rates)
      return fail(ErrorCode::kNotFound, "no rate of {} weights was measured; measure anew with 'vitro bench machine'",
                  dtype_info(share.dtype).name);
    bytes += static_cast<double>(share.n_bytes);
    stream_seconds += static_cast<double>(share.n_bytes) / rates->stream.median;
    elements += static_cast<double>(share.n_elements);
    product_seconds += static_cast<double>(share.n_elements) / rates->flops.median;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", dtype_info(share.dtype).name);
  }
  if (!(bytes > 0 && elements > 0)) return fail(ErrorCode::kInvalidArgument, "no weights to time");
  const std::string source = fmt::format("vitro bench machine, {}, {} threads, {} kernels, {}", machine.measured_at,
                                         n_threads, machine.kernels, names);
  Device device{.name = "this", .title = machine.processor, .memory_bytes = machine.memory_bytes};
  device.memory_source = source;
  device.bandwidth = {bytes / stream_seconds, source};
  device.peaks[static_cast<size_t>(PeakType::kF32)] = {elements / product_seconds, source};
  device.certainty = Certainty::kMeasured;
  device.measured_at = machine.measured_at;
  return device;
}

Result<Machine> this_machine(const MachineMeasurement& machine, const ModelConfig& config,
                             std::span<const WeightShare> weights, int n_threads) {
  VITRO_TRY_ASSIGN(Device device, machine_device(machine, weights, n_threads));
  return Machine{.device = std::move(device),
                 .compute = PeakType::kF32,
                 .element_bytes = sizeof(float),
                 .efficiency = machine_efficiency(machine, config, n_threads)};
}

Result<Machine> this_machine(const MachineMeasurement& machine, const ModelConfig& config, std::string_view weight_type,
                             int n_threads) {
  const std::optional<DType> dtype = dtype_named(weight_type);
  if (!dtype) return fail(ErrorCode::kNotFound, "this engine has no kernel for {} weights", weight_type);
  const WeightShare share{.dtype = *dtype, .n_bytes = 1, .n_elements = 1};
  return this_machine(machine, config, {&share, 1}, n_threads);
}

Efficiency machine_efficiency(const MachineMeasurement& machine, const ModelConfig& config, int n_threads) {
  const double n_loops = kLoopsABlock * static_cast<double>(config.n_layer()) + 1;
  return {.seconds_a_pass = n_threads > 1 ? n_loops * machine.loop_seconds : 0,
          .certainty = Certainty::kMeasured,
          .origin = fmt::format("measured on this machine at {}; runs were up to 23 % slower (docs/devices.md)",
                                machine.measured_at)};
}

}  // namespace vitro
