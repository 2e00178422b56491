// Roofline (Williams, Waterman & Patterson 2009, doi 10.1145/1498765.1498785): the time of a pass on a device from its
// FLOPs and bytes, part by part, and what it says to an operator: time to the first token, time a token, tokens/s at a
// batch, the batch from which on the arithmetic is the limit. With efficiencies of 1 the times are bounds that no
// engine beats; others are estimates, or measurements of this machine.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/config.h"
#include "plan/devices.h"
#include "plan/item.h"
#include "plan/work.h"

namespace vitro {

/// The part of a peak that is reached.
struct Efficiency {
  double compute = 1;
  double bandwidth = 1;
  double link = 1;
  double seconds_a_pass = 0;  ///< starts of kernels or threads, whatever the work is
  Certainty certainty = Certainty::kExact;
  std::string origin = "bound: nothing runs faster";  ///< one line for people
};
/// All 1: times are lower bounds.
Efficiency bound_efficiency();
/// What public measurements of GPU engines say (origin names them). Estimated.
Efficiency usual_efficiency();

enum class BoundBy : uint8_t { kCompute, kMemory, kLink };
std::string_view bound_name(BoundBy bound);

struct PartTime {
  double seconds = 0;
  double compute_seconds = 0;  ///< FLOPs / (peak x efficiency)
  double memory_seconds = 0;   ///< bytes / (bandwidth x efficiency)
  double intensity = 0;        ///< FLOPs a byte
  BoundBy bound = BoundBy::kMemory;
};

struct PassTime {
  std::array<PartTime, kNParts> parts{};
  double link_seconds = 0;           ///< of exchanging sums between devices
  double fixed_seconds = 0;          ///< Efficiency::seconds_a_pass
  double seconds = 0;                ///< sum of the parts, links and what is fixed
  BoundBy bound = BoundBy::kMemory;  ///< what most of the time goes to

  const PartTime& operator[](Part part) const { return parts[static_cast<size_t>(part)]; }
};

/// On what a pass runs.
struct Machine {
  Device device;
  PeakType compute = PeakType::kBf16;  ///< type of the products
  int64_t n_devices = 1;               ///< tensor parallel (plan/tensor_parallel.h)
  int64_t element_bytes = 2;           ///< of an activation that devices exchange
  Efficiency efficiency = {};
};
/// InvalidArgument: no figure for the bandwidth, fewer than 1 device, more than the links of the device join,
/// efficiencies outside (0, 1]. A peak may be missing, as of Apple's devices: memory and fits need none.
Status check_machine(const Machine& machine);
/// Whether there is a peak, so that passes can be timed.
bool has_times(const Machine& machine);
/// check_machine, and InvalidArgument without has_times, naming the peaks that there are.
Status check_timed(const Machine& machine);

/// FLOPs a byte from which on the arithmetic is the limit: peak / bandwidth, efficiencies included.
double ridge_point(const Machine& machine);

/// seconds = sum over parts of max(FLOPs / (peak e1), bytes / (bandwidth e2)) + exchanges. `work` is that of the whole
/// model; the machine must be checked. Without has_times it is the time of the bytes alone: a bound far below.
PassTime time_pass(const ModelConfig& config, const PassWork& work, const PassShape& shape, const Machine& machine);

// ---- serving ----

/// The work of a pass of any shape, of one model.
using WorkOf = std::function<PassWork(const PassShape&)>;

struct Serving {
  int64_t n_prompt = 512;   ///< positions of each prompt
  int64_t n_past = 512;     ///< positions in the cache when a token is made
  int64_t n_sequences = 1;  ///< that make tokens together
  int64_t n_source = 0;     ///< positions of the source of an encoder-decoder
};

struct ServingTimes {
  PassTime prefill;         ///< of one prompt, alone: time to the first token without queues and sampling
  PassTime decode;          ///< of one token of each sequence
  double tokens_per_s = 0;  ///< all sequences together
  double ridge = 0;
  Certainty certainty = Certainty::kExact;
};

/// Errors of check_timed and check_tensor_parallel; InvalidArgument for sizes below 1 (n_past, n_source: 0), and for
/// encoders, which make no tokens.
Result<ServingTimes> serving_times(const ModelConfig& config, const WorkOf& work, const Serving& serving,
                                   const Machine& machine);

/// The batch from which on the matrix products of a token take longer to compute than their weights to read, of the
/// context none; nothing up to 2^20. For dense models peak x bytes an element / (2 x bandwidth).
std::optional<int64_t> crossover_batch(const ModelConfig& config, const WorkOf& work, const Machine& machine);

}  // namespace vitro
