#include "tensor/shape.h"

#include <fmt/core.h>

#include <limits>

#include "base/checked_math.h"

namespace vitro {
namespace {

std::optional<int64_t> to_int64(std::optional<uint64_t> n) {
  if (!n || *n > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  return static_cast<int64_t>(*n);
}

}  // namespace

std::string to_string(const Shape& shape) {
  std::string out = "[";
  for (int axis = 0; axis < shape.rank(); ++axis) out += fmt::format("{}{}", axis ? ", " : "", shape[axis]);
  return out + "]";
}

std::optional<int64_t> checked_elements(const Shape& shape) {
  std::optional<uint64_t> product = 1;
  for (int axis = 0; axis < shape.rank() && product; ++axis) {
    product = checked_mul(*product, static_cast<uint64_t>(shape[axis]));
  }
  return to_int64(product);
}

std::optional<int64_t> checked_bytes(DType dtype, const Shape& shape) {
  const auto elements = checked_elements(shape);
  if (!elements) return std::nullopt;
  const auto per_row = row_bytes(dtype, static_cast<uint64_t>(shape.last()));
  if (!per_row) return std::nullopt;
  if (*elements == 0) return 0;
  return to_int64(checked_mul(static_cast<uint64_t>(*elements / shape.last()), *per_row));
}

}  // namespace vitro
