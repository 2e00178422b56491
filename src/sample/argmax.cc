// A running maximum with its index does not vectorise, so blocks are reduced in lanes and only a block that raises the
// maximum is remembered; the index is looked up in that block at the end. Strictly greater keeps the earliest block,
// hence the lowest index.
#include "sample/argmax.h"

#include <algorithm>
#include <array>
#include <limits>

#include "sample/sampler.h"

namespace vitro {
namespace {

constexpr size_t kLanes = 16;
constexpr size_t kBlock = 1024;
constexpr float kLowest = -std::numeric_limits<float>::infinity();

struct BlockScan {
  float max = kLowest;
  bool has_nan = false;
};

void scan_value(BlockScan& scan, float value) {
  scan.max = scan.max < value ? value : scan.max;  // a NaN compares false and is passed over
  scan.has_nan |= value != value;
}

BlockScan scan_block(std::span<const float> block) {
  std::array<float, kLanes> max;
  std::array<int32_t, kLanes> n_nan{};
  max.fill(kLowest);
  const size_t n_whole = block.size() / kLanes * kLanes;
  for (size_t i = 0; i < n_whole; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float value = block[i + lane];
      max[lane] = max[lane] < value ? value : max[lane];
      n_nan[lane] += value != value ? 1 : 0;
    }
  }
  BlockScan scan;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    scan_value(scan, max[lane]);
    scan.has_nan |= n_nan[lane] != 0;
  }
  for (size_t i = n_whole; i < block.size(); ++i) scan_value(scan, block[i]);
  return scan;
}

int64_t first_index_of(std::span<const float> row, size_t begin, float value) {
  const auto from = row.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto found = std::find(from, row.end(), value);
  return found == row.end() ? -1 : found - row.begin();
}

}  // namespace

RowScan scan_row(std::span<const float> row) {
  RowScan out;
  float best = kLowest;
  size_t best_block = 0;  // of a row without anything above -inf: its first -inf
  for (size_t begin = 0; begin < row.size(); begin += kBlock) {
    const BlockScan block = scan_block(row.subspan(begin, std::min(kBlock, row.size() - begin)));
    out.has_nan |= block.has_nan;
    if (block.max > best) {
      best = block.max;
      best_block = begin;
    }
  }
  out.argmax = first_index_of(row, best_block, best);
  return out;
}

int64_t argmax(std::span<const float> logits) { return scan_row(logits).argmax; }

}  // namespace vitro
