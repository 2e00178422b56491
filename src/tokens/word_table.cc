#include "tokens/word_table.h"

#include <algorithm>
#include <bit>

namespace vitro {
namespace {

constexpr size_t kMaxProbes = 512;

}  // namespace

WordTable::WordTable(size_t n_words, size_t n_bytes) : slots_(std::bit_ceil(std::max<size_t>(16, 2 * n_words))) {
  store_.reserve(n_bytes);
}

Status WordTable::add(std::string_view word, TokenId id) {
  const WordKey key(word);
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < kMaxProbes; ++i) {
    Slot& slot = slots_[(key.hash + i) & mask];
    if (slot.id >= 0 && is_same(slot, word, key)) return {};
    if (slot.id >= 0) continue;
    slot = {key.head, id, static_cast<uint32_t>(word.size()), store_.size()};
    if (word.size() > 8) store_.append(word);
    return {};
  }
  return fail(ErrorCode::kCorrupt, "pieces are made to collide in a hash table");
}

TokenId WordTable::find(std::string_view word, const WordKey& key) const {
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < kMaxProbes; ++i) {
    const Slot& slot = slots_[(key.hash + i) & mask];
    if (slot.id < 0 || is_same(slot, word, key)) return slot.id;
  }
  return -1;
}

}  // namespace vitro
