// Case mappings of single characters as Python's str methods use them.
#pragma once

#include <array>

namespace vitro::jinja {

/// Up to three code points; zeros fill the rest.
using Mapped = std::array<char32_t, 3>;

Mapped upper_of(char32_t c);
Mapped lower_of(char32_t c);
Mapped title_of(char32_t c);
Mapped fold_of(char32_t c);
bool is_cased(char32_t c);
bool is_case_ignorable(char32_t c);
bool is_upper(char32_t c);
bool is_lower(char32_t c);
/// str.isdecimal and str.isdigit of one character.
bool is_decimal(char32_t c);
bool is_digit(char32_t c);
bool is_numeric(char32_t c);

}  // namespace vitro::jinja
