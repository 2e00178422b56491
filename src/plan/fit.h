// Fit: the inverse questions. How long a context, how many sequences, which format, how many devices? Each is a search
// over the same function that plans the memory, so the answer comes with its proof: it fits at n and not at n + 1.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/config.h"
#include "plan/devices.h"
#include "plan/inference_plan.h"

namespace vitro {

/// Bytes that n of something take; must not shrink as n grows. kSaturated: more than 64 bits.
using BytesOf = std::function<Result<int64_t>(int64_t n)>;

/// Why n is not larger.
enum class FitLimit : uint8_t {
  kMemory,   ///< n + 1 needs more than the budget
  kLimit,    ///< the search was told to stop there: positions that the model can tell apart, a limit of the engine
  kNothing,  ///< not even 1 fits: n is 0
};

struct Fit {
  int64_t n = 0;
  FitLimit limit = FitLimit::kMemory;
  int64_t budget = 0;
  int64_t n_bytes = 0;     ///< at n; 0 where n is 0
  int64_t next_bytes = 0;  ///< at n + 1, above the budget; 0 where limit is kLimit
  int n_plans = 0;         ///< plans that the search made
};

/// The largest n of 1 .. limit with bytes_of(n) <= budget. Doubles, then halves: about 2 log2(n) plans. Errors of
/// bytes_of at 1 are handed on; later ones too.
Result<Fit> largest_fit(const BytesOf& bytes_of, int64_t budget, int64_t limit);

/// What a search plans: the shape, of which it varies one size, with a row of logits a sequence, on each of n_devices.
struct FitQuestion {
  InferenceShape shape;
  int64_t n_devices = 1;                 ///< tensor parallel; what counts is what one of them holds
  bool has_source_like_context = false;  ///< n_source follows n_ctx: texts in, texts of the same length out
};

/// The context of each sequence. n_ctx of the shape does not matter; searched up to n_reachable(config). The trained
/// length is another matter: see is_beyond_training.
Result<Fit> fit_context(const ModelConfig& config, const WeightsPlan& weights, const FitQuestion& question,
                        int64_t budget);
/// The same of weights and cache alone, without pages and workspace: as most papers count.
Result<Fit> fit_bare_context(const ModelConfig& config, const WeightsPlan& weights, const FitQuestion& question,
                             int64_t budget);
/// Sequences with the context of the shape each. Searched up to 2^20.
Result<Fit> fit_sequences(const ModelConfig& config, const WeightsPlan& weights, const FitQuestion& question,
                          int64_t budget);
/// Whether a context is longer than the model was trained for (config.n_ctx; after stretching, the stretched one).
bool is_beyond_training(const ModelConfig& config, int64_t n_ctx);

struct DeviceFit {
  std::optional<int64_t> n_devices;  ///< nothing: not even a device a head is enough
  int64_t n_bytes = 0;               ///< on each, or on each of the most that were tried
  int64_t fewer_bytes = 0;           ///< on each of the next smaller number; 0 for 1
};
/// The smallest power of two of devices, each with `budget` bytes, that the plan fits on (plan/tensor_parallel.h).
Result<DeviceFit> fit_devices(const ModelConfig& config, const WeightsPlan& weights, const InferenceShape& shape,
                              int64_t budget);

/// One format of the weights tried.
struct FormatFit {
  WeightFormat format;
  double bits = 0;  ///< an element
  int64_t n_bytes = 0;
  bool fits = false;
};
/// Weights of the model in a format.
using WeightsIn = std::function<WeightsPlan(const WeightFormat& format)>;
/// Formats from the widest to the narrowest, all with their bytes for the question; the best that fits is the first
/// that does.
Result<std::vector<FormatFit>> fit_formats(const ModelConfig& config, const WeightsIn& weights_in,
                                           const FitQuestion& question, std::span<const WeightFormat> formats,
                                           int64_t budget);
/// The formats that fit_formats is asked about by default: f32, bf16, q8_0, q6_k, q5_k, q4_k, q3_k, q2_k.
std::vector<WeightFormat> usual_formats();

}  // namespace vitro
