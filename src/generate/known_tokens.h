// KnownTokens: the tokens of a conversation with the text that each of them is. When the conversation is rendered anew
// for its next turn, the tokens whose text is unchanged stay as they are, above all those the model has generated: they
// need not be what the tokenizer would make of their text, and they are in the cache.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/byte_range.h"
#include "tokens/tokenizer.h"

namespace vitro {

class KnownTokens {
 public:
  /// How a new text begins with known tokens.
  struct Match {
    size_t n_kept = 0;     ///< known tokens that stay
    size_t n_skipped = 0;  ///< tokens of the encoding whose text they are; those from here on follow
  };

  /// The longest beginning of the known tokens that ends where a token of `encoding` (of `text`) ends. Tokens of a
  /// prompt, and special ones, must be the same ids at the same places; for generated ones the same text does.
  Match match(std::string_view text, const Encoding& encoding) const;

  /// The tokens are now those of `text`: the beginning that matches, then the rest of `encoding`.
  void become(std::string_view text, const Encoding& encoding);
  /// How a token that the model gave is compared: by its text, together with the next one (its text is not certain
  /// without it), or by its id (special tokens).
  enum class Generated { kText, kPart, kSpecial };
  /// `text`: what became certain with it.
  void append_generated(TokenId id, std::string_view text, Generated kind);
  void clear();

  const std::vector<TokenId>& ids() const { return ids_; }

 private:
  struct Place {
    ByteRange range;
    std::optional<Generated> generated;  ///< nothing: a token of a prompt
    bool is_compared_by_id() const { return !generated || *generated == Generated::kSpecial; }
  };
  std::string text_;
  std::vector<TokenId> ids_;
  std::vector<Place> places_;  ///< one an id
};

}  // namespace vitro
