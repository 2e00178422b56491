// WeightIndex: the validated table of tensors that a file holds. Ranges are inside the file, disjoint, and as long as
// type and shape say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace vitro {

/// One tensor of a file. Shape is outermost first, the last dimension contiguous (GGUF's reversed order is undone by
/// its reader).
struct WeightEntry {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  uint64_t begin = 0;  ///< byte offset in the file
  uint64_t end = 0;    ///< end - begin == bytes(dtype, shape), proven
  int file_idx = 0;    ///< which file of a sharded checkpoint
};

/// Sorted by name, names unique.
using WeightIndex = std::vector<WeightEntry>;

}  // namespace vitro
