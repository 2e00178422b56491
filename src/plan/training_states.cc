#include "plan/training_states.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/human.h"
#include "base/saturating.h"
#include "plan/element_bytes.h"

namespace vitro {
namespace {

constexpr int64_t kScaleBlock = 256;     // 8-bit moments that share a float32 scale
constexpr int64_t kSmallest8bit = 4096;  // tensors with fewer elements keep float32 moments

// Data-parallel ranks that share a component's states from `first_stage` of ZeRO on. Ranks with other experts hold none
// of ours.
int64_t n_sharing(const ParallelLayout& layout, Component component, int64_t first_stage) {
  if (layout.zero_stage < first_stage) return 1;
  return component == Component::kExperts ? layout.data / layout.expert : layout.data;
}

// "a x 2 B + b x 8 B": two kinds of things and what each takes.
struct Bytes {
  int64_t n_main = 0, n_other = 0;
  int64_t amount = 0;
};

struct Words {
  std::string_view main, main_unit, other, other_unit;
};

PlanItem bytes_item(Component component, const Bytes& bytes, const Words& words, int64_t n_ranks) {
  PlanItem item{.name = std::string(component_name(component)), .amount = sat_ceil_div(bytes.amount, n_ranks)};
  const auto add = [&](int64_t n, std::string_view name, std::string_view unit) {
    if (n == 0) return;
    const std::string_view plus = item.formula.empty() ? "" : " + ";
    item.formula += fmt::format("{}{} x {}", plus, name, unit);
    item.arithmetic += fmt::format("{}{} x {}", plus, human_count(n), unit);
  };
  add(bytes.n_main, words.main, words.main_unit);
  add(bytes.n_other, words.other, words.other_unit);
  if (n_ranks == 1) return item;
  const bool is_sum = bytes.n_main > 0 && bytes.n_other > 0;
  item.formula = fmt::format("{0}{1}{2} / data-parallel ranks", is_sum ? "(" : "", item.formula, is_sum ? ")" : "");
  item.arithmetic = fmt::format("{0}{1}{2} / {3}", is_sum ? "(" : "", item.arithmetic, is_sum ? ")" : "", n_ranks);
  return item;
}

template <class BytesOf>
PlanItem component_item(std::string name, std::span<const RankTensor> tensors, const ParallelLayout& layout,
                        int64_t first_stage, const Words& words, const BytesOf& bytes_of) {
  std::array<Bytes, kNComponents> sums{};
  for (const RankTensor& tensor : tensors) {
    Bytes& sum = sums[static_cast<size_t>(tensor.component)];
    const Bytes one = bytes_of(tensor);
    sum = {sat_add(sum.n_main, one.n_main), sat_add(sum.n_other, one.n_other), sat_add(sum.amount, one.amount)};
  }
  std::vector<PlanItem> parts;
  for (int i = 0; i < kNComponents; ++i) {
    const auto component = static_cast<Component>(i);
    parts.push_back(
        bytes_item(component, sums[static_cast<size_t>(i)], words, n_sharing(layout, component, first_stage)));
  }
  return sum_item(std::move(name), std::move(parts));
}

// So many bytes for every parameter.
PlanItem uniform_item(std::string name, std::span<const RankTensor> tensors, const ParallelLayout& layout,
                      int64_t first_stage, int64_t n_bytes) {
  const std::string unit = fmt::format("{} B", n_bytes);
  return component_item(std::move(name), tensors, layout, first_stage, {"parameters", unit, "", ""},
                        [&](const RankTensor& tensor) {
                          return Bytes{tensor.n(), 0, sat_mul(tensor.n(), n_bytes)};
                        });
}

Bytes moments_8bit(const RankTensor& tensor) {
  const int64_t n = tensor.n();
  if (n < kSmallest8bit) return {0, n, sat_mul(n, 8)};
  return {n, 0, sat_mul(2, sat_add(n, sat_mul(sat_ceil_div(n, kScaleBlock), 4)))};
}

Bytes moments_muon(const RankTensor& tensor, int64_t moment_bytes) {
  const int64_t n = tensor.n();
  if (tensor.is_matrix && tensor.is_inside) return {n, 0, sat_mul(n, moment_bytes)};
  return {0, n, sat_mul(n, 2 * moment_bytes)};
}

Bytes moments_factored(const RankTensor& tensor, int64_t moment_bytes) {
  if (!tensor.is_matrix) return {0, tensor.n(), sat_mul(tensor.n(), moment_bytes)};
  const int64_t n = sat_mul(tensor.n_matrices, sat_add(tensor.rows, tensor.cols));
  return {n, 0, sat_mul(n, moment_bytes)};
}

PlanItem moments_item(std::span<const RankTensor> tensors, const TrainRecipe& recipe, const ParallelLayout& layout) {
  const int64_t one = recipe.moment_bytes;
  const std::string unit = fmt::format("{} B", one), two_units = fmt::format("2 x {} B", one);
  const auto item = [&](const Words& words, auto bytes_of) {
    return component_item("moments", tensors, layout, 1, words, bytes_of);
  };
  switch (recipe.optimizer) {
    case Optimizer::kAdamW:
      return item({"parameters", two_units, "", ""}, [&](const RankTensor& tensor) {
        return Bytes{tensor.n(), 0, sat_mul(tensor.n(), 2 * one)};
      });
    case Optimizer::kAdam8bit:
      return item({"parameters", "2 x (1 + 4 / 256) B", "parameters of tensors below 4,096", "8 B"}, moments_8bit);
    case Optimizer::kMuon:
      return item({"parameters of matrices", unit, "other parameters", two_units},
                  [&](const RankTensor& tensor) { return moments_muon(tensor, one); });
    case Optimizer::kAdafactor:
      return item({"rows and columns of matrices", unit, "parameters of vectors", unit},
                  [&](const RankTensor& tensor) { return moments_factored(tensor, one); });
    case Optimizer::kSgdMomentum:
      break;
  }
  return uniform_item("moments", tensors, layout, 1, one);
}

// Matrices inside blocks are what is quantised; its type says how.
Bytes frozen_bytes(const RankTensor& tensor, const WeightFormat& base) {
  const int64_t n = tensor.n();
  if (!tensor.is_matrix || !tensor.is_inside) return {0, n, sat_mul(n, kHalfBytes)};
  return {n, 0, sat_mul(tensor.n_matrices, base.row_bytes(sat_mul(tensor.rows, tensor.cols)))};
}

}  // namespace

PlanItem state_item(std::span<const RankTensor> tensors, const TrainRecipe& recipe, const ParallelLayout& layout) {
  PlanItem gradients = uniform_item("gradients", tensors, layout, 2, recipe.gradient_bytes);
  PlanItem main_gradients = uniform_item("float32 gradients", tensors, layout, 2, recipe.main_gradient_bytes);
  gradients.kind = main_gradients.kind = ItemKind::kGradients;
  return sum_item("states",
                  {uniform_item("weights", tensors, layout, 3, recipe.weight_bytes), std::move(gradients),
                   std::move(main_gradients), uniform_item("master weights", tensors, layout, 1, recipe.master_bytes),
                   moments_item(tensors, recipe, layout)});
}

PlanItem frozen_item(std::span<const RankTensor> tensors, const WeightFormat& base, const ParallelLayout& layout) {
  const std::string unit = fmt::format("{} B / {}", base.block_bytes, base.block_elements);
  return component_item("frozen weights", tensors, layout, 3, {"parameters", unit, "other parameters", "2 B"},
                        [&](const RankTensor& tensor) { return frozen_bytes(tensor, base); });
}

PlanItem optimizer_temporary_item(std::span<const RankTensor> tensors, const TrainRecipe& recipe) {
  PlanItem item{.name = "orthogonalisation", .certainty = Certainty::kEstimated};
  if (recipe.optimizer != Optimizer::kMuon) return item;
  for (const RankTensor& tensor : tensors) {
    if (!tensor.is_matrix || !tensor.is_inside) continue;
    const int64_t side = std::min(tensor.rows, tensor.cols);
    const int64_t n = sat_mul(2, sat_add(sat_mul(tensor.rows, tensor.cols), sat_mul(side, side)));
    if (sat_mul(n, kHalfBytes) <= item.amount) continue;
    item.amount = sat_mul(n, kHalfBytes);
    item.formula = "(2 x rows x cols + 2 x min(rows, cols)^2) x 2 B, the largest matrix";
    item.arithmetic = fmt::format("(2 x {} x {} + 2 x {}^2) x 2 B", human_count(tensor.rows), human_count(tensor.cols),
                                  human_count(side));
  }
  return item;
}

int64_t largest_unit(std::span<const RankTensor> tensors, ZeroUnit unit) {
  std::map<int64_t, int64_t> sums;
  int64_t largest = 0;
  for (const RankTensor& tensor : tensors) {
    int64_t& sum = sums[tensor.unit];
    sum = unit == ZeroUnit::kTensor ? tensor.n() : sat_add(sum, tensor.n());
    largest = std::max(largest, sum);
  }
  return largest;
}

PlanItem gathered_item(std::span<const RankTensor> tensors, const TrainRecipe& recipe, const ParallelLayout& layout,
                       bool is_backward) {
  if (layout.zero_stage < 3 || layout.data == 1) return {.name = "gathered"};
  const Factor unit{"parameters of the largest unit", largest_unit(tensors, layout.zero_unit)};
  const Factor bytes{"", recipe.weight_bytes, " B"};
  std::vector<PlanItem> parts = {product_item("weights", {{"units at once", layout.n_gathered}, unit, bytes})};
  if (is_backward) parts.push_back(product_item("gradients", {unit, bytes}));
  return sum_item("gathered", std::move(parts));
}

}  // namespace vitro
