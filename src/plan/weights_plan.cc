#include "plan/weights_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/checked_math.h"
#include "base/human.h"
#include "base/saturating.h"
#include "tensor/dtype.h"
#include "tensor/panel.h"

namespace vitro {
namespace {

constexpr int64_t kPanelAlignment = 64;

int64_t elements(const Shape& shape) {
  int64_t n = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) n = sat_mul(n, shape[axis]);
  return n;
}

// The decoder's block of "blocks.3.ffn.w_up"; nothing for tensors outside, and for those of an encoder-decoder's
// encoder.
const BlockSpec* block_of(const ModelConfig& config, std::string_view name) {
  const SlotPlace place = place_of(name);
  if (place.is_encoder || place.layer < 0 || place.layer >= config.n_layer()) return nullptr;
  return &config.blocks[static_cast<size_t>(place.layer)];
}

// Matrices of a slot that one token meets: of rank-3 tensors of experts, the chosen ones.
int64_t n_active_matrices(const ModelConfig& config, const TensorSlot& slot, Component component) {
  const BlockSpec* block = block_of(config, slot.name);
  return component == Component::kExperts && block ? block->ffn.moe.n_expert_used : 1;
}

// Elements that one token meets.
int64_t active_elements(const ModelConfig& config, const TensorSlot& slot, Component component) {
  const int64_t n = elements(slot.shape);
  if (component != Component::kExperts || slot.shape[0] == 0) return n;
  return sat_mul(n / slot.shape[0], n_active_matrices(config, slot, component));
}

// Inputs and outputs of one row.
int64_t edges(const ModelConfig& config, const TensorSlot& slot, Component component) {
  const int rank = slot.shape.rank();
  const int64_t n_in_out = sat_add(slot.shape.last(), rank > 1 ? slot.shape[rank - 2] : 0);
  return sat_mul(n_in_out, n_active_matrices(config, slot, component));
}

const WeightFormat& format_of(const WeightStorage& storage, const TensorSlot& slot,
                              std::optional<Component> component) {
  if (slot.use == SlotUse::kVector || !component) return storage.vectors;
  const bool is_outer = *component == Component::kEmbedding || *component == Component::kHead;
  return is_outer ? storage.embeddings : storage.matrices;
}

// A matrix of any rank is rows of its last dimension; each of stacked ones has panels of its own.
int64_t slot_bytes(SlotUse use, const Shape& shape, const WeightFormat& format, bool is_panels) {
  const int64_t n_cols = std::max<int64_t>(shape.last(), 1);
  const int64_t n_rows = elements(shape) == kSaturated ? kSaturated : elements(shape) / n_cols;
  if (!is_panels) return sat_mul(n_rows, format.row_bytes(n_cols));
  if (use == SlotUse::kVector) return sat_mul(elements(shape), kF32Weights.block_bytes);
  if (shape.rank() == 3) return sat_mul(shape[0], slot_bytes(use, part_shape(shape), format, is_panels));
  const int64_t panel = sat_mul(kRowsPerPanel, format.row_bytes(n_cols));
  if (panel > kSaturated - kPanelAlignment || n_rows > kSaturated - kRowsPerPanel) return kSaturated;
  return sat_mul(ceil_div(n_rows, kRowsPerPanel), round_up(panel, kPanelAlignment));
}

class Summing {
 public:
  explicit Summing(const ModelConfig& config) : config_(config) {}

  void add(const TensorSlot& slot, int64_t n_bytes) {
    const auto component = component_of(slot.name);
    if (!component || !slot.is_parameter) {
      plan_.table_bytes = sat_add(plan_.table_bytes, n_bytes);
      return;
    }
    ComponentWeights& sum = plan_.components[static_cast<size_t>(*component)];
    const int64_t n = elements(slot.shape);
    sum.n_parameters = sat_add(sum.n_parameters, n);
    sum.n_active = sat_add(sum.n_active, active_elements(config_, slot, *component));
    sum.n_bytes = sat_add(sum.n_bytes, n_bytes);
    add_kind({slot.shape, n_bytes, 1}, &sum.kinds);
    if (slot.use != SlotUse::kMatrix) return;
    sum.n_matrix = sat_add(sum.n_matrix, n);
    MatrixSum& matrix = plan_.matrices[static_cast<size_t>(*component)][static_cast<size_t>(rows_of(slot.name))];
    matrix.n_active = sat_add(matrix.n_active, active_elements(config_, slot, *component));
    matrix.n_edges = sat_add(matrix.n_edges, edges(config_, slot, *component));
    matrix.n_bytes = sat_add(matrix.n_bytes, n_bytes);
  }

  WeightsPlan take(bool is_loadable) {
    plan_.is_loadable = is_loadable;
    return std::move(plan_);
  }

 private:
  static void add_kind(const TensorKind& kind, std::vector<TensorKind>* kinds) {
    const auto at = std::find_if(kinds->begin(), kinds->end(), [&](const TensorKind& other) {
      return other.shape == kind.shape && other.tensor_bytes == kind.tensor_bytes;
    });
    if (at != kinds->end()) ++at->n_tensors;
    if (at == kinds->end()) kinds->push_back(kind);
  }

