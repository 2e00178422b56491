// CharacterTrie: which pieces of a vocabulary begin at a place of a word, over code points. Cheap to make anew, which
// training does in each turn (piece_trie.h is its slower to build, faster to read relative). Nodes are numbers, edges
// one hash table.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace vitro {

class CharacterTrie {
 public:
  /// Pieces get the ids 0, 1, ... in the order of add.
  void clear();
  void add(std::u32string_view piece, int32_t id);

  /// Calls take(length, id) for each piece that `text` begins with, shorter ones first.
  template <class Take>
  void for_each_prefix(std::u32string_view text, Take&& take) const {
    uint32_t node = 0;
    for (size_t n = 0; n < text.size(); ++n) {
      node = child(node, text[n]);
      if (node == 0) return;
      if (ids_[node] >= 0) take(n + 1, ids_[node]);
    }
  }

 private:
  struct Edge {
    uint32_t parent = 0;
    char32_t character = 0;
    uint32_t child = 0;  ///< 0: a free slot; no edge leads to the root
  };
  size_t slot_of(uint32_t parent, char32_t character) const {
    const uint64_t key = uint64_t{parent} << 32 | character;
    const size_t mask = edges_.size() - 1;
    size_t slot = static_cast<size_t>((key * 0x9E3779B97F4A7C15u) >> 24) & mask;
    while (edges_[slot].child != 0 && (edges_[slot].parent != parent || edges_[slot].character != character)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }
  uint32_t child(uint32_t parent, char32_t character) const { return edges_[slot_of(parent, character)].child; }
  void grow();

  std::vector<Edge> edges_;   ///< open addressing, at most half full, size a power of two
  std::vector<int32_t> ids_;  ///< by node; -1: no piece ends here
};

}  // namespace vitro
