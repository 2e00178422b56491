// Filters that lay a text out: center, indent, truncate, wordwrap, wordcount, striptags.
#include "text/jinja/attributes.h"
#include "text/jinja/escape.h"
#include "text/jinja/filters.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/py_chars.h"
#include "text/jinja/text_tools.h"
#include "text/jinja/wrap.h"

namespace vitro::jinja {
namespace {

using Args = const std::vector<Val>&;

Result<Val> center(Runtime& rt, const Val& value, Args args) {
  VITRO_TRY_ASSIGN(MarkedText text, text_of(rt, value));
  VITRO_TRY_ASSIGN(const int64_t width, int_argument(args[0], 80));
  return pad(rt, rt.string(std::move(text), is_markup(value)).as_string(), width, " ", Align::kCenter);
}

Result<MarkedText> indention_of(Runtime& rt, const Val& width) {
  if (width.is_string()) return width.as_string().marked;
  VITRO_TRY_ASSIGN(const int64_t n, int_argument(width, 4));
  VITRO_TRY(rt.budget.check_room(static_cast<size_t>(std::max<int64_t>(n, 0))));
  return MarkedText::plain(std::string(static_cast<size_t>(std::max<int64_t>(n, 0)), ' '));
}

Result<Val> indent(Runtime& rt, const Val& value, Args args) {
  VITRO_TRY_ASSIGN(const MarkedText indention, indention_of(rt, args[0]));
  const bool has_first = !args[1].is_missing() && is_true(args[1]);
  const bool has_blank = !args[2].is_missing() && is_true(args[2]);
  VITRO_TRY_ASSIGN(const Val text, binary(rt, BinaryOp::kAdd, value, rt.string("\n")));
  if (!text.is_string()) return raise("'{}' object has no attribute 'splitlines'", type_name(text));
  const MarkedText& whole = text.as_string().marked;
  TextBuilder out(rt);
  if (has_first) out.append(indention);
  const std::vector<ByteRange> lines = split_lines(whole.text, false);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.append("\n");
    if (i > 0 && (has_blank || !lines[i].empty())) out.append(indention);
    out.append(whole, lines[i]);
  }
  return out.finish(is_markup(value));
}

Result<Val> truncate(Runtime& rt, const Val& value, Args args) {
  VITRO_TRY_ASSIGN(const int64_t length, int_argument(args[0], 255));
  const bool kills_words = !args[1].is_missing() && is_true(args[1]);
  const Val end_value = args[2].is_missing() ? rt.string("...") : args[2];
  VITRO_TRY_ASSIGN(const StringObject* end, string_argument(end_value));
  int64_t leeway = 5;
  if (!args[3].is_none()) {
    VITRO_TRY_ASSIGN(leeway, int_argument(args[3], 5));
  }
  const auto n_end = static_cast<int64_t>(end->n_chars);
  if (length < n_end) return raise("expected length >= {}, got {}", n_end, length);
  if (leeway < 0) return raise("expected leeway >= 0, got {}", leeway);
  VITRO_TRY_ASSIGN(const int64_t n_value, length_of(value));
  if (n_value <= length || n_value - length <= leeway) return value;
  if (!value.is_string()) return raise("'{}' object cannot be truncated", type_name(value));
  const StringObject& text = value.as_string();
  size_t cut = text.byte_of(static_cast<size_t>(length - n_end));
  if (!kills_words) {
    const size_t space = std::string_view(text.text()).substr(0, cut).rfind(' ');
    if (space != std::string_view::npos) cut = space;
  }
  TextBuilder out(rt);
  out.append(text.marked, {0, cut});
  VITRO_TRY_ASSIGN(const Val beginning, out.finish(text.is_markup));
  return binary(rt, BinaryOp::kAdd, beginning, end_value);
}

Result<Val> wordwrap(Runtime& rt, const Val& value, Args args) {
  WrapStyle style;
  VITRO_TRY_ASSIGN(style.width, int_argument(args[0], 79));
  style.breaks_long_words = args[1].is_missing() || is_true(args[1]);
  const MarkedText newline = args[2].is_string() ? args[2].as_string().marked : MarkedText::plain("\n");
  style.breaks_on_hyphens = args[3].is_missing() || is_true(args[3]);
  if (!value.is_string()) return raise("'{}' object has no attribute 'splitlines'", type_name(value));
  const MarkedText& text = value.as_string().marked;
  TextBuilder out(rt);
  bool is_first = true;
  for (const ByteRange& line : split_lines(text.text, false)) {
    VITRO_TRY_ASSIGN(const std::vector<MarkedText> wrapped, wrap_line(rt, text.slice(line.begin, line.end), style));
    if (!std::exchange(is_first, false)) out.append(newline);
    for (size_t i = 0; i < wrapped.size(); ++i) {
      if (i > 0) out.append(newline);
      out.append(wrapped[i]);
    }
  }
  return out.finish();
}

Result<Val> wordcount(Runtime& rt, const Val& value, Args) {
  VITRO_TRY_ASSIGN(const MarkedText text, text_of(rt, value));
  int64_t n = 0;
  bool is_inside = false;
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint c = decode_utf8(std::string_view(text.text).substr(pos));
    const bool is_word = is_re_word(c.value);
    n += is_word && !is_inside ? 1 : 0;
    is_inside = is_word;
    pos += static_cast<size_t>(c.n_bytes);
  }
  return Val::integer(n);
}

Result<Val> refuse_pprint(Runtime&, const Val&, Args) {
  return fail(ErrorCode::kUnsupported, "the filter pprint is not supported");
}
Result<Val> refuse_random(Runtime&, const Val&, Args) {
  return fail(ErrorCode::kUnsupported, "the filter random is not supported: a prompt must be the same every time");
}
Result<Val> refuse_urlize(Runtime&, const Val&, Arguments) {
  return fail(ErrorCode::kUnsupported, "the filter urlize is not supported");
}
Result<Val> striptags(Runtime& rt, const Val& value, Args) {
  VITRO_TRY_ASSIGN(const MarkedText text, text_of(rt, value));
  return strip_tags(rt, text);
}

constexpr FilterEntry kFilters[] = {{"center", "width?", center},
                                    {"indent", "width? first? blank?", indent},
                                    {"truncate", "length? killwords? end? leeway?", truncate},
                                    {"wordwrap", "width? break_long_words? wrapstring? break_on_hyphens?", wordwrap},
                                    {"wordcount", "", wordcount},
                                    {"striptags", "", striptags},
                                    {"pprint", "", refuse_pprint},
                                    {"random", "", refuse_random},
                                    {"urlize", "", nullptr, refuse_urlize}};

}  // namespace

std::span<const FilterEntry> layout_filters() { return kFilters; }

}  // namespace vitro::jinja
