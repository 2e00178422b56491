// The vocabulary of a tokenizer.json: the model's own pieces and the added tokens, with the ids that the reference
// gives them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "formats/value.h"
#include "tokens/added_tokens.h"
#include "tokens/json_tables.h"
#include "tokens/vocabulary.h"

namespace vitro {

struct TokenizerParts;

/// Entries of "vocab", which must be an object of ids.
Result<std::vector<ModelPiece>> read_piece_ids(const Value& vocab, const JsonTables& tables);

/// Reads "added_tokens", joins them with the model's pieces and fills parts.vocabulary, parts.added and
/// parts.is_special. As in the reference an added token has the id of the model's piece if there is one, or the next id
/// after all others, whatever id the file says; a later entry for the same text replaces an earlier one.
/// Returns by id which entries only added tokens have; the model does not know those.
Result<std::vector<bool>> read_vocabulary(const std::vector<ModelPiece>& pieces, const Value* added,
                                          TokenizerParts& parts);

}  // namespace vitro
