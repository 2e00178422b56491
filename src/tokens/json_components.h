// The components of tokenizer.json -> steps. Each takes the value of its key (null where the file has none).
#pragma once

#include "base/result.h"
#include "formats/value.h"
#include "tokens/json_tables.h"
#include "tokens/pipeline_tokenizer.h"

namespace vitro {

/// "normalizer": Sequence, NFC, Prepend, Replace.
Status read_normalizer(const Value* value, const std::string& where, std::vector<TextStep>& out);

/// "pre_tokenizer": Sequence, Split, Digits, ByteLevel, Metaspace.
Status read_pre_tokenizer(const Value* value, const std::string& where, std::vector<TextStep>& out);

/// "post_processor", after the vocabulary.
Status read_post_processor(const Value* value, const std::string& where, TokenizerParts& parts);

/// "truncation" and "padding".
Status read_truncation(const Value* value, std::optional<Truncation>& out);
Status read_padding(const Value* value, std::optional<Padding>& out);

/// "decoder"; without one the pieces are joined with spaces, as in the reference.
Status read_decoder(const Value* value, DecodeSpec& out);

/// "model" together with "added_tokens": vocabulary, kind of model, which entries are special.
/// Where "vocab" is an object, its entries are in the tables, and so are those of "merges".
Status read_model(const Value& model, const JsonTables& tables, const Value* added, TokenizerParts& parts);
/// The same for type BPE.
Status read_bpe_model(const Value& model, const JsonTables& tables, const Value* added, TokenizerParts& parts);

}  // namespace vitro
