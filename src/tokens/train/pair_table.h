// PairTable: what BPE training knows of each pair of neighbouring symbols: its count, and where it waits in the queue.
#pragma once

#include <cstdint>
#include <vector>

#include "tokens/tokenizer.h"

namespace vitro {

/// (left, right) as one number whose order is that of the pairs.
constexpr uint64_t pair_key(TokenId left, TokenId right) {
  return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
}

/// Open addressing; at most half full.
class PairTable {
 public:
  struct Pair {
    uint64_t key = kFree;
    int64_t count = 0;
    int32_t waiting = -1;  ///< first of its entries in the queue; -1: none
    int32_t fresh = -1;    ///< its entry that is being filled by the current merge; -1: none
    int64_t rank = -1;     ///< its place among the merges; -1: none
  };

  PairTable() : pairs_(size_t{1} << 12) {}

  /// The pair's row, made if it is new. Valid until the next call of get.
  Pair& get(uint64_t key) {
    if (2 * (n_pairs_ + 1) > pairs_.size()) grow();
    Pair& pair = pairs_[slot_of(key)];
    if (pair.key == kFree) {
      pair.key = key;
      ++n_pairs_;
    }
    return pair;
  }
  const std::vector<Pair>& rows() const { return pairs_; }
  static bool is_used(const Pair& pair) { return pair.key != kFree; }

 private:
  static constexpr uint64_t kFree = UINT64_MAX;  // no pair: ids are not negative

  size_t slot_of(uint64_t key) const {
    const size_t mask = pairs_.size() - 1;
    // The high bits of a product depend on all bits of the key.
    size_t slot = static_cast<size_t>((key * 0x9E3779B97F4A7C15u) >> 20) & mask;
    while (pairs_[slot].key != kFree && pairs_[slot].key != key) slot = (slot + 1) & mask;
    return slot;
  }
  void grow() {
    std::vector<Pair> old(pairs_.size() * 2);
    old.swap(pairs_);
    for (const Pair& pair : old) {
      if (is_used(pair)) pairs_[slot_of(pair.key)] = pair;
    }
  }

  std::vector<Pair> pairs_;
  size_t n_pairs_ = 0;
};

}  // namespace vitro
