// Options of `vitro plan`, read into the types that the plan works with. Sizes carry their unit (base/human.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/kv_cache.h"
#include "cli/cli11_fwd.h"
#include "cli/model_argument.h"
#include "model/arch/from_sizes.h"
#include "plan/inference_plan.h"
#include "plan/weight_format.h"

namespace vitro {

struct PlanOptions {
  std::vector<std::string> models;  ///< paths
  std::string arch;                 ///< family of a model of which only sizes are given
  ModelSizes sizes;
  ModelSearch search = {.needs_weights = false};
  bool is_compared = false;

  // Inference.
  int64_t n_ctx = 0;        ///< 0: the model's, at most kDefaultContext
  int64_t n_sequences = 1;  ///< users
  int64_t n_prompt = 0;     ///< 0: as long as the context
  int64_t n_chunk = 0;      ///< rows of a pass; 0: as the engine does
  int64_t n_source = 0;
  std::string cache_type = "f16";
  int64_t page_size = 16;
  bool keeps_only_windows = false;
  bool is_latent_expanded = false;  ///< --mla expanded
  int n_threads = 1;
  std::optional<WeightFormat> weights;     ///< nothing: the file's types, bf16 where there is no file
  std::optional<WeightFormat> embeddings;  ///< nothing: 16 bits, or what --weights says where that is more
  std::optional<EngineKind> engine;        ///< nothing: ours; on a device of the catalogue one that keeps 16 bits
  bool shows_naive = false;

  // Device and questions.
  std::string device;
  std::string device_file;
  int64_t n_devices = 1;
  int64_t budget = 0;  ///< bytes of --fit; 0: the device's
  std::vector<WeightFormat> other_weights;

  // Output.
  bool is_json = false;
  bool is_explained = false;
  std::string svg;
  bool may_replace = false;
};

inline constexpr int64_t kDefaultContext = 4096;

struct SizeRange {
  int64_t least = 1;
  int64_t most = 0;  ///< 0: as much as there are numbers
};
/// An option whose text `parse` turns into a whole number of the range.
CLI::Option* add_size_option(CLI::App& app, const std::string& name, int64_t& value, SizeRange range,
                             Result<int64_t> (*parse)(std::string_view), const std::string& help);

/// One of ModelSizes, with its option.
struct ModelSizeOption {
  const char* name;  ///< "--d-model"
  std::optional<int64_t> ModelSizes::*size;
  const char* help;
};
std::span<const ModelSizeOption> model_size_options();

/// Checked while they are parsed; messages name the option.
void add_plan_options(CLI::App& app, PlanOptions& options);
/// What only a known model shows to be wrong: InvalidArgument names the option.
Status check_options(const PlanOptions& options, const ModelConfig& config);

}  // namespace vitro
