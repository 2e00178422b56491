// Vocabulary: pieces, their kinds and scores, and the way back from a piece to its id. Pieces are views into memory
// that someone else keeps (a mapped GGUF file) or into the vocabulary's own store.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokens/tokenizer.h"
#include "tokens/word_table.h"

namespace vitro {

constexpr size_t kMaxVocabulary = size_t{1} << 22;
constexpr size_t kMaxPieceBytes = size_t{64} << 10;

class Vocabulary {
 public:
  /// Room for n pieces in all; with own_bytes > 0 pieces given to add() are copied into a store of that size.
  static Result<Vocabulary> with_room(size_t n_pieces, size_t own_bytes);

  /// Appends a piece under the next id. Corrupt: too long, too many, a twin of an earlier one, hashes made to collide.
  Status add(std::string_view piece, TokenKind kind, float score = 0);
  /// Appends an entry that no text has, for ids that a file leaves out.
  void add_hole();

  size_t size() const { return pieces_.size(); }
  bool has(TokenId id) const { return id >= 0 && static_cast<size_t>(id) < pieces_.size(); }
  std::string_view piece(TokenId id) const { return has(id) ? pieces_[static_cast<size_t>(id)] : std::string_view(); }
  TokenKind kind(TokenId id) const { return has(id) ? kinds_[static_cast<size_t>(id)] : TokenKind::kUnused; }
  void set_kind(TokenId id, TokenKind kind) { kinds_[static_cast<size_t>(id)] = kind; }
  /// Larger scores merge first (SentencePiece). `id` is in range.
  float score(TokenId id) const { return scores_.empty() ? 0 : scores_[static_cast<size_t>(id)]; }
  /// Id of exactly this piece, or -1.
  TokenId find(std::string_view piece) const { return find(piece, WordKey(piece)); }
  TokenId find(std::string_view piece, const WordKey& key) const;
  /// Asks for the memory that find() will look at.
  void prefetch(const WordKey& key) const { __builtin_prefetch(&slots_[key.hash & (slots_.size() - 1)]); }
  size_t longest_piece() const { return longest_; }

 private:
  struct Slot {
    uint64_t head = 0;  ///< of WordKey
    uint32_t n_bytes = 0;
    TokenId id = -1;
  };
  bool is_same(const Slot& slot, std::string_view piece, uint64_t head) const {
    if (slot.head != head || slot.n_bytes != piece.size()) return false;
    return piece.size() <= 8 || pieces_[static_cast<size_t>(slot.id)] == piece;
  }
  Status insert(std::string_view piece, TokenId id);
  std::string_view keep(std::string_view piece);

  std::vector<std::string_view> pieces_;
  std::vector<TokenKind> kinds_;
  std::vector<float> scores_;  ///< empty while all are 0
  std::vector<Slot> slots_;    ///< open addressing, at most half full, size a power of two
  std::vector<char> store_;
  size_t longest_ = 0;
};

/// Value of a byte token "<0x0A>", or -1 if the piece is not written so.
int byte_token_value(std::string_view piece);

/// The kind that SentencePiece numbers so (1 to 6; GGUF files take the numbers over); nothing for other numbers.
std::optional<TokenKind> sentencepiece_kind(int64_t number);

}  // namespace vitro
