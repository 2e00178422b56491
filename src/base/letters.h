// Letters, blanks and control characters of texts, the same in every locale.
#pragma once

#include <string>
#include <string_view>

namespace vitro {

/// A-Z as a-z; all other bytes, those of UTF-8 too, as they are.
std::string lower_case(std::string_view text);

/// Space, tab and line breaks.
constexpr std::string_view kBlanks = " \t\r\n";

/// Without the blanks at both ends.
std::string_view trimmed(std::string_view text);

/// Whether a terminal could obey the text (UTF-8) in place of showing it: bytes below 32, 127, U+0080 to U+009F.
bool has_control(std::string_view text);

}  // namespace vitro
