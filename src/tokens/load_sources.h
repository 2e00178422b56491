// The readers of tokenizer files, one a format: bytes in, TokenizerParts out. load_tokenizer.cc chooses among them.
#pragma once

#include <string_view>

#include "base/result.h"
#include "tokens/pipeline_tokenizer.h"

namespace vitro {

/// The text of a tokenizer.json; `where` names it in errors.
Result<TokenizerParts> read_tokenizer_json(std::string_view text, std::string_view where);

}  // namespace vitro
