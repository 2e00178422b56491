// Rows of the attention map, recomputed from the query, the cached keys and the row's log-sum-exp: exact, and the pass
// is not disturbed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/hook.h"

namespace vitro {

/// Probabilities of one row (row `i` of `rows`) and one query head over its keys, first_key(pos) .. pos. They sum to 1.
std::vector<float> attention_row(const AttentionSite& site, const SequenceRows& rows, int64_t i, int64_t head);

/// How much one head of one block looks from the last row at one earlier token.
struct HeadLook {
  int64_t layer = 0;
  int64_t head = 0;
  int64_t key_pos = 0;
  float probability = 0;
};

/// A sink that keeps, for the last row of each pass, every head's probabilities over all keys.
class LastRowLooks : public HookSink {
 public:
  LastRowLooks() : HookSink({HookPoint::kPattern}) {}
  void value(const HookSite&, ConstRows) override {}
  void attention(const AttentionSite& site) override;

  /// The strongest looks at any key but position 0 (where heads rest that have nothing to say) and the row itself,
  /// strongest first.
  std::vector<HeadLook> strongest(size_t n) const;
  /// Mean over all heads of all blocks, by key position.
  std::vector<float> mean_by_key() const;

 private:
  struct Row {
    int64_t layer, head, first_key;
    std::vector<float> probs;
  };
  std::vector<Row> rows_;
};

}  // namespace vitro
