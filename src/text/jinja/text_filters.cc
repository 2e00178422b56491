// Filters that turn a text into a text, character by character.
#include "text/jinja/attributes.h"
#include "text/jinja/case_map.h"
#include "text/jinja/escape.h"
#include "text/jinja/filters.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/py_chars.h"
#include "text/jinja/text_tools.h"

namespace vitro::jinja {
namespace {

using Args = const std::vector<Val>&;

Result<Val> as_string(Runtime& rt, const Val& value) {
  if (value.is_string()) return value;
  VITRO_TRY_ASSIGN(MarkedText text, text_of(rt, value));
  return rt.string(std::move(text));
}

template <class Map>
Result<Val> with_text(Runtime& rt, const Val& value, Map&& map) {
  VITRO_TRY_ASSIGN(const Val text, as_string(rt, value));
  VITRO_TRY_ASSIGN(MarkedText out, map(text.as_string().marked));
  return rt.string(std::move(out));
}

/// The same for methods of str, which give back Markup for Markup.
template <class Make>
Result<Val> with_kept_kind(Runtime& rt, const Val& value, Make&& make) {
  VITRO_TRY_ASSIGN(const Val out, with_text(rt, value, make));
  return is_markup(value) ? rt.string(out.as_string().marked, true) : out;
}

Result<Val> upper(Runtime& rt, const Val& value, Args) {
  return with_kept_kind(rt, value, [&](const MarkedText& t) { return map_case(rt, t, Case::kUpper); });
}
Result<Val> lower(Runtime& rt, const Val& value, Args) {
  return with_kept_kind(rt, value, [&](const MarkedText& t) { return map_case(rt, t, Case::kLower); });
}
Result<Val> capitalized(Runtime& rt, const Val& value, Args) {
  return with_kept_kind(rt, value, [&](const MarkedText& t) { return capitalize(rt, t); });
}

bool begins_word(char32_t c) { return c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || is_py_space(c); }

/// jinja2's own title: a word begins behind -, white space and opening brackets; its first character is upper case.
Result<Val> title(Runtime& rt, const Val& value, Args) {
  return with_text(rt, value, [&](const MarkedText& t) -> Result<MarkedText> {
    TextBuilder out(rt);
    for (size_t pos = 0; pos < t.size();) {
      size_t end = pos;
      const bool is_between = begins_word(decode_utf8(std::string_view(t.text).substr(pos)).value);
      size_t first_end = 0;
      while (end < t.size()) {
        const CodePoint c = decode_utf8(std::string_view(t.text).substr(end));
        if (begins_word(c.value) != is_between) break;
        end += static_cast<size_t>(c.n_bytes);
        if (first_end == 0) first_end = end;
      }
      VITRO_TRY_ASSIGN(const MarkedText first, map_case(rt, t.slice(pos, first_end), Case::kUpper));
      VITRO_TRY_ASSIGN(const MarkedText rest, map_case(rt, t.slice(first_end, end), Case::kLower));
      out.append(first);
      out.append(rest);
      pos = end;
    }
    return out.take();
  });
}

Result<Val> trim(Runtime& rt, const Val& value, Args args) {
  VITRO_TRY_ASSIGN(const Val text, as_string(rt, value));
  if (args[0].is_missing() || args[0].is_none())
    return rt.string(strip(text.as_string().marked, Side::kBoth), is_markup(value));
  if (!args[0].is_string()) return raise("strip arg must be None or str");
  rt.budget.copy(text.as_string().marked.size() * (1 + args[0].as_string().marked.size() / 16));
  VITRO_TRY(rt.budget.check());
  return rt.string(strip(text.as_string().marked, Side::kBoth, &args[0].as_string().text()), is_markup(value));
}

Result<Val> replace(Runtime& rt, const Val& value, Args args) {
  VITRO_TRY_ASSIGN(const Val text, as_string(rt, value));
  VITRO_TRY_ASSIGN(const MarkedText from, text_of(rt, args[0]));
  VITRO_TRY_ASSIGN(const MarkedText to, text_of(rt, args[1]));
  int64_t count = -1;
  if (!args[2].is_none()) {
    VITRO_TRY_ASSIGN(count, int_argument(args[2], -1));
  }
  return replace_text(rt, text.as_string(), from, to, count);
}

Result<Val> string(Runtime& rt, const Val& value, Args) { return as_string(rt, value); }

Result<Val> markup_of(Runtime& rt, const Val& value, bool is_escaped) {
  TextBuilder out(rt);
  VITRO_TRY_ASSIGN(const Val text, as_string(rt, value));
  if (is_escaped) {
    append_escaped(out, text.as_string().marked);
  } else {
    out.append(text.as_string().marked);
  }
  return out.finish(true);
}
Result<Val> escape(Runtime& rt, const Val& value, Args) { return markup_of(rt, value, !is_markup(value)); }
Result<Val> force_escape(Runtime& rt, const Val& value, Args) { return markup_of(rt, value, true); }
Result<Val> safe(Runtime& rt, const Val& value, Args) { return markup_of(rt, value, false); }

Result<Val> format(Runtime& rt, const Val& value, Arguments args) {
  VITRO_TRY_ASSIGN(const Val text, as_string(rt, value));
  if (!args.args.empty() && !args.kwargs.empty()) {
    return raise("can't handle positional and keyword arguments at the same time");
  }
  if (args.kwargs.empty()) {
    VITRO_TRY_ASSIGN(const Val values, rt.tuple(std::move(args.args)));
    return format_percent(rt, text.as_string(), values);
  }
  DictBuilder named(rt);
  for (const auto& [name, item] : args.kwargs) VITRO_TRY(named.set(rt.string(name), item));
  return format_percent(rt, text.as_string(), named.finish());
}

void append_quoted(TextBuilder& out, const MarkedText& text, bool is_query) {
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text.text[i];
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                          c == '.' || c == '-' || c == '~' || (c == '/' && !is_query);
    const bool is_marked = !text.marks_of({i, i + 1}).empty();
    if (is_plain) {
      out.append(std::string_view(&c, 1), is_marked);
    } else if (c == ' ' && is_query) {
      out.append("+", is_marked);
    } else {
      out.append(fmt::format("%{:02X}", static_cast<unsigned char>(c)), is_marked);
    }
  }
}

Result<Val> urlencode(Runtime& rt, const Val& value, Args) {
  TextBuilder out(rt);
  if (value.is_string() || !make_walker(value)) {
    VITRO_TRY_ASSIGN(const MarkedText text, text_of(rt, value));
    append_quoted(out, text, false);
    return out.finish();
  }
  Val pairs = value;
  if (value.is(Kind::kDict)) pairs = rt.make<ViewObject>(Kind::kView, value, ViewObject::What::kItems);
  VITRO_TRY_ASSIGN(const std::vector<Val> items, values_of(rt, pairs));
  for (size_t i = 0; i < items.size(); ++i) {
    VITRO_TRY_ASSIGN(const std::vector<Val> pair, values_of(rt, items[i]));
    if (pair.size() != 2) return raise("not enough values to unpack (expected 2, got {})", pair.size());
    if (i > 0) out.append("&");
    VITRO_TRY_ASSIGN(const MarkedText key, text_of(rt, pair[0]));
    VITRO_TRY_ASSIGN(const MarkedText item, text_of(rt, pair[1]));
    append_quoted(out, key, true);
    out.append("=");
    append_quoted(out, item, true);
  }
  return out.finish();
}

Result<Val> xmlattr(Runtime& rt, const Val& value, Args args) {
  if (!value.is(Kind::kDict)) return raise("'{}' object has no attribute 'items'", type_name(value));
  TextBuilder out(rt);
  const bool has_space = args[0].is_missing() || is_true(args[0]);
  for (const auto& [key, item] : value.as_dict().members) {
    if (item.is_none() || item.is(Kind::kUndefined)) continue;
    VITRO_TRY_ASSIGN(const StringObject* name, string_argument(key));
    if (name->text().find_first_of(" \t\n\r\f\v/>=") != std::string::npos) {
      return raise("Invalid character in attribute name: {}", quote_repr(name->text()));
    }
    if (out.size() > 0 || has_space) out.append(" ");
    append_escaped(out, name->marked);
    out.append("=\"");
    VITRO_TRY_ASSIGN(const Val text, escape(rt, item, {}));
    out.append(text.as_string().marked);
    out.append("\"");
  }
  return out.finish();
}

std::optional<std::string> indent_of(const Val& value) {
  if (value.is_string()) return value.as_string().text();
  if (!value.is_integral()) return std::nullopt;
  return std::string(static_cast<size_t>(std::clamp<int64_t>(value.as_int(), 0, 1024)), ' ');
}

Result<Val> tojson(Runtime& rt, const Val& value, Args args) {
  JsonStyle style;
  style.is_ascii = !args[0].is_missing() && is_true(args[0]);
  style.indent = indent_of(args[1]);
  if (!args[2].is_missing() && !args[2].is_none()) {
    VITRO_TRY_ASSIGN(const std::vector<Val> separators, values_of(rt, args[2]));
    if (separators.size() != 2) return raise("too many values to unpack (expected 2)");
    VITRO_TRY_ASSIGN(const StringObject* item, string_argument(separators[0]));
    VITRO_TRY_ASSIGN(const StringObject* key, string_argument(separators[1]));
    style.item_separator = item->marked;
    style.key_separator = key->marked;
  }
  style.is_sorted = !args[3].is_missing() && is_true(args[3]);
  return to_json(rt, value, style);
}

constexpr FilterEntry kFilters[] = {{"upper", "", upper},
                                    {"lower", "", lower},
                                    {"capitalize", "", capitalized},
                                    {"title", "", title},
                                    {"trim", "chars?", trim},
                                    {"replace", "old new count?", replace},
                                    {"string", "", string, nullptr, true},
                                    {"escape", "", escape},
                                    {"e", "", escape},
                                    {"forceescape", "", force_escape},
                                    {"safe", "", safe, nullptr, true},
                                    {"format", "", nullptr, format},
                                    {"urlencode", "", urlencode},
                                    {"xmlattr", "autospace?", xmlattr},
                                    {"tojson", "ensure_ascii? indent? separators? sort_keys?", tojson}};

}  // namespace

std::span<const FilterEntry> text_filters() { return kFilters; }

}  // namespace vitro::jinja
