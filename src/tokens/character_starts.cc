// The merges of each symbol over its left and its right edge in two lists, then every character's own merges, beside
// the merges that come before the last of them.
#include "tokens/character_starts.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>

#include "text/byte_level.h"
#include "text/utf8.h"

namespace vitro {
namespace {

using Start = CharacterStarts::Start;
using Limits = CharacterStarts::Limits;
constexpr char32_t kFirstLong = 0x80;

/// A merge seen from one of its symbols: how early, and the other's byte at the edge between them.
struct Edge {
  uint32_t rank = 0;
  uint8_t byte = 0;
};

struct EdgeBytes {
  uint8_t first = 0;
  uint8_t last = 0;
};

std::vector<EdgeBytes> edge_bytes(const Vocabulary& vocabulary) {
  std::vector<EdgeBytes> out(vocabulary.size());
  for (size_t id = 0; id < out.size(); ++id) {
    const std::string_view piece = vocabulary.piece(static_cast<TokenId>(id));
    if (piece.empty()) continue;
    size_t last = piece.size() - 1;
    while (last > 0 && (static_cast<uint8_t>(piece[last]) & 0xC0U) == 0x80) --last;
    out[id] = {static_cast<uint8_t>(byte_level_value(decode_utf8(piece).value)),
               static_cast<uint8_t>(byte_level_value(decode_utf8(piece.substr(last)).value))};
  }
  return out;
}

/// Edges by the id of the symbol: add() all twice, the first time to count them.
class EdgeLists {
 public:
  explicit EdgeLists(size_t n_ids) : ends_(n_ids + 1) {}
  void count(TokenId id) { ++ends_[static_cast<size_t>(id) + 1]; }
  void make_room() {
    for (size_t i = 1; i < ends_.size(); ++i) ends_[i] += ends_[i - 1];
    edges_.resize(ends_.back());
  }
  void add(TokenId id, Edge edge) { edges_[ends_[static_cast<size_t>(id)]++] = edge; }
  std::span<const Edge> of(TokenId id) const {
    const auto idx = static_cast<size_t>(id);
    const size_t begin = idx == 0 ? 0 : ends_[idx - 1];
    return std::span(edges_).subspan(begin, ends_[idx] - begin);
  }

 private:
  std::vector<uint32_t> ends_;  ///< while adding: where the next of an id goes
  std::vector<Edge> edges_;
};

struct Edges {
  EdgeLists left;
  EdgeLists right;

  Edges(const MergeTable& merges, const Vocabulary& vocabulary) : left(vocabulary.size()), right(vocabulary.size()) {
    const std::vector<EdgeBytes> bytes = edge_bytes(vocabulary);
    const auto visit = [&](const auto& on_left, const auto& on_right) {
      for (const MergeTable::Merge& merge : merges.slots()) {
        if (merge.left < 0) continue;
        const EdgeBytes& a = bytes[static_cast<size_t>(merge.left)];
        const EdgeBytes& b = bytes[static_cast<size_t>(merge.right)];
        const bool begins_character = b.first < 0x80 || b.first >= 0xC0;
        if (!begins_character || a.last >= 0xC0) continue;  // inside a character
        if (a.last >= 0x80) on_right(merge.left, Edge{merge.rank, b.first});
        if (b.first >= 0xC0) on_left(merge.right, Edge{merge.rank, a.last});
      }
    };
    visit([&](TokenId id, Edge) { left.count(id); }, [&](TokenId id, Edge) { right.count(id); });
    left.make_room();
    right.make_room();
    visit([&](TokenId id, Edge edge) { left.add(id, edge); }, [&](TokenId id, Edge edge) { right.add(id, edge); });
  }
};

/// The merges of one character for itself.
class OwnMerges {
 public:
  OwnMerges(const MergeTable& merges, std::string_view character, const std::array<TokenId, 256>& bytes)
      : merges_(merges), n_(character.size()) {
    for (size_t i = 0; i < n_; ++i) ids_[i] = bytes[static_cast<uint8_t>(character[i])];
    do {
      firsts_[n_states_] = ids_[0];
      lasts_[n_states_++] = ids_[n_ - 1];
    } while (merge_best());
  }

  Start start() const {
    if (n_ > 2 || n_states_ == 1) return {};
    return {.first = ids_[0], .second = n_ == 2 ? ids_[1] : -1, .n_first = sizes_[0]};
  }
  Limits limits(const Edges& edges) const {
    Limits out;
    for (size_t i = 0; i < n_states_; ++i) {
      for (const Edge& edge : edges.left.of(firsts_[i])) {
        if (edge.rank > last_rank_) continue;
        if (edge.byte < 0x80) out.ascii_before = true;
        if (edge.byte >= 0x80) out.last_bytes |= uint64_t{1} << (edge.byte & 0x3F);
      }
      for (const Edge& edge : edges.right.of(lasts_[i])) {
        if (edge.rank > last_rank_) continue;
        if (edge.byte < 0x80) out.ascii_after = true;
        if (edge.byte >= 0x80) out.first_bytes |= uint64_t{1} << (edge.byte & 0x3F);
      }
    }
    return out;
  }

 private:
  bool merge_best() {
    const MergeTable::Merge* best = nullptr;
    size_t at = 0;
    for (size_t i = 0; i + 1 < n_; ++i) {
      const MergeTable::Merge* merge = merges_.find(ids_[i], ids_[i + 1]);
      if (merge == nullptr || (best != nullptr && best->rank <= merge->rank)) continue;
      best = merge;
      at = i;
    }
    if (best == nullptr) return false;
    last_rank_ = std::max(last_rank_, best->rank);
    ids_[at] = best->joined;
    sizes_[at] = static_cast<uint16_t>(sizes_[at] + sizes_[at + 1]);
    std::copy(ids_.begin() + static_cast<std::ptrdiff_t>(at) + 2, ids_.end(),
              ids_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    std::copy(sizes_.begin() + static_cast<std::ptrdiff_t>(at) + 2, sizes_.end(),
              sizes_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    --n_;
    return true;
  }

  const MergeTable& merges_;
  std::array<TokenId, 3> ids_{};
  std::array<uint16_t, 3> sizes_{1, 1, 1};
  size_t n_ = 0;
  std::array<TokenId, 3> firsts_{};  // of each state on the way, from the bytes to the end
  std::array<TokenId, 3> lasts_{};
  size_t n_states_ = 0;
  uint32_t last_rank_ = 0;
};

}  // namespace

CharacterStarts::CharacterStarts(const MergeTable& merges, const Vocabulary& vocabulary,
                                 const std::array<TokenId, 256>& bytes)
    : starts_(kEnd), limits_(1) {
  const Edges edges(merges, vocabulary);
  std::map<Limits, uint16_t> known{{Limits{}, 0}};
  std::string character;
  for (char32_t code = kFirstLong; code < kEnd; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    character.clear();
    append_utf8(character, code);
    const OwnMerges own(merges, character, bytes);
    Start start = own.start();
    if (start.n_first == 0) continue;
    const auto [place, is_new] = known.try_emplace(own.limits(edges), static_cast<uint16_t>(limits_.size()));
    if (is_new) limits_.push_back(place->first);
    start.limits = place->second;
    starts_[code] = start;
  }
}

}  // namespace vitro
