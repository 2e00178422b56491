// PieceTrie: the pieces of a vocabulary as a tree of bytes, for models that ask "which pieces begin here?" (unigram,
// WordPiece). Compact and built in one pass over the sorted pieces: children of a node lie side by side, nodes with
// many of them also have a bit set of their bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokens/tokenizer.h"

namespace vitro {

class PieceTrie {
 public:
  /// The longest piece; bounds the steps for each position of a text. Published pieces are far below.
  static constexpr size_t kMaxPieceBytes = 1024;

  struct Entry {
    std::string_view piece;
    TokenId id = -1;
  };
  /// A place in the tree; the root is never reached by a step.
  using Node = uint32_t;
  static constexpr Node kRoot = 0;

  PieceTrie() = default;
  /// Empty pieces are left out; of twins the last wins. Unsupported: pieces over kMaxPieceBytes, too many bytes in all.
  static Result<PieceTrie> make(std::vector<Entry> entries);

  /// The node one byte further, kRoot where no piece goes on so.
  Node step(Node node, uint8_t byte) const {
    const NodeData& data = nodes_[node];
    if (data.n_children > kMaxNarrow) return step_wide(data, byte);
    for (Node child = data.first_child; child < data.first_child + data.n_children; ++child) {
      if (bytes_[child] == byte) return child;
    }
    return kRoot;
  }
  /// Id of the piece that ends here, or -1.
  TokenId id(Node node) const { return nodes_[node].id; }
  /// Node after all bytes of `text` from `node` on, kRoot where there is none.
  Node walk(Node node, std::string_view text) const;
  /// Id of exactly this piece, or -1.
  TokenId find(std::string_view piece) const;

 private:
  static constexpr uint16_t kMaxNarrow = 4;
  struct NodeData {
    Node first_child = 0;
    TokenId id = -1;
    uint16_t n_children = 0;
    uint32_t wide = 0;  ///< place in wide_ for nodes with more than kMaxNarrow children
  };
  using ByteSet = std::array<uint64_t, 4>;
  Node step_wide(const NodeData& data, uint8_t byte) const;

  std::vector<NodeData> nodes_ = std::vector<NodeData>(1);
  std::vector<uint8_t> bytes_ = std::vector<uint8_t>(1);  ///< the byte that leads to a node
  std::vector<ByteSet> wide_;
};

}  // namespace vitro
