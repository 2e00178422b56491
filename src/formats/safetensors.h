// safetensors: an 8-byte length, a JSON header, then the tensors back to back.
// https://github.com/huggingface/safetensors
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/value.h"
#include "formats/weight_index.h"

namespace vitro {

/// Header of one file: tensors and the free-form "__metadata__" (null if absent).
struct SafetensorsFile {
  WeightIndex tensors;
  Value metadata;
};

/// Pure function of the bytes: validates everything, touches no tensor. Ranges must be in order without gap or overlap
/// and end at the last byte. `where` names the file in errors. Corrupt on any broken rule; Unsupported for rank > 4 or
/// an unknown dtype. With is_header_only the bytes may end after the header (a model's description without its
/// weights).
Result<SafetensorsFile> read_safetensors(std::span<const std::byte> bytes, std::string_view where,
                                         bool is_header_only = false);

/// The shard file names that model.safetensors.index.json lists, each once, sorted, and the tensor -> shard table to
/// check against. A name with a path separator, "..", NUL or over 255 bytes is refused.
struct ShardIndex {
  std::vector<std::string> files;
  std::vector<std::pair<std::string, int>> tensor_file;  ///< tensor name, index into files; sorted by name
};
Result<ShardIndex> read_shard_index(std::string_view json, std::string_view where);

}  // namespace vitro
