// Two tokenizers on one text.
#pragma once

#include <string>
#include <string_view>

#include "tokens/tokenizer.h"

namespace vitro {

/// A tokenizer with its name and what it made of the text.
struct Tokenised {
  std::string name;
  const Tokenizer* tokenizer = nullptr;
  Encoding encoding;
};

/// Prints the stretches of `text` that a and b cut otherwise, both beside each other, then the totals. Where the
/// vocabularies have the same size, stretches with other ids count as well.
void print_diff(std::string_view text, const Tokenised& a, const Tokenised& b, bool is_json);

}  // namespace vitro
