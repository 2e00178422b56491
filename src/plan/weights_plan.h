// The weights of a model by component: parameters, those that a token passes, and bytes, from the slots of its
// description alone or with the types that its file has.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/config.h"
#include "plan/component.h"
#include "plan/item.h"
#include "plan/weight_format.h"
#include "tensor/shape.h"
#include "weights/bind.h"
#include "weights/slot.h"

namespace vitro {

/// In what form weights are kept, where no file says it.
struct WeightStorage {
  WeightFormat matrices = kBf16Weights;
  WeightFormat embeddings = kBf16Weights;  ///< embedding and head
  WeightFormat vectors = kBf16Weights;     ///< norms and biases
  /// As this engine loads them: matrices in panels of 16 rows, vectors in float32.
  bool is_panels = false;
};

/// Tensors of one shape and size.
struct TensorKind {
  Shape shape;
  int64_t tensor_bytes = 0;
  int64_t n_tensors = 0;
};

struct ComponentWeights {
  int64_t n_parameters = 0;
  int64_t n_active = 0;  ///< of the experts only those that one token passes
  int64_t n_matrix = 0;  ///< of n_parameters, those in matrices
  int64_t n_bytes = 0;
  std::vector<TensorKind> kinds = {};  ///< in order of first use
};

/// Matrices of one component that the same rows pass: what their products cost.
struct MatrixSum {
  int64_t n_active = 0;  ///< elements that one row meets
  int64_t n_edges = 0;   ///< inputs and outputs of one row, all products together
  int64_t n_bytes = 0;
};

struct WeightsPlan {
  std::array<ComponentWeights, kNComponents> components{};
  std::array<std::array<MatrixSum, kNRowsOf>, kNComponents> matrices{};
  int64_t table_bytes = 0;  ///< tensors that are no parameters (rotary factors)
  bool is_loadable = true;  ///< this engine multiplies by all formats of matrices

  const ComponentWeights& operator[](Component component) const { return components[static_cast<size_t>(component)]; }
  const MatrixSum& matrix(Component component, RowsOf rows) const {
    return matrices[static_cast<size_t>(component)][static_cast<size_t>(rows)];
  }
  ComponentWeights total() const;
};

/// Of the description alone. Saturates; optional slots are left out.
WeightsPlan plan_weights(const ModelConfig& config, std::span<const TensorSlot> slots, const WeightStorage& storage);
/// Of a file as bound: with is_panels what load_tensors allocates, to the byte, else the bytes in the file.
WeightsPlan plan_weights(const ModelConfig& config, std::span<const BoundTensor> bound, bool is_panels);

/// Trees for people: groups, components inside. Parameters, and bytes.
PlanItem parameter_item(const WeightsPlan& plan);
PlanItem weight_bytes_item(const WeightsPlan& plan);

}  // namespace vitro
