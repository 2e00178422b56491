// MergeTable: which two neighbouring symbols of byte-pair encoding join, and how early.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "tokens/mix_bits.h"
#include "tokens/tokenizer.h"

namespace vitro {

/// (left id, right id) -> (rank, joined id): one open-addressing table.
class MergeTable {
 public:
  struct Merge {
    TokenId left = -1;
    TokenId right = -1;
    uint32_t rank = 0;
    TokenId joined = -1;
  };
  explicit MergeTable(size_t n_merges = 0);
  /// Adds a merge unless the pair has one already. Corrupt for pairs made to collide.
  Status add(const Merge& merge);
  /// Asks for the memory that add() will write.
  void prefetch(TokenId left, TokenId right) const {
    __builtin_prefetch(&slots_[hash_of(left, right) & (slots_.size() - 1)], 1);
  }
  /// Asks for the memory that find() will read, if it will.
  void prefetch_found(TokenId left, TokenId right) const {
    const uint64_t hash = hash_of(left, right);
    if (((filter_[filter_word(hash)] >> (hash >> 58)) & 1) != 0)
      __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
  }
  /// Null if the two do not join.
  const Merge* find(TokenId left, TokenId right) const {
    const uint64_t hash = hash_of(left, right);
    if (((filter_[filter_word(hash)] >> (hash >> 58)) & 1) == 0) return nullptr;
    return find_slot(left, right, hash);
  }
  /// All entries of the table; those with left < 0 are free.
  const std::vector<Merge>& slots() const { return slots_; }

 private:
  static uint64_t hash_of(TokenId left, TokenId right) {
    return mix_bits(static_cast<uint32_t>(left), static_cast<uint32_t>(right));
  }
  size_t filter_word(uint64_t hash) const { return (hash >> 26) & (filter_.size() - 1); }
  const Merge* find_slot(TokenId left, TokenId right, uint64_t hash) const;

  std::vector<Merge> slots_;
  std::vector<uint64_t> filter_;  ///< a bit for each merge's hash: most pairs that do not join need no further look
  size_t n_merges_ = 0;
};

}  // namespace vitro
