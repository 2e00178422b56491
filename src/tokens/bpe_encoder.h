// BpeEncoder: one call of byte-pair encoding, with its working memory. Words that are one token are looked up; words
// that came before in the same text are copied; the others are merged.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/byte_range.h"
#include "tokens/bpe_tables.h"
#include "tokens/token_model.h"

namespace vitro {

class BpeEncoder {
 public:
  explicit BpeEncoder(const BpeTables& tables) : tables_(tables) {}

  void encode(std::string_view text, std::span<const ByteRange> words, std::vector<TextToken>& out);
  /// True if merging this text, a word of its own, gives exactly the token `id`.
  bool is_one_token(std::string_view text, TokenId id);

 private:
  /// A stretch of a word. Stretches joined into the one before have id -1.
  struct Symbol {
    TokenId id = -1;
    uint32_t begin = 0;
    uint32_t n_bytes = 0;
    bool is_unknown = false;
  };
  /// A word that was merged in this call: its bytes and where its tokens are in the output.
  struct Seen {
    uint64_t hash = 0;
    uint32_t begin = 0;
    uint32_t n_bytes = 0;
    uint32_t first_token = 0;
    uint32_t n_tokens = 0;
  };
  /// A word or part of one that waits while memory is fetched.
  struct Part {
    ByteRange range;
    WordKey key;  ///< only if it is looked up
    bool begins_word = false;
  };
  struct Candidate {
    uint64_t priority = 0;  ///< rank, then position: the smallest goes first
    TokenId joined = -1;
    friend bool operator>(const Candidate& a, const Candidate& b) { return a.priority > b.priority; }
  };
  static constexpr size_t kSmall =
      size_t{1} << BpeTables::kPlaceBits;  ///< symbols up to which looking at every pair beats a heap

  void start(std::string_view text, std::vector<TextToken>& out);
  void encode_word(ByteRange word);
  void encode_runs(ByteRange word);
  void add_part(ByteRange range, bool begins_word);
  void encode_parts();
  void encode_part(const Part& part);
  bool is_looked_up(ByteRange part) const;
  void merge_part(ByteRange part);
  bool copy_seen(ByteRange part, const WordKey& key);
  void remember(ByteRange part, const WordKey& key, size_t first_token);
  void add_symbols(ByteRange part);
  void add_byte_symbols(ByteRange part);
  void add_character_starts(ByteRange part);
  void add_character_symbols(ByteRange part);
  TokenId character_symbol(ByteRange part, ByteRange character, char32_t code);
  bool add_byte_tokens(ByteRange character);
  BpeJoin join_of(const Symbol& left, const Symbol& right) const;
  void put_in_order(ByteRange part);
  static void join(Symbol& left, Symbol& right, TokenId joined);
  void merge_small(ByteRange part);
  void offer_small(size_t left, const BpeJoin& join);
  void merge_large();
  void offer_large(int32_t left, int32_t right);
  void emit();

  const BpeTables& tables_;
  std::string_view text_;
  std::vector<TextToken>* out_ = nullptr;
  std::vector<Symbol> symbols_;
  std::vector<Seen> seen_;
  std::array<Part, 16> parts_;
  size_t n_parts_ = 0;
  std::string scratch_;
  std::vector<TextToken> trial_;
  bool is_valid_utf8_ = true;  ///< pieces need not be
  size_t fused_end_ = 0;       ///< where the unknown token ends that the next unknown character may join; 0: nowhere

  // merge_small
  std::array<uint32_t, kSmall> keys_;  ///< rank and place of the pair that begins here; kNoKey: none
  std::array<TokenId, kSmall> joined_;
  std::array<uint16_t, kSmall> small_next_;
  std::array<uint16_t, kSmall> small_previous_;
  // merge_large
  std::vector<int32_t> next_;
  std::vector<int32_t> previous_;
  std::vector<Candidate> heap_;
};

}  // namespace vitro
