// Methods of str that make other texts.
#include "text/jinja/attributes.h"
#include "text/jinja/case_map.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/py_chars.h"
#include "text/jinja/text_tools.h"

namespace vitro::jinja {
namespace {

using Args = const std::vector<Val>&;

const StringObject& text_of(const Val& self) { return self.as_string(); }

Result<Val> mapped(Runtime& rt, Result<MarkedText> text) {
  VITRO_TRY(text);
  return rt.string(std::move(*text));
}

Result<Val> to_upper(Runtime& rt, const Val& self, Args) {
  return mapped(rt, map_case(rt, text_of(self).marked, Case::kUpper));
}
Result<Val> to_lower(Runtime& rt, const Val& self, Args) {
  return mapped(rt, map_case(rt, text_of(self).marked, Case::kLower));
}
Result<Val> to_folded(Runtime& rt, const Val& self, Args) {
  return mapped(rt, map_case(rt, text_of(self).marked, Case::kFold));
}
Result<Val> to_title(Runtime& rt, const Val& self, Args) { return mapped(rt, title_words(rt, text_of(self).marked)); }
Result<Val> to_capitalized(Runtime& rt, const Val& self, Args) {
  return mapped(rt, capitalize(rt, text_of(self).marked));
}

Result<Val> swap_case(Runtime& rt, const Val& self, Args) {
  TextBuilder out(rt);
  const MarkedText& text = text_of(self).marked;
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint c = decode_utf8(std::string_view(text.text).substr(pos));
    const size_t next = pos + static_cast<size_t>(c.n_bytes);
    const Case to = is_upper(c.value) ? Case::kLower : Case::kUpper;
    VITRO_TRY_ASSIGN(const MarkedText one, map_case(rt, text.slice(pos, next), to));
    out.append(one);
    pos = next;
  }
  return out.finish();
}

Result<Val> strip_side(Runtime& rt, const Val& self, Args args, Side side) {
  if (args[0].is_missing() || args[0].is_none()) return rt.string(strip(text_of(self).marked, side));
  if (!args[0].is_string()) return raise("strip arg must be None or str");
  rt.budget.copy(text_of(self).marked.size() * (1 + args[0].as_string().marked.size() / 16));
  VITRO_TRY(rt.budget.check());
  return rt.string(strip(text_of(self).marked, side, &args[0].as_string().text()));
}
Result<Val> strip_both(Runtime& rt, const Val& self, Args args) { return strip_side(rt, self, args, Side::kBoth); }
Result<Val> strip_left(Runtime& rt, const Val& self, Args args) { return strip_side(rt, self, args, Side::kLeft); }
Result<Val> strip_right(Runtime& rt, const Val& self, Args args) { return strip_side(rt, self, args, Side::kRight); }

Result<Val> replace(Runtime& rt, const Val& self, Args args) {
  for (size_t i = 0; i < 2; ++i) {
    if (!args[i].is_string()) {
      return raise("replace() argument {} must be str, not {}", i + 1, type_name(args[i]));
    }
  }
  VITRO_TRY_ASSIGN(const int64_t count, int_argument(args[2], -1));
  return replace_text(rt, text_of(self), args[0].as_string().marked, args[1].as_string().marked, count);
}

Result<Val> list_of_parts(Runtime& rt, const StringObject& text, const std::vector<ByteRange>& parts) {
  rt.budget.step(parts.size());
  VITRO_TRY(rt.budget.check_room(parts.size() * (sizeof(Val) + sizeof(StringObject)) + text.marked.size()));
  std::vector<Val> out;
  out.reserve(parts.size());
  for (const ByteRange& part : parts) out.push_back(rt.string(text.marked.slice(part.begin, part.end)));
  return rt.list(std::move(out));
}

Result<Val> split_side(Runtime& rt, const Val& self, Args args, bool is_from_right) {
  const StringObject& text = text_of(self);
  VITRO_TRY_ASSIGN(const int64_t max_splits, int_argument(args[1], -1));
  if (args[0].is_missing() || args[0].is_none()) {
    return list_of_parts(rt, text, split_space(text.text(), max_splits, is_from_right));
  }
  VITRO_TRY_ASSIGN(const StringObject* separator, string_argument(args[0]));
  if (separator->marked.size() == 0) return raise("empty separator");
  if (is_from_right) VITRO_TRY(charge_backward_search(rt, text.marked.size(), separator->marked.size()));
  return list_of_parts(rt, text, split_at(text.text(), separator->text(), max_splits, is_from_right));
}
Result<Val> split(Runtime& rt, const Val& self, Args args) { return split_side(rt, self, args, false); }
Result<Val> rsplit(Runtime& rt, const Val& self, Args args) { return split_side(rt, self, args, true); }

Result<Val> splitlines(Runtime& rt, const Val& self, Args args) {
  const bool keeps_ends = !args[0].is_missing() && is_true(args[0]);
  return list_of_parts(rt, text_of(self), split_lines(text_of(self).text(), keeps_ends));
}

Result<Val> partition_side(Runtime& rt, const Val& self, Args args, bool is_from_right) {
  const StringObject& text = text_of(self);
  VITRO_TRY_ASSIGN(const StringObject* separator, string_argument(args[0]));
  if (separator->marked.size() == 0) return raise("empty separator");
  if (is_from_right) VITRO_TRY(charge_backward_search(rt, text.marked.size(), separator->marked.size()));
  const std::vector<ByteRange> parts = split_at(text.text(), separator->text(), 1, is_from_right);
  if (parts.size() == 1) {
    const Val empty = rt.string("");
    if (is_from_right) return rt.tuple({empty, empty, self});
    return rt.tuple({self, empty, empty});
  }
  return rt.tuple({rt.string(text.marked.slice(parts[0].begin, parts[0].end)), args[0],
                   rt.string(text.marked.slice(parts[1].begin, parts[1].end))});
}
Result<Val> partition(Runtime& rt, const Val& self, Args args) { return partition_side(rt, self, args, false); }
Result<Val> rpartition(Runtime& rt, const Val& self, Args args) { return partition_side(rt, self, args, true); }

Result<Val> join(Runtime& rt, const Val& self, Args args) {
  VITRO_TRY_ASSIGN(Walker walker, make_walker(args[0]));
  TextBuilder out(rt);
  for (size_t i = 0;; ++i) {
    VITRO_TRY_ASSIGN(const std::optional<Val> item, walker.next(rt));
    if (!item) return out.finish();
    VITRO_TRY(rt.budget.check());
    if (i > 0) out.append(text_of(self).marked);
    if (!item->is_string()) {
      return raise("sequence item {}: expected str instance, {} found", i, type_name(*item));
    }
    out.append(item->as_string().marked);
  }
}

Result<Val> pad_to(Runtime& rt, const Val& self, Args args, Align align) {
  VITRO_TRY_ASSIGN(const int64_t width, int_argument(args[0]));
  if (args[1].is_missing()) return pad(rt, text_of(self), width, " ", align);
  if (!args[1].is_string() || args[1].as_string().n_chars != 1) {
    return raise("The fill character must be exactly one character long");
  }
  return pad(rt, text_of(self), width, args[1].as_string().text(), align);
}
Result<Val> center(Runtime& rt, const Val& self, Args args) { return pad_to(rt, self, args, Align::kCenter); }
Result<Val> ljust(Runtime& rt, const Val& self, Args args) { return pad_to(rt, self, args, Align::kLeft); }
Result<Val> rjust(Runtime& rt, const Val& self, Args args) { return pad_to(rt, self, args, Align::kRight); }

Result<Val> zfill(Runtime& rt, const Val& self, Args args) {
  VITRO_TRY_ASSIGN(const int64_t width, int_argument(args[0]));
  const MarkedText& text = text_of(self).marked;
  const bool has_sign = text.text.starts_with('-') || text.text.starts_with('+');
  if (!has_sign) return pad(rt, text_of(self), width, "0", Align::kRight);
  const auto n = std::max<int64_t>(0, width - static_cast<int64_t>(text_of(self).n_chars));
  VITRO_TRY(rt.budget.check_room(static_cast<size_t>(n)));
  TextBuilder out(rt);
  out.append(text, {0, 1});
  for (int64_t i = 0; i < n; ++i) out.append("0");
  out.append(text, {1, text.size()});
  return out.finish();
}

Result<Val> remove_prefix(Runtime& rt, const Val& self, Args args) {
  VITRO_TRY_ASSIGN(const StringObject* prefix, string_argument(args[0]));
  const MarkedText& text = text_of(self).marked;
  const size_t n = text.text.starts_with(prefix->text()) ? prefix->marked.size() : 0;
  return rt.string(text.slice(n, text.size()));
}

Result<Val> remove_suffix(Runtime& rt, const Val& self, Args args) {
  VITRO_TRY_ASSIGN(const StringObject* suffix, string_argument(args[0]));
  const MarkedText& text = text_of(self).marked;
  const size_t n = text.text.ends_with(suffix->text()) ? suffix->marked.size() : 0;
  return rt.string(text.slice(0, text.size() - n));
}

Result<Val> expand_tabs(Runtime& rt, const Val& self, Args args) {
  VITRO_TRY_ASSIGN(const int64_t tab, int_argument(args[0], 8));
  const MarkedText& text = text_of(self).marked;
  TextBuilder out(rt);
  int64_t column = 0;
  for (size_t pos = 0; pos < text.size(); ++pos) {
    const char c = text.text[pos];
    if (c != '\t') {
      out.append(text, {pos, pos + 1});
      if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++column;
      if (c == '\n' || c == '\r') column = 0;
      continue;
    }
    const int64_t n = tab > 0 ? tab - column % tab : 0;
    VITRO_TRY(rt.budget.check_room(static_cast<size_t>(n)));
    out.append(std::string(static_cast<size_t>(n), ' '), !text.marks_of({pos, pos + 1}).empty());
    column += n;
  }
  return out.finish();
}

Result<Val> refuse_encode(Runtime&, const Val&, Args) {
  return fail(ErrorCode::kUnsupported, "str.encode is not supported: there are no bytes values");
}

Result<Val> refuse_format(Runtime&, const Val&, Args) {
  return fail(ErrorCode::kInternal, "str.format is called with its arguments as they are");
}

Result<Val> refuse_translate(Runtime&, const Val&, Args) {
  return fail(ErrorCode::kUnsupported, "str.translate and str.maketrans are not supported");
}

constexpr MethodEntry kMethods[] = {{"upper", "/", to_upper},
                                    {"lower", "/", to_lower},
                                    {"casefold", "/", to_folded},
                                    {"title", "/", to_title},
                                    {"capitalize", "/", to_capitalized},
                                    {"swapcase", "/", swap_case},
                                    {"strip", "/ chars?", strip_both},
                                    {"lstrip", "/ chars?", strip_left},
                                    {"rstrip", "/ chars?", strip_right},
                                    {"replace", "/ old new count?", replace},
                                    {"split", "sep? maxsplit?", split},
                                    {"rsplit", "sep? maxsplit?", rsplit},
                                    {"splitlines", "keepends?", splitlines},
                                    {"partition", "/ sep", partition},
                                    {"rpartition", "/ sep", rpartition},
                                    {"join", "/ iterable", join},
                                    {"center", "/ width fillchar?", center},
                                    {"ljust", "/ width fillchar?", ljust},
                                    {"rjust", "/ width fillchar?", rjust},
                                    {"zfill", "/ width", zfill},
                                    {"removeprefix", "/ prefix", remove_prefix},
                                    {"removesuffix", "/ suffix", remove_suffix},
                                    {"expandtabs", "tabsize?", expand_tabs},
                                    {"encode", "encoding? errors?", refuse_encode},
                                    {"format", "/ *", refuse_format},
                                    {"format_map", "/ mapping", refuse_format},
                                    {"translate", "/ table", refuse_translate},
                                    {"maketrans", "/ x y? z?", refuse_translate}};

}  // namespace

std::span<const MethodEntry> string_methods() { return kMethods; }

}  // namespace vitro::jinja
