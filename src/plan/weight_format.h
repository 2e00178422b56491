// WeightFormat: how many bytes an element of a weight takes: the element types of files, and the formats that only
// other engines have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace vitro {

/// A row of n elements takes ceil(n / block_elements) blocks. Formats with scales over long spans (double
/// quantisation) are given over the span.
struct WeightFormat {
  std::string_view name;
  int64_t block_elements = 1;
  int64_t block_bytes = 2;

  int64_t row_bytes(int64_t n_elements) const;  ///< saturating
  double bytes_per_element() const { return static_cast<double>(block_bytes) / static_cast<double>(block_elements); }
  friend bool operator==(const WeightFormat&, const WeightFormat&) = default;
};

inline constexpr WeightFormat kF32Weights{"f32", 1, 4};
inline constexpr WeightFormat kBf16Weights{"bf16", 1, 2};

/// By name, any case: every type of tensor/dtype.h ("bf16", "q4_k", "f8_e4m3"), and int8, fp8, nf4 (blocks of 64 with a
/// float32 scale), nf4-dq (double quantisation; Dettmers et al. 2023, arXiv 2305.14314), int4 (groups of 128, float16
/// scale, 4-bit zero). InvalidArgument lists them.
Result<WeightFormat> parse_weight_format(std::string_view name);
/// Whether this engine multiplies by such weights.
bool is_loadable(const WeightFormat& format);
/// All names, with commas.
std::string weight_format_names();

}  // namespace vitro
