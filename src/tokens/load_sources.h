// The readers of tokenizer files, one a format: bytes in, TokenizerParts out. load_tokenizer.cc chooses among them.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "tokens/pipeline_tokenizer.h"
#include "tokens/tokenizer_settings.h"

namespace vitro {

/// The text of a tokenizer.json; `where` names it in errors.
Result<TokenizerParts> read_tokenizer_json(std::string_view text, std::string_view where);

/// A .model file of SentencePiece: encodes, counts offsets and decodes as that package does, which puts no BOS or EOS
/// around a text and never makes control tokens of it. Pieces are copied.
Result<TokenizerParts> read_sentencepiece(std::span<const std::byte> bytes);

/// The same file as the tokenizer class that `settings` names reads it: control tokens are found in texts, BOS and EOS
/// are added. Unsupported: other classes than Llama's and Gemma's.
Result<TokenizerParts> read_sentencepiece_class(std::span<const std::byte> bytes, const TokenizerSettings& settings);

/// tiktoken's rank file. How it cuts texts is not in it: that is decided by `encoding`, else by the published file's
/// name or number of ranks, else Unsupported.
Result<TokenizerParts> read_ranks(std::string_view text, std::string_view file_name, std::string_view encoding);
/// True if the first line is one of such a file.
bool looks_like_ranks(std::string_view text);
/// The same as a JSON object {piece in the byte-level alphabet: rank}.
Result<TokenizerParts> read_json_ranks(std::string_view text, std::string_view file_name, std::string_view encoding);

/// GPT-2's pair of files: pieces and ids as JSON, merges one a line. The tokenizer class of `settings` (none: GPT-2)
/// decides how texts are cut; unknown ones are Unsupported.
Result<TokenizerParts> read_vocab_and_merges(std::string_view vocabulary, std::string_view merges,
                                             const TokenizerSettings& settings);

/// BERT's vocab.txt: a piece a line, the number of the line is its id. `settings` say how texts are prepared.
Result<TokenizerParts> read_vocab_lines(std::string_view text, const TokenizerSettings& settings);

}  // namespace vitro
