// WordPiece (Schuster & Nakajima 2012; BERT): from the front of a word the longest piece, then the longest that goes
// on, until the word is used up; a word that cannot be cut so is one unknown token.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokens/piece_trie.h"
#include "tokens/token_model.h"
#include "tokens/vocabulary.h"

namespace vitro {

/// What a file says of a WordPiece model besides its vocabulary.
struct WordPieceSpec {
  std::string continuing_prefix = "##";  ///< stands before pieces that do not begin a word
  size_t max_word_characters = 100;      ///< longer words are unknown
  TokenId unknown_id = -1;
  std::vector<bool> is_added_only;  ///< by id: entries of added tokens that the model does not know; may be short
};

class WordPiece final : public TokenModel {
 public:
  /// `vocabulary` must outlive it. Errors as PieceTrie::make.
  static Result<std::unique_ptr<WordPiece>> make(const Vocabulary& vocabulary, WordPieceSpec spec);

  /// Time: length times the longest piece, at most.
  void encode(std::string_view text, std::span<const ByteRange> words, std::vector<TextToken>& out) const override;

 private:
  explicit WordPiece(WordPieceSpec spec) : spec_(std::move(spec)) {}
  bool cut(std::string_view text, ByteRange word, std::vector<TextToken>& out) const;

  WordPieceSpec spec_;
  PieceTrie trie_;
  PieceTrie::Node inside_ = PieceTrie::kRoot;  ///< where pieces that continue a word begin
  bool has_inside_ = false;
};

}  // namespace vitro
