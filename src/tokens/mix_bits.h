// The hash of the tokenizer's tables: words (word_table.h), merges (merge_table.h) and which characters are ever
// neighbours in a word (bpe_tables.h). It is fixed and no secret: who makes a file can make keys collide, so tables
// that a file fills bound their own searches.
#pragma once

#include <cstdint>

namespace vitro {

/// A hash of 64 bits: two odd factors, so that every bit of x reaches both ends of the word.
constexpr uint64_t mix_bits(uint64_t x) {
  x *= 0x9E3779B97F4A7C15ULL;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93ULL;
  return x ^ (x >> 32);
}
/// Of an ordered pair.
constexpr uint64_t mix_bits(uint32_t first, uint32_t second) { return mix_bits((uint64_t{first} << 32) | second); }

}  // namespace vitro
