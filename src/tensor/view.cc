#include "tensor/view.h"

#include <fmt/core.h>

namespace vitro {

void shape_failed(const ShapeClaim& claim, const Shape& found, const Shape& expected) {
  check_failed(claim.file, claim.line,
               fmt::format("{}: {}, expected {}", claim.text, to_string(found), to_string(expected)).c_str());
}

std::optional<ConstRows> float_rows(const ConstTensorView& view) {
  const auto* data = reinterpret_cast<const float*>(view.data);
  if (view.dtype != DType::kF32 || reinterpret_cast<uintptr_t>(view.data) % alignof(float) != 0) return std::nullopt;
  const int64_t width = view.shape.last();
  return ConstRows(data, width == 0 ? 0 : view.shape.n_elements() / width, width);
}

}  // namespace vitro