  const ModelConfig& config_;
  WeightsPlan plan_;
};

// "64 x 11,008 x 4,096", as bytes with " x 2 B" behind it, or "64 x 25,362,432 B" where an element is no whole bytes.
std::string kind_words(const TensorKind& kind, bool is_bytes) {
  const std::string count = kind.n_tensors > 1 ? human_count(kind.n_tensors) + " x " : "";
  const int64_t n = elements(kind.shape);
  const int64_t element_bytes = n > 0 && kind.tensor_bytes % n == 0 ? kind.tensor_bytes / n : 0;
  if (is_bytes && element_bytes == 0) return fmt::format("{}{} B", count, human_count(kind.tensor_bytes));
  std::string product;
  for (int axis = 0; axis < kind.shape.rank(); ++axis) {
    product += fmt::format("{}{}", axis > 0 ? " x " : "", human_count(kind.shape[axis]));
  }
  return count + product + (is_bytes ? fmt::format(" x {} B", element_bytes) : "");
}

std::string kinds_words(const std::vector<TensorKind>& kinds, bool is_bytes) {
  constexpr size_t kMostKinds = 6;
  std::string words;
  for (size_t i = 0; i < std::min(kinds.size(), kMostKinds); ++i) {
    words += fmt::format("{}{}", i > 0 ? " + " : "", kind_words(kinds[i], is_bytes));
  }
  return kinds.size() > kMostKinds ? fmt::format("{} + {} kinds more", words, kinds.size() - kMostKinds) : words;
}

// A tree of one figure of every component.
PlanItem component_item(const WeightsPlan& plan, std::string name, int64_t ComponentWeights::*figure, bool is_bytes) {
  std::vector<PlanItem> groups;
  for (int i = 0; i < kNComponents; ++i) {
    const auto component = static_cast<Component>(i);
    const std::string_view group = component_group(component);
    auto at = std::find_if(groups.begin(), groups.end(), [&](const PlanItem& item) { return item.name == group; });
    if (at == groups.end()) at = groups.insert(groups.end(), PlanItem{.name = std::string(group)});
    at->parts.push_back({.name = std::string(component_name(component)),
                         .amount = plan[component].*figure,
                         .formula = is_bytes ? "tensors x rows x columns x bytes" : "tensors x rows x columns",
                         .arithmetic = kinds_words(plan[component].kinds, is_bytes)});
  }
  for (PlanItem& group : groups) {
    PlanItem sum = sum_item(std::move(group.name), std::move(group.parts));
    const bool is_alone = sum.parts.size() == 1 && sum.parts[0].name == sum.name;
    group = is_alone ? PlanItem(sum.parts[0]) : std::move(sum);
  }
  return sum_item(std::move(name), std::move(groups));
}

}  // namespace

ComponentWeights WeightsPlan::total() const {
  ComponentWeights sum;
  for (const ComponentWeights& part : components) {
    sum.n_parameters = sat_add(sum.n_parameters, part.n_parameters);
    sum.n_active = sat_add(sum.n_active, part.n_active);
    sum.n_matrix = sat_add(sum.n_matrix, part.n_matrix);
    sum.n_bytes = sat_add(sum.n_bytes, part.n_bytes);
  }
  return sum;
}

WeightsPlan plan_weights(const ModelConfig& config, std::span<const TensorSlot> slots, const WeightStorage& storage) {
  Summing sum(config);
  for (const TensorSlot& slot : slots) {
    if (slot.is_optional) continue;
    const WeightFormat& format = format_of(storage, slot, component_of(slot.name));
    sum.add(slot, slot_bytes(slot.use, slot.shape, format, storage.is_panels));
  }
  return sum.take(is_loadable(storage.matrices) && is_loadable(storage.embeddings));
}

WeightsPlan plan_weights(const ModelConfig& config, std::span<const BoundTensor> bound, bool is_panels) {
  Summing sum(config);
  int64_t n_bytes = 0;
  bool is_loadable = true;
  for (size_t i = 0; i < bound.size(); ++i) {
    const TensorSlot& slot = *bound[i].slot;
    const DTypeInfo& info = dtype_info(bound[i].entry->dtype);
    const WeightFormat format{info.name, info.block_elements, info.block_bytes};
    is_loadable = is_loadable && (slot.use == SlotUse::kVector || has_panel_layout(bound[i].entry->dtype));
    n_bytes = sat_add(n_bytes, slot_bytes(slot.use, bound[i].shape(), format, is_panels));
    // Experts that the file has one by one lie together; the slot is counted behind the last.
    if (i + 1 < bound.size() && bound[i + 1].slot == &slot) continue;
    sum.add(slot, n_bytes);
    n_bytes = 0;
  }
  return sum.take(is_loadable);
}

PlanItem parameter_item(const WeightsPlan& plan) {
  return component_item(plan, "parameters", &ComponentWeights::n_parameters, false);
}

PlanItem weight_bytes_item(const WeightsPlan& plan) {
  PlanItem item = component_item(plan, "weights", &ComponentWeights::n_bytes, true);
  item.parts.push_back({.name = "tables", .amount = plan.table_bytes, .formula = "tensors that are not trained"});
  return sum_item("weights", std::move(item.parts), ItemKind::kWeights);
}

}  // namespace vitro
