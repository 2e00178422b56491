// textwrap.wrap and markupsafe's striptags.
#pragma once

#include <vector>

#include "text/jinja/runtime.h"

namespace vitro::jinja {

struct WrapStyle {
  int64_t width = 79;
  bool breaks_long_words = true;
  bool breaks_on_hyphens = true;
};

/// One paragraph in lines of at most `width` characters. InvalidArgument for a width below 1.
Result<std::vector<MarkedText>> wrap_line(Runtime& rt, const MarkedText& line, const WrapStyle& style);

/// Comments and tags taken out, references replaced by their characters, white space made single spaces.
Result<Val> strip_tags(Runtime& rt, const MarkedText& text);

/// \w of Python's re: alphanumeric or underscore.
bool is_re_word(char32_t c);

}  // namespace vitro::jinja
