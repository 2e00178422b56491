// How a piece becomes bytes of text again. Every supported decoder works piece by piece, which is what makes streaming
// exact.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokens/tokenizer.h"

namespace vitro {

struct DecodeRules {
  /// Pieces are in the byte-level alphabet; those that are not are taken as they stand.
  bool is_byte_level = false;
  /// Byte tokens ("<0x0A>") give their byte.
  bool has_byte_fallback = false;
  /// Control and user-defined entries are taken as they stand (GGUF); otherwise the rules hold for them too
  /// (tokenizer.json).
  bool keeps_added_pieces = false;
  /// The first space of a text was put there by the tokenizer.
  bool strips_first_space = false;
  /// Replacements inside pieces, in order ("▁" -> " ").
  std::vector<std::pair<std::string, std::string>> replacements;

  std::string bytes_of(std::string_view piece, TokenKind kind) const;
};

}  // namespace vitro
