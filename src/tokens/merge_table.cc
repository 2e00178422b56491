#include "tokens/merge_table.h"

#include <algorithm>
#include <bit>

namespace vitro {
namespace {

constexpr size_t kMaxProbes = 512;

}  // namespace

MergeTable::MergeTable(size_t n_merges)
    : slots_(std::bit_ceil(std::max<size_t>(16, n_merges + n_merges / 2))),
      filter_(std::bit_ceil(std::max<size_t>(1, n_merges / 8))) {}

Status MergeTable::add(const Merge& merge) {
  if (n_merges_ >= slots_.size() - slots_.size() / 8)
    return fail(ErrorCode::kInternal, "more merges than room was made for");
  const size_t mask = slots_.size() - 1;
  const uint64_t hash = hash_of(merge.left, merge.right);
  for (size_t i = 0; i < kMaxProbes; ++i) {
    Merge& slot = slots_[(hash + i) & mask];
    if (slot.left < 0) {
      slot = merge;
      filter_[filter_word(hash)] |= uint64_t{1} << (hash >> 58);
      ++n_merges_;
      return {};
    }
    if (slot.left == merge.left && slot.right == merge.right) return {};
  }
  return fail(ErrorCode::kCorrupt, "merges are made to collide in a hash table");
}

const MergeTable::Merge* MergeTable::find_slot(TokenId left, TokenId right, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < kMaxProbes; ++i) {
    const Merge& slot = slots_[(hash + i) & mask];
    if (slot.left < 0) return nullptr;
    if (slot.left == left && slot.right == right) return &slot;
  }
  return nullptr;
}

}  // namespace vitro
