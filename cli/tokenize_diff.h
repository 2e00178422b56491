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

/// Prints the stretches of `text` that differ, both beside each other, then the totals and what was compared: cuts, the
/// text of each token, added tokens (BOS, EOS) and, where both vocabularies have every piece of both, ids. True if
/// anything differs.
bool print_diff(std::string_view text, const Tokenised& a, const Tokenised& b, bool is_json);

}  // namespace vitro
