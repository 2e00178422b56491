#include "text/jinja/escape.h"

namespace vitro::jinja {
namespace {

std::string_view reference_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '\'':
      return "&#39;";
    case '"':
      return "&#34;";
    default:
      return {};
  }
}

}  // namespace

void append_escaped(TextBuilder& out, const MarkedText& text) {
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view reference = reference_of(text.text[i]);
    if (reference.empty()) continue;
    out.append(text, {begin, i});
    out.append(reference, !text.marks_of({i, i + 1}).empty());
    begin = i + 1;
  }
  out.append(text, {begin, text.size()});
}

}  // namespace vitro::jinja
