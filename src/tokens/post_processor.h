// What happens to the ids of a text after the model: white space trimmed from offsets, special tokens put around.
#pragma once

#include <variant>
#include <vector>

#include "tokens/tokenizer.h"

namespace vitro {

/// Takes white space at the ends of pieces out of their ranges. With had_prefix_space a single leading space at the
/// start of the text was added by the tokenizer, not by the user: nothing is to be taken away then.
struct TrimOffsets {
  bool had_prefix_space = false;
};
/// Ids put before and after the text's own when EncodeOptions::add_special is set.
struct AddSpecial {
  std::vector<TokenId> before;
  std::vector<TokenId> after;
};
using PostStep = std::variant<TrimOffsets, AddSpecial>;

/// Applies the steps in order. `text` is what was encoded; `tokenizer` knows the pieces.
void apply_post_steps(const std::vector<PostStep>& steps, const Tokenizer& tokenizer, std::string_view text,
                      bool add_special, Encoding& encoding);

}  // namespace vitro
