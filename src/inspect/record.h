// Recorder: a HookSink that keeps copies of what it was asked for, by point and block.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/hook.h"

namespace vitro {

/// A copied value: all rows that passed since the recording began, in order.
struct Recorded {
  int64_t width = 0;
  std::vector<float> values;
  int64_t n_rows() const { return width ? static_cast<int64_t>(values.size()) / width : 0; }
  const float* row(int64_t idx) const { return values.data() + idx * width; }
};

/// Keeps the rows of every point of its mask (kPattern: see attention maps below). For one sequence at a time.
class Recorder : public HookSink {
 public:
  explicit Recorder(HookMask mask) : HookSink(mask) {}

  void value(const HookSite& site, ConstRows rows) override;
  void attention(const AttentionSite& site) override;
  void clear();

  /// Null if nothing was seen there. `layer` is -1 outside the blocks.
  const Recorded* find(HookPoint point, int64_t layer) const;

  /// Attention probabilities of a block: [n_head][n_rows] rows; the row of position p has p - first_key + 1 values from
  /// first_key on.
  struct PatternRow {
    int64_t first_key = 0;
    std::vector<float> probs;
  };
  using Pattern = std::vector<std::vector<PatternRow>>;
  const Pattern* pattern(int64_t layer) const;

 private:
  std::map<std::pair<HookPoint, int64_t>, Recorded> values_;
  std::map<int64_t, Pattern> patterns_;
};

}  // namespace vitro
