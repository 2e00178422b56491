#include "cli/plan_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/letters.h"
#include "embedded/open_model.h"
#include "tensor/dtype.h"

namespace vitro {
namespace {

std::string model_name(const std::filesystem::path& path) {
  const std::filesystem::path whole = path.lexically_normal();
  std::filesystem::path name = whole.filename() == "config.json" ? whole.parent_path() : whole;
  if (!name.has_filename()) name = name.parent_path();
  const std::string text = name.filename().string();
  return text.empty() || text == "." ? path.string() : text;
}

// Bytes of the file's matrices by type.
std::map<std::string, int64_t> matrix_types(const std::vector<BoundTensor>& bound) {
  std::map<std::string, int64_t> types;
  for (const BoundTensor& tensor : bound) {
    if (tensor.slot->use != SlotUse::kMatrix) continue;
    types[lower_case(dtype_info(tensor.entry->dtype).name)] +=
        static_cast<int64_t>(tensor.entry->end - tensor.entry->begin);
  }
  return types;
}

PlannedWeights file_weights(const PlanModel& model, EngineKind engine) {
  PlannedWeights weights{.plan = plan_weights(model.config, model.bound, engine == EngineKind::kVitro)};
  const auto types = matrix_types(model.bound);
  int64_t total = 0, most = 0;
  for (const auto& [type, n_bytes] : types) {
    total += n_bytes;
    if (n_bytes <= most) continue;
    most = n_bytes;
    weights.matrix_type = type;
  }
  const double share = 100.0 * static_cast<double>(most) / static_cast<double>(std::max<int64_t>(total, 1));
  weights.words =
      types.size() > 1 ? fmt::format("the file's ({:.0f}% {})", share, weights.matrix_type) : weights.matrix_type;
  return weights;
}

}  // namespace

std::string format_name(const WeightFormat& format) { return lower_case(format.name); }

Result<PlanModel> open_plan_model(const std::string& path) {
  PlanModel model{.name = model_name(path)};
  VITRO_TRY_ASSIGN(Checkpoint checkpoint, open_checkpoint(path, {.needs_weights = false}));
  model.checkpoint = std::make_unique<Checkpoint>(std::move(checkpoint));
  VITRO_TRY_ASSIGN(ModelDescription description, describe_model(*model.checkpoint));
  model.config = std::move(description.config);
  model.slots = description.arch->tensor_slots(model.checkpoint->format(), model.config);
  if (!model.checkpoint->tensors().empty()) {
    VITRO_TRY_ASSIGN(model.bound, bind_tensors(*model.checkpoint, model.slots, description.arch->ignorable_tensors));
  }
  return model;
}

Result<PlanModel> sized_plan_model(const PlanOptions& options) {
  PlanModel model{.name = options.arch};
  VITRO_TRY_ASSIGN(ModelDescription description, describe_sizes(options.arch, options.sizes));
  model.config = std::move(description.config);
  model.slots = description.arch->tensor_slots(SourceFormat::kHuggingFace, model.config);
  return model;
}

Value sizes_json(const PlanOptions& options) {
  if (options.arch.empty()) return {};
  Value::Object sizes;
  for (const ModelSizeOption& option : model_size_options()) {
    const std::optional<int64_t> size = options.sizes.*option.size;
    if (!size) continue;
    std::string key(option.name + 2);
    std::replace(key.begin(), key.end(), '-', '_');
    sizes.emplace_back(std::move(key), Value(*size));
  }
  if (options.sizes.is_tied) sizes.emplace_back("tied", Value(*options.sizes.is_tied));
  return Value(std::move(sizes));
}

PlannedWeights planned_weights(const PlanModel& model, const PlanOptions& options, std::optional<WeightFormat> format,
                               EngineKind engine) {
  if (!format && !model.bound.empty()) return file_weights(model, engine);
  const WeightFormat matrices = format.value_or(kBf16Weights);
  // Quantised models keep embedding and head in 16 bits, or nearly; wide ones as wide as the rest.
  const WeightFormat usual = matrices.bytes_per_element() > 2 ? matrices : kBf16Weights;
  const WeightFormat embeddings = options.embeddings.value_or(usual);
  const WeightStorage storage{
      .matrices = matrices, .embeddings = embeddings, .vectors = usual, .is_panels = engine == EngineKind::kVitro};
  PlannedWeights weights{.plan = plan_weights(model.config, model.slots, storage),
                         .words = format_name(matrices),
                         .matrix_type = format_name(matrices)};
  if (embeddings != matrices) weights.words += fmt::format(", embedding and head {}", format_name(embeddings));
  return weights;
}

}  // namespace vitro
