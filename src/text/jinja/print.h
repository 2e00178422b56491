// How values look as text: Python's str() and repr(), and JSON as json.dumps writes it.
#pragma once

#include "text/jinja/runtime.h"

namespace vitro::jinja {

/// str(value), appended.
Status print_value(Runtime& rt, TextBuilder& out, const Val& value);
/// repr(value), appended.
Status print_repr(Runtime& rt, TextBuilder& out, const Val& value);
/// str(value) as a text of its own; strings are not copied where the caller can do without.
Result<MarkedText> text_of(Runtime& rt, const Val& value);

/// repr of a plain text: 'it', or "it's".
std::string quote_repr(std::string_view text);
/// repr cut to a length, for messages.
std::string repr_text(Runtime& rt, const Val& value, size_t max_chars);
/// Shortest digits that read back as x, as Python writes floats.
std::string float_repr(double x);

struct JsonStyle {
  bool is_ascii = false;
  bool is_sorted = false;
  std::optional<std::string> indent;
  std::optional<MarkedText> item_separator;
  std::optional<MarkedText> key_separator;
};
/// json.dumps. InvalidArgument: "Object of type Undefined is not JSON serializable".
Result<Val> to_json(Runtime& rt, const Val& value, const JsonStyle& style);

}  // namespace vitro::jinja
