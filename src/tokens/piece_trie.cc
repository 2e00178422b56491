// Built level by level, so that children come out side by side.
#include "tokens/piece_trie.h"

#include <algorithm>
#include <bit>

namespace vitro {
namespace {

constexpr size_t kMaxNodes = size_t{1} << 24;  // 17 bytes each; a vocabulary of 256,000 pieces has under two million

}  // namespace

Result<PieceTrie> PieceTrie::make(std::vector<Entry> entries) {
  std::erase_if(entries, [](const Entry& entry) { return entry.piece.empty(); });
  for (const Entry& entry : entries) {
    if (entry.piece.size() <= kMaxPieceBytes) continue;
    return fail(ErrorCode::kUnsupported, "piece {} has {} bytes, at most {} are supported for this kind of model",
                entry.id, entry.piece.size(), kMaxPieceBytes);
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.piece < b.piece; });
  struct Job {  // entries that share the first `depth` bytes, which lead to the node of the same index
    uint32_t begin;
    uint32_t end;
    uint32_t depth;
  };
  PieceTrie out;
  std::vector<Job> jobs = {{0, static_cast<uint32_t>(entries.size()), 0}};
  for (size_t node = 0; node < jobs.size(); ++node) {
    auto [begin, end, depth] = jobs[node];
    for (; begin < end && entries[begin].piece.size() == depth; ++begin) out.nodes_[node].id = entries[begin].id;
    out.nodes_[node].first_child = static_cast<Node>(jobs.size());
    ByteSet set{};
    while (begin < end) {
      const auto byte = static_cast<uint8_t>(entries[begin].piece[depth]);
      const uint32_t first = begin;
      while (begin < end && static_cast<uint8_t>(entries[begin].piece[depth]) == byte) ++begin;
      jobs.push_back({first, begin, depth + 1});
      out.nodes_.emplace_back();
      out.bytes_.push_back(byte);
      set[byte / 64] |= uint64_t{1} << (byte % 64);
    }
    NodeData& data = out.nodes_[node];
    data.n_children = static_cast<uint16_t>(jobs.size() - data.first_child);
    if (jobs.size() > kMaxNodes)
      return fail(ErrorCode::kUnsupported, "pieces with over {} different beginnings in all", kMaxNodes);
    if (data.n_children <= kMaxNarrow) continue;
    data.wide = static_cast<uint32_t>(out.wide_.size());
    out.wide_.push_back(set);
  }
  return out;
}

PieceTrie::Node PieceTrie::step_wide(const NodeData& data, uint8_t byte) const {
  const ByteSet& set = wide_[data.wide];
  const size_t word = byte / 64;
  const uint64_t bit = uint64_t{1} << (byte % 64);
  if ((set[word] & bit) == 0) return kRoot;
  auto rank = static_cast<uint32_t>(std::popcount(set[word] & (bit - 1)));
  for (size_t i = 0; i < word; ++i) rank += static_cast<uint32_t>(std::popcount(set[i]));
  return data.first_child + rank;
}

PieceTrie::Node PieceTrie::walk(Node node, std::string_view text) const {
  for (const char c : text) {
    node = step(node, static_cast<uint8_t>(c));
    if (node == kRoot) break;
  }
  return node;
}

TokenId PieceTrie::find(std::string_view piece) const {
  const Node node = walk(kRoot, piece);
  return node == kRoot ? -1 : nodes_[node].id;
}

}  // namespace vitro
