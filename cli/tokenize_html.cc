#include "cli/tokenize_html.h"

#include <fmt/format.h>

#include "cli/markup.h"
#include "cli/tokenize_view.h"

namespace vitro {
namespace {

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root { color-scheme: light dark; --a: #cfe8ff; --b: #ffe3b3; --c: #d6f2cf; --d: #f3d3ee; --fg: #111; --bg: #fff; --dim: #666; }
@media (prefers-color-scheme: dark) {
  :root { --a: #12395c; --b: #5a3d0c; --c: #234a1b; --d: #52234b; --fg: #eee; --bg: #111; --dim: #999; }
}
body { margin: 2em auto; max-width: 60em; padding: 0 1em; background: var(--bg); color: var(--fg); font: 16px sans-serif; }
h1 { font-size: 1.1em; } p { color: var(--dim); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: 16px/1.8 monospace; }
pre span { border-radius: 3px; padding: 2px 0; unicode-bidi: isolate; }
pre span:hover { outline: 2px solid var(--fg); }
.a { background: var(--a); } .b { background: var(--b); } .c { background: var(--c); } .d { background: var(--d); }
.x { border: 1px dashed var(--dim); color: var(--dim); font-size: 12px; padding: 0 2px; }
i { color: var(--dim); font-size: 12px; }
</style>
)";

std::string escaped_text(std::string_view text) {
  return escaped_markup(text, [](char32_t c) -> std::string {
    if (c == '\n') return "<i>&#8629;</i>\n";
    if (c == '\t') return "<i>&#8594;</i>\t";
    return fmt::format("<i>U+{:04X}</i>", static_cast<uint32_t>(c));
  });
}

// One line a token.
std::string tooltip(const Tokenizer& tokenizer, const Encoding& encoding, const TokenCell& cell) {
  std::string out;
  for (size_t i = cell.first; i < cell.first + cell.n; ++i) {
    const ByteRange range = encoding.ranges[i];
    const std::string where =
        is_added(encoding, i) ? "added by the tokenizer" : fmt::format("bytes {}-{}", range.begin, range.end);
    out += fmt::format("{}id {}, {}, {}", out.empty() ? "" : "&#10;", encoding.ids[i], where,
                       escaped_markup(tokenizer.piece(encoding.ids[i])));
  }
  return out;
}

}  // namespace

std::string tokens_page(const Tokenizer& tokenizer, std::string_view name, std::string_view text,
                        const Encoding& encoding) {
  std::string out(kHead);
  out += fmt::format(
      "<title>{0}</title>\n</head>\n<body>\n<h1>{0}</h1>\n<p>{1} tokens, {2} characters, {3} bytes, "
      "{4:.3f} tokens a character; {5}, {6} pieces</p>\n<pre>",
      escaped_text(name), encoding.ids.size(), n_characters(text), text.size(),
      tokens_per_character(encoding.ids.size(), text), tokenizer.model_name(), tokenizer.vocab_size());
  constexpr std::string_view kColours = "abcd";
  size_t pos = 0, n_shown = 0;
  for (const TokenCell& cell : token_cells(encoding)) {
    const std::string title = tooltip(tokenizer, encoding, cell);
    if (cell.range.empty()) {
      const std::string piece = escaped_text(tokenizer.piece(encoding.ids[cell.first]));
      out += fmt::format("<span class=\"x\" title=\"{}\">{}</span>", title, piece);
      continue;
    }
    if (cell.range.begin > pos) out += escaped_text(text.substr(pos, cell.range.begin - pos));
    out += fmt::format("<span class=\"{}\" title=\"{}\">{}</span>", kColours[n_shown++ % kColours.size()], title,
                       escaped_text(text.substr(cell.range.begin, cell.range.size())));
    pos = cell.range.end;
  }
  return out + escaped_text(text.substr(pos)) + "</pre>\n</body>\n</html>\n";
}

}  // namespace vitro
