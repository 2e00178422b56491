// Text inside HTML and SVG: whatever it holds is shown and never obeyed.
#pragma once

#include <string>
#include <string_view>

#include "text/utf8.h"

namespace vitro {

/// Controls, and characters that have no width or turn the direction of what follows. Not the joiners, which emoji and
/// scripts are made with.
bool is_hidden_character(char32_t c);
/// One character as text or inside a quoted attribute: & < > " ' become entities.
void append_escaped(std::string& out, char32_t c);

/// A text, hidden characters as `write_hidden(c)` gives them.
template <class Hidden>
std::string escaped_markup(std::string_view text, Hidden&& write_hidden) {
  std::string out;
  while (!text.empty()) {
    const CodePoint c = decode_utf8(text);
    if (is_hidden_character(c.value)) {
      out += write_hidden(c.value);
    } else {
      append_escaped(out, c.value);
    }
    text.remove_prefix(static_cast<size_t>(c.n_bytes));
  }
  return out;
}
/// The same with hidden characters as "U+200B".
std::string escaped_markup(std::string_view text);

}  // namespace vitro
