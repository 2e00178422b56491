// The promises of weight_index.h, checked from outside: for tests that feed broken files and for the fuzz targets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/weight_index.h"

namespace vitro::testing {

/// What a reader's table breaks, or nothing. `file_bytes` is the length of the file (UINT64_MAX: data may be missing).
inline std::string broken_rule(const WeightIndex& tensors, uint64_t file_bytes) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const WeightEntry& entry = tensors[i];
    if (i > 0 && tensors[i - 1].name >= entry.name) return "not sorted or not unique: " + entry.name;
    if (entry.begin > entry.end || entry.end > file_bytes) return "outside the file: " + entry.name;
    const auto n_bytes = checked_bytes(entry.dtype, entry.shape);
    if (!n_bytes || static_cast<uint64_t>(*n_bytes) != entry.end - entry.begin) return "wrong size: " + entry.name;
    ranges.emplace_back(entry.begin, entry.end);
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i - 1].second) return "ranges overlap";
  }
  return {};
}

}  // namespace vitro::testing
