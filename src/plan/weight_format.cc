#include "plan/weight_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/letters.h"
#include "base/saturating.h"
#include "tensor/dtype.h"
#include "tensor/panel.h"

namespace vitro {
namespace {

// Formats of other engines. nf4: 4 bits and a float32 scale for 64 values. nf4-dq: the scales themselves in 8 bits,
// with a float32 for 256 of them: 16,384 values take 8,192 + 256 + 4 bytes. int4: 128 values with a float16 scale and a
// 4-bit zero, of which two make a byte.
constexpr auto kOthers = std::to_array<WeightFormat>(
    {{"int8", 1, 1}, {"fp8", 1, 1}, {"nf4", 64, 36}, {"nf4-dq", 16384, 8452}, {"int4", 256, 133}});

bool is_same_name(std::string_view a, std::string_view b) { return lower_case(a) == lower_case(b); }

// Weights are real numbers: the integer types and BOOL of files are for tables.
bool is_weight_type(DType dtype) {
  const std::string_view name = dtype_info(dtype).name;
  if (name.starts_with("IQ")) return true;
  return !name.starts_with('I') && !name.starts_with('U') && dtype != DType::kBool;
}

}  // namespace

int64_t WeightFormat::row_bytes(int64_t n_elements) const {
  return sat_mul(sat_ceil_div(n_elements, block_elements), block_bytes);
}

Result<WeightFormat> parse_weight_format(std::string_view name) {
  for (const WeightFormat& format : kOthers) {
    if (is_same_name(format.name, name)) return format;
  }
  for (const DType dtype : kAllDTypes) {
    const DTypeInfo& info = dtype_info(dtype);
    if (is_weight_type(dtype) && is_same_name(info.name, name)) {
      return WeightFormat{info.name, info.block_elements, info.block_bytes};
    }
  }
  return fail(ErrorCode::kInvalidArgument, "'{}' is no format of weights; there are {}", name, weight_format_names());
}

bool is_loadable(const WeightFormat& format) {
  return std::any_of(std::begin(kAllDTypes), std::end(kAllDTypes), [&](DType dtype) {
    return has_panel_layout(dtype) && is_same_name(dtype_info(dtype).name, format.name);
  });
}

std::string weight_format_names() {
  std::string names;
  const auto add = [&](std::string_view name) { names += (names.empty() ? "" : ", ") + lower_case(name); };
  for (const DType dtype : kAllDTypes) {
    if (is_weight_type(dtype)) add(dtype_info(dtype).name);
  }
  for (const WeightFormat& format : kOthers) add(format.name);
  return names;
}

}  // namespace vitro
