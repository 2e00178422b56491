// Extended grapheme clusters (UAX 29): what a reader takes for one character.
#pragma once

#include <cstddef>
#include <string_view>

namespace vitro {

/// Bytes of the cluster that the text starts with, at least one character. `text` is valid UTF-8 and not empty, and
/// starts where a cluster starts.
size_t first_grapheme_bytes(std::string_view text);

}  // namespace vitro
