// Shape: up to four dimensions, outermost first, the last one contiguous.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "base/check.h"
#include "tensor/dtype.h"

namespace vitro {

class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;
  /// At most kMaxRank non-negative dimensions; from our own code only (files are checked before).
  Shape(std::initializer_list<int64_t> dims) {
    VITRO_CHECK(dims.size() <= kMaxRank);
    for (const int64_t dim : dims) append(dim);
  }

  void append(int64_t dim) {
    VITRO_CHECK(rank_ < kMaxRank && dim >= 0);
    dims_[static_cast<size_t>(rank_++)] = dim;
  }

  int rank() const { return rank_; }
  int64_t operator[](int axis) const { return dims_[static_cast<size_t>(axis)]; }
  int64_t last() const { return rank_ == 0 ? 1 : dims_[static_cast<size_t>(rank_ - 1)]; }

  /// Product of the dimensions; 1 for rank 0. Only for shapes whose product is known to fit (checked_elements tells).
  int64_t n_elements() const {
    int64_t product = 1;
    for (int axis = 0; axis < rank_; ++axis) product *= (*this)[axis];
    return product;
  }

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

/// "[4096, 11008]".
std::string to_string(const Shape& shape);

/// Elements of an untrusted shape; nothing if the product does not fit into int64.
std::optional<int64_t> checked_elements(const Shape& shape);

/// Bytes of a dense tensor; nothing if its rows are not whole blocks or the size does not fit into int64.
std::optional<int64_t> checked_bytes(DType dtype, const Shape& shape);

}  // namespace vitro
