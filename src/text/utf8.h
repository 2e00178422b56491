// UTF-8: decoding, validation, and the policy for bytes that are not UTF-8 (each maximal broken part becomes one
// U+FFFD, as in WHATWG and Python).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vitro {

/// One code point read from the front of `text`. n_bytes is 0 only for empty text; broken bytes give U+FFFD with
/// is_valid false.
struct CodePoint {
  char32_t value = 0;
  int n_bytes = 0;
  bool is_valid = true;
};
CodePoint decode_utf8(std::string_view text);

/// Appends a code point (surrogates and values above U+10FFFF become U+FFFD).
void append_utf8(std::string& out, char32_t value);

bool is_valid_utf8(std::string_view text);
/// Valid text unchanged; otherwise with U+FFFD in place of broken parts.
std::string replace_invalid_utf8(std::string_view text);

/// Length of the longest prefix that ends at a character border: an unfinished but so far valid character at the end is
/// left out (at most 3 bytes). Broken bytes before it are kept.
size_t complete_utf8_prefix(std::string_view text);

}  // namespace vitro
