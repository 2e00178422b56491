#include "cli/markup.h"

#include <fmt/format.h>

namespace vitro {

bool is_hidden_character(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x200B || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) ||
         (c >= 0xE0000 && c <= 0xE007F);
}

void append_escaped(std::string& out, char32_t c) {
  switch (c) {
    case '&':
      out += "&amp;";
      return;
    case '<':
      out += "&lt;";
      return;
    case '>':
      out += "&gt;";
      return;
    case '"':
      out += "&quot;";
      return;
    case '\'':
      out += "&#39;";
      return;
    default:
      append_utf8(out, c);
  }
}

std::string escaped_markup(std::string_view text) {
  return escaped_markup(text, [](char32_t c) { return fmt::format("U+{:04X}", static_cast<uint32_t>(c)); });
}

}  // namespace vitro
