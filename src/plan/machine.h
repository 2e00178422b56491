// This machine as it was measured (plan/measure_machine.h), kept in a file where plans find it, and as a device of the
// catalogue. Rates of matrix products are those of this engine's kernels, by weight type.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/value.h"
#include "plan/devices.h"
#include "plan/roofline.h"
#include "tensor/dtype.h"
#include "weights/bind.h"

namespace vitro {

/// The median of several runs, and their best: far apart on a machine that had other work.
struct Rate {
  double median = 0;
  double best = 0;
};

/// What n_threads do together.
struct ThreadRates {
  int n_threads = 1;
  Rate read = {};   ///< bytes/s of a sum over memory beyond the caches
  Rate copy = {};   ///< bytes/s read and written
  Rate flops = {};  ///< FLOP/s of float32 multiply-adds on registers: no kernel is faster
};

/// The engine's kernel of one weight type.
struct MatmulRates {
  DType dtype = DType::kF32;
  int n_threads = 1;
  Rate stream = {};  ///< bytes/s of weights, one row of activations: decoding
  Rate flops = {};   ///< FLOP/s, 128 rows: prefill
};

struct MachineMeasurement {
  std::string measured_at;  ///< "2026-11-30T14:44:15Z"
  std::string processor;    ///< "Intel(R) Xeon(R) Processor"
  std::string kernels;      ///< table of kernels: "avx512"
  int n_cpus = 1;
  int64_t memory_bytes = 0;
  int64_t buffer_bytes = 0;  ///< that read and copy went through
  std::vector<ThreadRates> threads = {};
  std::vector<MatmulRates> matmuls = {};
  double loop_seconds = 0;  ///< to start and end one parallel loop with all threads
};

Value machine_json(const MachineMeasurement& machine);
/// Corrupt, naming the key: not what machine_json writes, or rates that no machine has.
Result<MachineMeasurement> parse_machine(std::string_view json, std::string_view where);

/// machine.json in base/cache_folder.h.
std::filesystem::path machine_path();
/// Makes the folder where it is missing and replaces the file in one step.
Status save_machine(const MachineMeasurement& machine, const std::filesystem::path& path);
/// Nothing where there is no file: measure with `vitro bench machine`. Errors of parse_machine.
Result<std::optional<MachineMeasurement>> load_machine(const std::filesystem::path& path);

/// Matrices of one type that a pass reads.
struct WeightShare {
  DType dtype = DType::kF32;
  int64_t n_bytes = 0;
  int64_t n_elements = 0;
};
/// Of a file: its matrices by type, a tied embedding as the head, one that is only looked up not at all.
std::vector<WeightShare> weight_shares(const ModelConfig& config, std::span<const BoundTensor> bound);

/// "this": memory, and the rates of such weights with n_threads (the nearest count measured): the roofline that this
/// engine has here. Types side by side take the time of each: bytes / sum(bytes / rate), and likewise FLOPs. The peak
/// is that of kF32, in which it computes. NotFound: a type that was not measured; InvalidArgument: no weights.
Result<Device> machine_device(const MachineMeasurement& machine, std::span<const WeightShare> weights, int n_threads);
/// For plans: that device, with the time that starting the parallel loops of a pass takes.
Result<Machine> this_machine(const MachineMeasurement& machine, const ModelConfig& config,
                             std::span<const WeightShare> weights, int n_threads);
/// The same for weights of one type by name ("bf16", "Q4_K"). NotFound also for types that no kernel is for.
Result<Machine> this_machine(const MachineMeasurement& machine, const ModelConfig& config, std::string_view weight_type,
                             int n_threads);
/// Reaches all of such a device; starting the parallel loops of a pass takes time.
Efficiency machine_efficiency(const MachineMeasurement& machine, const ModelConfig& config, int n_threads);

}  // namespace vitro
