// Views of tensors: they see bytes and own nothing. Passed by value, never kept beyond the call unless the owner is
// named.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/check.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace vitro {

/// A read-only dense tensor of any type (also quantised), rows outermost first. Empty (data null) where a model has no
/// such tensor.
struct ConstTensorView {
  const std::byte* data = nullptr;
  DType dtype = DType::kF32;
  Shape shape;

  bool empty() const { return data == nullptr; }
  int64_t n_bytes() const { return checked_bytes(dtype, shape).value_or(0); }
  /// All bytes, for readers that check ranges.
  std::span<const std::byte> bytes() const { return {data, static_cast<size_t>(n_bytes())}; }
};

/// Rows of float32: [n_rows, width], `stride` floats from row to row (>= width). T is float or const float.
/// Activations are float32 throughout, so this is the view that the story passes around.
template <class T>
struct BasicRows {
  T* data = nullptr;
  int64_t n_rows = 0;
  int64_t width = 0;
  int64_t stride = 0;

  BasicRows() = default;
  BasicRows(T* data_in, int64_t n_rows_in, int64_t width_in) : BasicRows(data_in, n_rows_in, width_in, width_in) {}
  BasicRows(T* data_in, int64_t n_rows_in, int64_t width_in, int64_t stride_in)
      : data(data_in), n_rows(n_rows_in), width(width_in), stride(stride_in) {}
  /// A mutable view is also a read-only one.
  operator BasicRows<const T>() const { return {data, n_rows, width, stride}; }

  bool empty() const { return data == nullptr; }
  T* row(int64_t idx) const {
    VITRO_DCHECK(idx >= 0 && idx < n_rows);
    return data + idx * stride;
  }
  /// Rows [first, first + count).
  BasicRows slice(int64_t first, int64_t count) const {
    VITRO_DCHECK(first >= 0 && first + count <= n_rows);
    return {data + first * stride, count, width, stride};
  }
};
using Rows = BasicRows<float>;
using ConstRows = BasicRows<const float>;

/// A float32 tensor seen as rows, all dimensions but the last together; nothing for other types and for misaligned
/// bytes.
std::optional<ConstRows> float_rows(const ConstTensorView& view);

/// A shape comment that is executed: VITRO_SHAPE(q, n_tokens, n_head * d_head);
/// A failure prints the names and the numbers.
#ifdef NDEBUG
#define VITRO_SHAPE(rows, n, w) static_cast<void>(0)
#else
#define VITRO_SHAPE(rows, n, w)                                                                                       \
  (((rows).n_rows == (n) && (rows).width == (w))                                                                      \
       ? static_cast<void>(0)                                                                                         \
       : ::vitro::shape_failed({__FILE__, __LINE__, #rows " is not [" #n ", " #w "]"}, {(rows).n_rows, (rows).width}, \
                               {(n), (w)}))
#endif

/// Where a shape did not hold, and in which words.
struct ShapeClaim {
  const char* file;
  int line;
  const char* text;
};
[[noreturn]] void shape_failed(const ShapeClaim& claim, const Shape& found, const Shape& expected);

}  // namespace vitro
