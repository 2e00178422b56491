// The byte alphabet of GPT-2: each of the 256 bytes is written as one visible character, so that vocabularies are text.
// Printable Latin-1 bytes stand for themselves, the others for U+0100 on ("Ġ" is the space).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vitro {

/// The character of a byte.
char32_t byte_level_char(uint8_t byte);
/// The byte of a character, or -1.
int byte_level_value(char32_t character);

/// Bytes written in the alphabet.
std::string to_byte_level(std::string_view bytes);
/// The bytes of a piece; nothing if a character is not in the alphabet.
std::optional<std::string> from_byte_level(std::string_view piece);

}  // namespace vitro
