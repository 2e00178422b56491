// What happens to the ids of a text, or of a pair of texts, after the model: white space trimmed from offsets, special
// tokens put around, type ids given.
#pragma once

#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "tokens/tokenizer.h"

namespace vitro {

/// Takes white space at the ends of pieces out of their ranges. With had_prefix_space a single leading space at the
/// start of the text was added by the tokenizer, not by the user: nothing is to be taken away then. Looks at pieces,
/// and for added tokens at the text they were found in. (The reference looks at that text as the normalisers left it,
/// and at the text of unknown tokens of unigram models: no published tokenizer that trims has such ones.)
struct TrimOffsets {
  bool had_prefix_space = false;
};
/// Ids put before and after each text when EncodeOptions::add_special is set.
struct AddSpecial {
  std::vector<TokenId> before;
  std::vector<TokenId> after;
};
/// [CLS] A [SEP] and B [SEP] with type 1 (BERT), or [SEP] B [SEP] with type 0 everywhere (RoBERTa).
struct ClsSepStep {
  TokenId cls = -1;
  TokenId sep = -1;
  bool is_roberta = false;
};
/// The texts and ids in the order of a template.
struct TemplateStep {
  struct Part {
    enum class Kind : uint8_t { kFirst, kSecond, kSpecial };
    Kind kind = Kind::kSpecial;
    std::vector<TokenId> ids;  ///< of kSpecial
    int32_t type_id = 0;
  };
  std::vector<Part> single;
  std::vector<Part> pair;
};
using PostStep = std::variant<TrimOffsets, AddSpecial, ClsSepStep, TemplateStep>;

/// Tokens that the steps add to one text or to a pair.
size_t count_added(std::span<const PostStep> steps, bool is_pair);

/// What was encoded.
struct PostInput {
  const Tokenizer* tokenizer = nullptr;     ///< knows the pieces
  std::span<const std::string_view> texts;  ///< one or two
  bool add_special = true;
};
/// Applies the steps in order to the encodings of the texts and joins the results. Errors as append_encoding;
/// Unsupported for a template after a step that has made more than two parts.
Result<Encoding> apply_post_steps(std::span<const PostStep> steps, const PostInput& input, std::vector<Encoding> parts);

}  // namespace vitro
