// Expectation: the stored results of one folder, opened: expected.json as a tree, float32 tensors by name.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/mapped_file.h"
#include "formats/safetensors.h"
#include "formats/value.h"
#include "tensor/view.h"

namespace vitro {

/// Float32 tensors of one safetensors file, by name.
class StoredTensors {
 public:
  static Result<StoredTensors> open(const std::filesystem::path& path);
  /// Seen as rows: all dimensions but the last together. Nothing if absent or not F32.
  std::optional<ConstRows> find(std::string_view name) const;
  const WeightIndex& index() const { return header_.tensors; }

 private:
  MappedFile file_;
  SafetensorsFile header_;
};

struct Expectation {
  std::filesystem::path folder;
  Value json;                            ///< expected.json
  std::optional<StoredTensors> tensors;  ///< expected.safetensors, if there
  std::optional<StoredTensors> rope;     ///< rope.safetensors, if there
};
Result<Expectation> open_expectation(const std::filesystem::path& folder);

/// A JSON integer that fits; nothing for anything else.
std::optional<int32_t> int32_of(const Value& value);
/// A JSON array of such integers; nothing for null or anything else.
std::optional<std::vector<int32_t>> id_list(const Value* value);

/// max|a - b| / L2(b) over one row (0 / 0 is 0); NaN anywhere: infinity.
double row_error(const float* ours, const float* reference, int64_t n);
/// max|a - b|; NaN anywhere: infinity.
double absolute_error(const float* ours, const float* reference, int64_t n);

}  // namespace vitro
