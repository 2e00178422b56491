// SentencePieceModel: what a .model file of SentencePiece says, as a table that has been checked. Field numbers are
// those of the package's sentencepiece_model.proto; what only its trainer reads is left out.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokens/tokenizer.h"

namespace vitro {

struct SentencePieceModel {
  enum class Type : uint8_t { kUnigram = 1, kBpe = 2, kWord = 3, kChar = 4 };
  struct Piece {
    std::string_view text;
    float score = 0;
    TokenKind kind = TokenKind::kNormal;
  };

  Type type = Type::kUnigram;
  bool has_byte_fallback = false;
  bool has_space_suffix = false;  ///< treat_whitespace_as_suffix: the mark of a space ends a word
  std::string_view bos_piece = "<s>";
  std::string_view eos_piece = "</s>";
  std::string_view unknown_surface = " \u2047 ";  ///< what the unknown token is decoded to

  std::string_view charsmap;  ///< precompiled_charsmap; empty: none
  bool adds_dummy_prefix = true;
  bool removes_extra_spaces = true;
  bool escapes_spaces = true;

  std::vector<Piece> pieces;  ///< by id; exactly one is kUnknown, none is empty
  TokenId unknown_id = -1;
};

/// Views point into `bytes`. Corrupt, with the field; Unsupported for what would change texts and is not known here
/// (denormalizer_spec).
Result<SentencePieceModel> read_sentencepiece_model(std::span<const std::byte> bytes);

}  // namespace vitro
