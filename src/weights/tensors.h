// Tensors: the weights of a model in memory, under our names: matrices in panels with the file's own bits, vectors as
// float32. Immutable after loading.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "formats/checkpoint.h"
#include "tensor/buffer.h"
#include "tensor/panel_matrix.h"
#include "weights/bind.h"

namespace vitro {

class Tensors {
 public:
  /// An absent matrix is empty(), an absent vector has size 0.
  PanelMatrix matrix(std::string_view name) const;
  std::span<const float> vector(std::string_view name) const;

  /// Bytes that are held: all panels, all vectors.
  int64_t n_bytes() const;
  /// Each tensor's name and bytes, matrices first.
  using SeeBytes = std::function<void(std::string_view name, int64_t n_bytes)>;
  void each(const SeeBytes& see) const;

 private:
  friend class TensorLoader;
  struct Matrix {
    PanelMatrix view;
    Buffer panels;
  };
  std::map<std::string, Matrix, std::less<>> matrices_;
  std::map<std::string, std::span<const float>, std::less<>> vectors_;
  Buffer floats_;  ///< all vectors, one behind the other
};

/// Bytes done and bytes in all; called between tensors.
using LoadProgress = std::function<void(int64_t n_done, int64_t n_total)>;

struct LoadOptions {
  bool checks_values = false;  ///< refuse NaN and infinite weights, naming tensor and row
  LoadProgress progress;       ///< may be empty
};

/// Copies every bound tensor into panels or floats, undoing the file's layout, and lets its file pages go. Each
/// tensor's memory is asked for just before it is filled. Corrupt: values that checks_values refuses; OutOfMemory;
/// Unsupported: a quantised transposed matrix, a stacked slot.
Result<Tensors> load_tensors(const Checkpoint& checkpoint, std::span<const BoundTensor> bound,
                             const LoadOptions& options, ThreadPool& pool);

/// Bytes that load_tensors will hold for a slot of this shape and type: what a plan counts. Each part of a stacked
/// matrix has panels of its own.
int64_t loaded_bytes(SlotUse use, DType dtype, const Shape& shape);

}  // namespace vitro
