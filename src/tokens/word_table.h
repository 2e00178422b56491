// WordTable: words -> token ids, for the words that are one token. Built once, read-only after.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokens/mix_bits.h"
#include "tokens/tokenizer.h"

namespace vitro {

/// Hash of a word, and its first bytes: of words up to eight bytes, head and length say all.
struct WordKey {
  uint64_t head = 0;
  uint64_t hash = 0;

  WordKey() = default;
  explicit WordKey(std::string_view word) {
    const auto load = [&](size_t pos) {
      uint64_t value = 0;
      std::memcpy(&value, word.data() + pos, 8);
      return value;
    };
    const auto load_half = [&](size_t pos) {
      uint32_t value = 0;
      std::memcpy(&value, word.data() + pos, 4);
      return uint64_t{value};
    };
    const auto byte = [&](size_t pos) { return uint64_t{static_cast<uint8_t>(word[pos])}; };
    const size_t n = word.size();
    if (n >= 8) {
      head = load(0);
      hash = mix_bits(head ^ n);
      for (size_t pos = 8; pos + 8 < n; pos += 8) hash = mix_bits(hash ^ load(pos));
      if (n > 8) hash = mix_bits(hash ^ load(n - 8));
    } else if (n >= 4) {
      head = load_half(0) | load_half(n - 4) << 32;
      hash = mix_bits(head ^ n);
    } else if (n > 0) {
      head = byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16;
      hash = mix_bits(head ^ n);
    }
  }
};

class WordTable {
 public:
  /// Room for n words of n_bytes in all.
  WordTable(size_t n_words, size_t n_bytes);
  WordTable() : WordTable(0, 0) {}

  /// Adds a word of at least one byte, unless it is there. Corrupt for words made to collide.
  Status add(std::string_view word, TokenId id);
  /// -1 if there is none.
  TokenId find(std::string_view word) const { return find(word, WordKey(word)); }
  TokenId find(std::string_view word, const WordKey& key) const;
  /// Asks for the memory that find() will look at.
  void prefetch(const WordKey& key) const { __builtin_prefetch(&slots_[key.hash & (slots_.size() - 1)]); }

 private:
  struct Slot {
    uint64_t head = 0;
    TokenId id = -1;
    uint32_t n_bytes = 0;
    uint64_t begin = 0;  ///< of the word's text in store_, if it is longer than its head
  };
  bool is_same(const Slot& slot, std::string_view word, const WordKey& key) const {
    if (slot.head != key.head || slot.n_bytes != word.size()) return false;
    return word.size() <= 8 || std::memcmp(store_.data() + slot.begin, word.data(), word.size()) == 0;
  }

  std::vector<Slot> slots_;
  std::string store_;
};

}  // namespace vitro
