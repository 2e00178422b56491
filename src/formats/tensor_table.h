// What the readers of tensor files share: sizes of untrusted shapes, and tables put in order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/weight_index.h"

namespace vitro {

/// Bytes of a dense tensor. Corrupt if its rows are not whole blocks or its size does not fit into 63 bits.
Result<uint64_t> tensor_bytes(DType dtype, const Shape& shape);

/// Sorts by name. Corrupt, naming it, if two tensors have one name.
Status sort_by_name(WeightIndex& tensors);

/// The entries in the order in which they lie in the file (empty ones before a full one at the same place).
std::vector<WeightEntry*> by_offset(WeightIndex& tensors);

/// The entry of that name in a sorted index, or null.
const WeightEntry* find_entry(const WeightIndex& tensors, std::string_view name);

/// Names of the types, those with most bytes first: "Q4_1 F32".
std::string type_names(const WeightIndex& tensors);

}  // namespace vitro
