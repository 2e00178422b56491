// Open addressing with linear probing. A file whose pieces were chosen to collide is refused by the length of a probe.
#include "tokens/vocabulary.h"

#include <algorithm>
#include <array>
#include <bit>

#include "formats/json.h"

namespace vitro {
namespace {

constexpr size_t kMaxProbes = 512;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Result<Vocabulary> Vocabulary::with_room(size_t n_pieces, size_t own_bytes) {
  if (n_pieces > kMaxVocabulary) {
    return fail(ErrorCode::kUnsupported, "{} pieces, at most {} are supported", n_pieces, kMaxVocabulary);
  }
  Vocabulary out;
  out.pieces_.reserve(n_pieces);
  out.kinds_.reserve(n_pieces);
  out.slots_.resize(std::bit_ceil(std::max<size_t>(16, 2 * n_pieces)));
  out.store_.reserve(own_bytes);
  return out;
}

std::string_view Vocabulary::keep(std::string_view piece) {
  if (store_.capacity() - store_.size() < piece.size() || store_.capacity() == 0) return piece;
  const size_t offset = store_.size();
  store_.insert(store_.end(), piece.begin(), piece.end());
  return {store_.data() + offset, piece.size()};
}

Status Vocabulary::insert(std::string_view piece, TokenId id) {
  const WordKey key(piece);
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < kMaxProbes; ++i) {
    Slot& slot = slots_[(key.hash + i) & mask];
    if (slot.id < 0) {
      slot = {key.head, static_cast<uint32_t>(piece.size()), id};
      return {};
    }
    if (is_same(slot, piece, key.head)) {
      return fail(ErrorCode::kCorrupt, "piece {} stands twice, as id {} and {}", json_quote(piece.substr(0, 64)),
                  slot.id, id);
    }
  }
  return fail(ErrorCode::kCorrupt, "pieces are made to collide in a hash table");
}

Status Vocabulary::add(std::string_view piece, TokenKind kind, float score) {
  const auto id = static_cast<TokenId>(pieces_.size());
  if (pieces_.size() >= slots_.size() / 2) return fail(ErrorCode::kInternal, "more pieces than room was made for");
  if (piece.size() > kMaxPieceBytes) {
    return fail(ErrorCode::kUnsupported, "piece {} has {} bytes, at most {} are supported", id, piece.size(),
                kMaxPieceBytes);
  }
  piece = keep(piece);
  if (!piece.empty()) VITRO_TRY(insert(piece, id));
  pieces_.push_back(piece);
  kinds_.push_back(kind);
  if (score != 0 && scores_.empty()) {
    scores_.reserve(pieces_.capacity());
    scores_.resize(pieces_.size() - 1);
  }
  if (!scores_.empty()) scores_.push_back(score);
  longest_ = std::max(longest_, piece.size());
  return {};
}

void Vocabulary::add_hole() {
  pieces_.emplace_back();
  kinds_.push_back(TokenKind::kUnused);
  if (!scores_.empty()) scores_.push_back(0);
}

TokenId Vocabulary::find(std::string_view piece, const WordKey& key) const {
  if (piece.empty() || piece.size() > longest_) return -1;
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < kMaxProbes; ++i) {
    const Slot& slot = slots_[(key.hash + i) & mask];
    if (slot.id < 0) return -1;
    if (is_same(slot, piece, key.head)) return slot.id;
  }
  return -1;
}

std::optional<TokenKind> sentencepiece_kind(int64_t number) {
  constexpr std::array kKinds = {TokenKind::kNormal,      TokenKind::kUnknown, TokenKind::kControl,
                                 TokenKind::kUserDefined, TokenKind::kUnused,  TokenKind::kByte};
  if (number < 1 || number > static_cast<int64_t>(kKinds.size())) return std::nullopt;
  return kKinds[static_cast<size_t>(number - 1)];
}

int byte_token_value(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return -1;
  const int high = hex_value(piece[3]);
  const int low = hex_value(piece[4]);
  return high < 0 || low < 0 ? -1 : 16 * high + low;
}

}  // namespace vitro
