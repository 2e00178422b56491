// Byte-pair encoding: a word becomes symbols, and the best pair of neighbours is joined until none is left. "Best" is
// the lowest rank in a list of merges (GPT-2; Sennrich et al. 2016), or the highest score of the joined piece
// (SentencePiece).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/byte_range.h"
#include "tokens/token_model.h"
#include "tokens/vocabulary.h"

namespace vitro {

/// (left id, right id) -> (rank, joined id): one open-addressing table of indices over one array.
class MergeTable {
 public:
  struct Merge {
    TokenId left = -1;
    TokenId right = -1;
    uint32_t rank = 0;
    TokenId joined = -1;
  };
  explicit MergeTable(size_t n_merges = 0);
  /// Adds a merge unless the pair has one already. Corrupt for pairs made to collide.
  Status add(const Merge& merge);
  const Merge* find(TokenId left, TokenId right) const;
  const std::vector<Merge>& merges() const { return merges_; }

 private:
  std::vector<Merge> merges_;
  std::vector<uint32_t> slots_;  ///< index + 1 into merges_; 0: free
};

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
};

/// What a file says of a BPE model besides its vocabulary.
struct BpeSpec {
  MergeTable merges;
  BpeOptions options;
  std::vector<bool> is_added_only;  ///< by id: entries of added tokens that the model does not know; may be short
};

class Bpe final : public TokenModel {
 public:
  /// `vocabulary` must outlive it. Corrupt: two entries for one byte.
  static Result<std::unique_ptr<TokenModel>> make(const Vocabulary& vocabulary, BpeSpec spec);

  void encode(std::string_view text, std::span<const ByteRange> words, std::vector<TextToken>& out) const override;

 private:
  struct Symbol {
    TokenId id = -1;
    uint32_t begin = 0;
    uint32_t n_bytes = 0;  ///< 0: joined into the one before
    int32_t previous = -1;
    int32_t next = -1;
  };
  struct Candidate {
    uint64_t priority = 0;  ///< rank, then position: the smallest goes first
    TokenId joined = -1;
    friend bool operator>(const Candidate& a, const Candidate& b) { return a.priority > b.priority; }
  };
  struct Join {
    uint32_t rank = 0;
    TokenId id = -1;
  };

  Bpe(const Vocabulary& vocabulary, BpeSpec spec);
  Status find_bytes();
  TokenId find(std::string_view piece) const;
  bool merges_bytes() const;
  void find_neighbours();
  std::vector<Symbol> symbols_of(std::string_view word) const;
  void add_character(std::string_view word, ByteRange range, std::vector<Symbol>& out) const;
  TokenId character_id(std::string_view character) const;
  Join join_of(std::string_view word, const Symbol& left, const Symbol& right) const;
  bool may_join(std::string_view word, const Symbol& left, const Symbol& right) const;
  void merge_run(std::string_view word, std::vector<Symbol>& symbols, size_t begin, size_t end) const;
  bool take_whole(std::string_view text, ByteRange word, std::vector<TextToken>& out) const;
  void encode_word(std::string_view text, ByteRange word, std::vector<TextToken>& out) const;

  const Vocabulary* vocabulary_;
  MergeTable merges_;
  BpeOptions options_;
  std::vector<bool> is_added_only_;
  std::array<TokenId, 256> byte_ids_{};   ///< byte -> token; -1: none
  std::array<TokenId, 128> ascii_ids_{};  ///< kCharacters: the pieces of one ASCII character
  std::vector<uint64_t>
      neighbours_;  ///< kCharacters: bits of character pairs that occur in a piece; empty: any may join
};

}  // namespace vitro
