// The work of training and the time, days and energy it takes at a stated share of the device's peak. A multiply-add is
// two FLOPs. Totals of a whole run do not fit into 64 bits: they are doubles.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/config.h"
#include "plan/item.h"
#include "plan/training_plan.h"
#include "plan/weights_plan.h"

namespace vitro {

/// X-macro: enum name, printed name, FLOPs a token. The share of the peak (MFU) means nothing without one of these.
// clang-format off
#define VITRO_FLOPS_CONVENTIONS(X)                                                                                    \
  X(kAllPairs, "all-pairs", "3 x forward: matrices that a token passes, all n x n scores (Korthikanti et al. 2022)")  \
  X(kMasked, "masked", "3 x forward: matrices that a token passes, scores that the mask lets through")                \
  X(kPalm, "palm", "6 N + 12 n_layer n_head d_head n: N all parameters that a token passes (Chowdhery et al. 2022)")  \
  X(kHalved, "halved", "6 N + 6 n_layer n_head d_head n: the same with half of the scores (llm.c)")
// clang-format on

enum class FlopsConvention : uint8_t {
#define VITRO_X(name, text, doc) name,
  VITRO_FLOPS_CONVENTIONS(VITRO_X)
#undef VITRO_X
};
std::string_view flops_convention_name(FlopsConvention convention);
Result<FlopsConvention> parse_flops_convention(std::string_view name);

/// FLOPs of one sequence of the shape, by what is done, each parts by part of a layer.
struct TrainingWork {
  PlanItem model;       ///< forward and backward under the convention: counts for MFU
  PlanItem hardware;    ///< with what is computed again: counts for HFU (kPalm, kHalved: model x executed / 3 forwards)
  double n_tokens = 0;  ///< of one sequence; of an encoder-decoder, both sides
  double n_sequences = 0;  ///< of an optimizer step: micro_batch x n_micro_batches x data

  double flops_per_token() const { return static_cast<double>(model.amount) / n_tokens; }
  double tokens_per_step() const { return n_tokens * n_sequences; }
  double flops_per_step() const { return static_cast<double>(model.amount) * n_sequences; }
};
/// Backward: twice the forward; with LoRA once, the adapters' three times. InvalidArgument as plan_training, and where
/// a sequence needs more than 2^63.
Result<TrainingWork> training_work(const ModelConfig& config, std::span<const TensorSlot> slots,
                                   const TrainingSpec& spec, FlopsConvention convention = FlopsConvention::kAllPairs);

/// A device as numbers, and how it is used.
struct TrainingBudget {
  double peak_flops = 0;  ///< of one device a second, in the type of the matrices
  double watts = 0;       ///< of one device's board; 0: no energy
  double pue = 1.0;       ///< power of the building per power of the devices, at least 1
  double mfu = 0;         ///< model FLOPs a second / peak, (0, 1]
  double n_tokens = 0;    ///< of the whole run; 0: a step only
};

/// One line with its arithmetic.
struct TrainingFigure {
  std::string name, unit;
  double value = 0;
  std::string formula, arithmetic;
};
struct TrainingTime {
  double step_seconds = 0;
  double tokens_per_second = 0;
  double hfu = 0;
  double bubble = 0;        ///< share of a pipeline's time that stages wait: (p - 1) / (v m + p - 1), inside the MFU
  double device_hours = 0;  ///< the whole run
  double days = 0;
  double energy_kwh = 0;
  std::vector<TrainingFigure> figures;  ///< all of these, in order
};
/// InvalidArgument names the parameter.
Result<TrainingTime> training_time(const TrainingWork& work, const ParallelLayout& layout, const TrainingShape& shape,
                                   const TrainingBudget& budget);

}  // namespace vitro
