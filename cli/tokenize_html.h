// Tokens of a text as a page that needs nothing else: no script, no other file.
#pragma once

#include <string>
#include <string_view>

#include "tokens/tokenizer.h"

namespace vitro {

/// Each token on one of four alternating colours (those of one character share a cell), its id, bytes and piece as a
/// tooltip. Whatever the text holds is shown and never obeyed: markup, controls, marks that turn the direction of text.
std::string tokens_page(const Tokenizer& tokenizer, std::string_view name, std::string_view text,
                        const Encoding& encoding);

}  // namespace vitro
