// The components of tokenizer.json -> steps. Each takes the value of its key (null where the file has none).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/value.h"
#include "tokens/json_reader.h"
#include "tokens/pipeline_tokenizer.h"

namespace vitro {

/// Components of one kind, Sequences inside Sequences included; published files have up to five.
constexpr size_t kMaxComponents = 32;

/// Calls read(element, where) for each element of a Sequence's list.
Status each_of(JsonReader& reader, std::string_view key, const std::function<Status(const Value&, std::string)>& read);
/// "prepend_scheme" of Metaspace: always, first or never; older files have "add_prefix_space".
Result<std::string> read_prepend_scheme(JsonReader& reader);

/// "normalizer": Sequence, NFC, Prepend, Replace.
Status read_normalizer(const Value* value, const std::string& where, std::vector<TextStep>& out);

/// "pre_tokenizer": Sequence, Split, Digits, ByteLevel, Metaspace.
Status read_pre_tokenizer(const Value* value, const std::string& where, std::vector<TextStep>& out);

/// "post_processor": Sequence, ByteLevel, TemplateProcessing (its "single" part).
Status read_post_processor(const Value* value, const std::string& where, TokenizerParts& parts);

/// "decoder"; without one the pieces are joined with spaces, as in the reference.
Status read_decoder(const Value* value, DecodeSpec& out);

/// "model" of type BPE together with "added_tokens": vocabulary, merges, options, which entries are special.
Status read_bpe_model(const Value& model, const Value* added, TokenizerParts& parts);

}  // namespace vitro
