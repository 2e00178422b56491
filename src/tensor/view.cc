#include "tensor/view.h"

namespace vitro {

std::optional<ConstRows> float_rows(const ConstTensorView& view) {
  const auto* data = reinterpret_cast<const float*>(view.data);
  if (view.dtype != DType::kF32 || reinterpret_cast<uintptr_t>(view.data) % alignof(float) != 0) return std::nullopt;
  const int64_t width = view.shape.last();
  return ConstRows(data, width == 0 ? 0 : view.shape.n_elements() / width, width);
}

}  // namespace vitro
