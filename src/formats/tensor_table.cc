#include "formats/tensor_table.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "formats/quote_name.h"

namespace vitro {

Result<uint64_t> tensor_bytes(DType dtype, const Shape& shape) {
  if (const auto n_bytes = checked_bytes(dtype, shape)) return static_cast<uint64_t>(*n_bytes);
  const DTypeInfo& info = dtype_info(dtype);
  if (shape.last() % info.block_elements != 0) {
    return fail(ErrorCode::kCorrupt, "shape {}: a row of {} is not whole blocks of {} {}", to_string(shape),
                shape.last(), info.block_elements, info.name);
  }
  return fail(ErrorCode::kCorrupt, "shape {} of {}: its size does not fit into 63 bits", to_string(shape), info.name);
}

Status sort_by_name(WeightIndex& tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  const auto twin =
      std::adjacent_find(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name == b.name; });
  if (twin == tensors.end()) return {};
  return fail(ErrorCode::kCorrupt, "tensor {} is there twice", quote_name(twin->name));
}

std::vector<WeightEntry*> by_offset(WeightIndex& tensors) {
  std::vector<WeightEntry*> order;
  order.reserve(tensors.size());
  for (WeightEntry& entry : tensors) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const WeightEntry* a, const WeightEntry* b) {
    return std::tie(a->begin, a->end) < std::tie(b->begin, b->end);
  });
  return order;
}

const WeightEntry* find_entry(const WeightIndex& tensors, std::string_view name) {
  const auto at = std::lower_bound(tensors.begin(), tensors.end(), name,
                                   [](const WeightEntry& entry, std::string_view key) { return entry.name < key; });
  return at != tensors.end() && at->name == name ? &*at : nullptr;
}

std::string type_names(const WeightIndex& tensors) {
  std::map<DType, uint64_t> n_bytes;
  for (const WeightEntry& entry : tensors) n_bytes[entry.dtype] += entry.end - entry.begin;
  std::vector<std::pair<DType, uint64_t>> types(n_bytes.begin(), n_bytes.end());
  std::stable_sort(types.begin(), types.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out;
  for (const auto& [dtype, ignored] : types) out += fmt::format("{}{}", out.empty() ? "" : " ", dtype_info(dtype).name);
  return out;
}

}  // namespace vitro
