// PanelMatrix: a view of a weight matrix [n_rows, n_cols] that lies in panels (tensor/panel.h). The owner is
// weights/Tensors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"
#include "tensor/panel.h"

namespace vitro {

struct PanelMatrix {
  const std::byte* data = nullptr;  ///< null: the model has no such matrix
  DType dtype = DType::kF32;
  int64_t n_rows = 0;
  int64_t n_cols = 0;

  bool empty() const { return data == nullptr; }
  int64_t n_panels() const { return (n_rows + kRowsPerPanel - 1) / kRowsPerPanel; }
  const std::byte* panel(int64_t idx) const { return data + idx * panel_bytes(dtype, n_cols); }
};

}  // namespace vitro
