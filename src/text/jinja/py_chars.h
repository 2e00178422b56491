// Characters as Python's str methods class them.
#pragma once

#include <string_view>

#include "text/unicode.h"
#include "text/utf8.h"

namespace vitro::jinja {

/// str.isspace: White_Space and the four separators of ASCII.
inline bool is_py_space(char32_t c) { return (c >= 0x1C && c <= 0x1F) || is_white_space(c); }

inline bool is_ascii_digit(char32_t c) { return c >= '0' && c <= '9'; }

/// The last code point of a text that is not empty.
inline CodePoint last_code_point(std::string_view text) {
  size_t begin = text.size() - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
  return decode_utf8(text.substr(begin));
}

/// Bytes of white space at the front and at the end.
inline size_t leading_space(std::string_view text) {
  size_t pos = 0;
  while (pos < text.size()) {
    const CodePoint c = decode_utf8(text.substr(pos));
    if (!is_py_space(c.value)) break;
    pos += static_cast<size_t>(c.n_bytes);
  }
  return pos;
}
inline size_t trailing_space(std::string_view text) {
  size_t n = 0;
  while (n < text.size()) {
    const CodePoint c = last_code_point(text.substr(0, text.size() - n));
    if (!is_py_space(c.value)) break;
    n += static_cast<size_t>(c.n_bytes);
  }
  return n;
}

}  // namespace vitro::jinja
