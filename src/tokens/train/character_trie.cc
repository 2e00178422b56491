#include "tokens/train/character_trie.h"

namespace vitro {

void CharacterTrie::clear() {
  edges_.assign(size_t{1} << 12, {});
  ids_.assign(1, -1);
}

void CharacterTrie::grow() {
  std::vector<Edge> old(edges_.size() * 2);
  old.swap(edges_);
  for (const Edge& edge : old) {
    if (edge.child != 0) edges_[slot_of(edge.parent, edge.character)] = edge;
  }
}

void CharacterTrie::add(std::u32string_view piece, int32_t id) {
  uint32_t node = 0;
  for (const char32_t character : piece) {
    if (2 * ids_.size() > edges_.size()) grow();
    Edge& edge = edges_[slot_of(node, character)];
    if (edge.child == 0) {
      edge = {node, character, static_cast<uint32_t>(ids_.size())};
      ids_.push_back(-1);
    }
    node = edge.child;
  }
  ids_[node] = id;
}

}  // namespace vitro
