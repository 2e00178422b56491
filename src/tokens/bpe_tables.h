// What byte-pair encoding looks up: symbols of bytes and characters, merges, words that are one token. Built once from
// a vocabulary and what a file says of its model.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokens/character_starts.h"
#include "tokens/merge_table.h"
#include "tokens/mix_bits.h"
#include "tokens/vocabulary.h"
#include "tokens/word_table.h"

namespace vitro {

enum class BpeAlphabet : uint8_t {
  kBytes,       ///< one symbol a byte, pieces in the byte-level alphabet
  kCharacters,  ///< one symbol a character, with byte tokens or the unknown token for characters without a piece
};
enum class BpeOrder : uint8_t { kRanks, kScores };

struct BpeOptions {
  BpeAlphabet alphabet = BpeAlphabet::kBytes;
  BpeOrder order = BpeOrder::kRanks;
  bool has_byte_fallback = false;
  bool fuses_unknown = false;      ///< neighbouring unknown characters become one token
  bool takes_whole_words = false;  ///< a word that is a piece needs no merges (ignore_merges)
  TokenId unknown_id = -1;         ///< -1: unknown symbols vanish, as in the reference
  std::string continuing_prefix;   ///< written before every symbol of a word but the first ("##")
  std::string word_suffix;         ///< written after the last symbol of a word ("</w>")
};

/// What a file says of a BPE model besides its vocabulary.
struct BpeSpec {
  MergeTable merges;
  BpeOptions options;
  std::vector<bool> is_added_only;  ///< by id: pieces that the model does not know; ids beyond the end it does
};

/// What two symbols make; id < 0: nothing. The smallest rank goes first.
struct BpeJoin {
  uint32_t rank = 0;
  TokenId id = -1;
};

/// All constant after make().
class BpeTables {
 public:
  static Result<BpeTables> make(const Vocabulary& vocabulary, BpeSpec spec);

  const BpeOptions& options() const { return options_; }
  bool has_affixes() const { return !options_.continuing_prefix.empty() || !options_.word_suffix.empty(); }
  /// True if words are to be merged with the heap: ranks do not leave kPlaceBits, or a merge takes byte tokens or the
  /// unknown token. Those do not show the text they stand for, so that pairs may make the same token in more than one
  /// way, which only the heap takes in the reference's order.
  bool needs_heap() const { return needs_heap_; }
  static constexpr uint32_t kPlaceBits = 8;
  /// True if words may be cut where no piece holds the two neighbouring characters, because no merge can cross such a
  /// place: that keeps words short without changing a token.
  bool cuts_words() const { return !neighbours_.empty(); }
  /// Of neighbouring characters, where cuts_words().
  bool may_join(char32_t first, char32_t second) const {
    const size_t place = neighbour_place(first, second);
    return ((neighbours_[place / 64] >> (place % 64)) & 1) != 0;
  }

  /// The piece of the model that is written so, or -1.
  TokenId find(std::string_view text) const {
    const TokenId id = vocabulary_->find(text);
    return id >= 0 && knows(id) ? id : -1;
  }
  bool knows(TokenId id) const {
    return static_cast<size_t>(id) >= is_added_only_.size() || !is_added_only_[static_cast<size_t>(id)];
  }

  /// kBytes: the symbol of a byte, or -1.
  TokenId byte_symbol(uint8_t byte, bool is_first, bool is_last) const {
    return byte_symbols_[(is_first ? 0U : 2U) + (is_last ? 1U : 0U)][byte];
  }
  /// kCharacters: the token that stands for a byte of a character without a piece, or -1.
  TokenId byte_token(uint8_t byte) const { return byte_tokens_[byte]; }
  /// kCharacters: the symbol of a character, or -1. `character` is its text.
  TokenId character_symbol(char32_t code, std::string_view character) const {
    return code < characters_.size() ? characters_[code] : find(character);
  }
  /// character_symbol() of a character of the basic plane, -1 for others.
  TokenId basic_symbol(char32_t code) const { return code < characters_.size() ? characters_[code] : -1; }
  /// A word or part of one that is a single token, or -1.
  TokenId whole(std::string_view word, const WordKey& key) const { return whole_.find(word, key); }
  void prefetch_whole(const WordKey& key) const { whole_.prefetch(key); }

  /// kRanks.
  BpeJoin join_by_rank(TokenId left, TokenId right) const {
    const MergeTable::Merge* merge = merges_.find(left, right);
    return merge == nullptr ? BpeJoin{} : BpeJoin{merge->rank, merge->joined};
  }
  /// kScores: by the text of both.
  BpeJoin join_by_score(std::string_view text) const;
  /// kBytes without affixes, kRanks: of two bytes that begin no word.
  bool has_byte_pairs() const { return !byte_pairs_.empty(); }
  /// Where has_byte_pairs().
  const CharacterStarts& character_starts() const { return character_starts_; }
  void prefetch_join(TokenId left, TokenId right) const { merges_.prefetch_found(left, right); }
  BpeJoin join_of_bytes(uint8_t left, uint8_t right) const { return byte_pairs_[256U * left + right]; }

 private:
  static constexpr int kNeighbourBits = 20;
  static size_t neighbour_place(char32_t first, char32_t second) {
    return static_cast<size_t>(mix_bits(first, second) >> (64 - kNeighbourBits));
  }

  void find_byte_symbols();
  Status find_byte_tokens();
  void find_characters();
  bool merges_stand_ins() const;
  bool has_large_ranks() const;
  bool keeps_every_character() const;
  void find_neighbours();
  void find_byte_pairs();
  void rank_scores();
  Status find_whole_words();
  std::string text_of(TokenId id) const;

  const Vocabulary* vocabulary_ = nullptr;
  MergeTable merges_;
  BpeOptions options_;
  std::vector<bool> is_added_only_;
  std::array<std::array<TokenId, 256>, 4> byte_symbols_{};
  std::array<TokenId, 256> byte_tokens_{};
  std::vector<TokenId> characters_;   ///< by code point; empty with affixes
  std::vector<uint64_t> neighbours_;  ///< bits of pairs of characters; pairs may share one: then a cut is missed
  std::vector<BpeJoin> byte_pairs_;
  CharacterStarts character_starts_;
  std::vector<uint32_t> score_ranks_;  ///< by id
  WordTable whole_;
  bool needs_heap_ = false;
};

}  // namespace vitro
