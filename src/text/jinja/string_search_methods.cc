// Methods of str that ask something: find, count, startswith, isdigit, ...
#include <algorithm>

#include "text/jinja/attributes.h"
#include "text/jinja/case_map.h"
#include "text/jinja/operators.h"
#include "text/jinja/py_chars.h"
#include "text/jinja/text_tools.h"

namespace vitro::jinja {
namespace {

using Args = const std::vector<Val>&;

/// The part [start, end) of the optional arguments, in bytes; nothing where start lies behind the end.
Result<std::optional<ByteRange>> part_of(const StringObject& text, const Val& start_arg, const Val& end_arg) {
  const auto n = static_cast<int64_t>(text.n_chars);
  const auto index = [&](const Val& v, int64_t otherwise) -> Result<int64_t> {
    if (v.is_missing() || v.is_none()) return otherwise;
    VITRO_TRY_ASSIGN(const int64_t i, int_argument(v));
    return i < 0 ? std::max<int64_t>(i + n, 0) : i;
  };
  VITRO_TRY_ASSIGN(const int64_t start, index(start_arg, 0));
  VITRO_TRY_ASSIGN(const int64_t end, index(end_arg, n));
  if (start > n || std::min(end, n) < start) return std::nullopt;
  return ByteRange{text.byte_of(static_cast<size_t>(start)), text.byte_of(static_cast<size_t>(std::min(end, n)))};
}

int64_t chars_before(const StringObject& text, size_t byte) {
  if (text.is_ascii()) return static_cast<int64_t>(byte);
  const std::string& t = text.text();
  return std::count_if(t.begin(), t.begin() + static_cast<ptrdiff_t>(byte),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

/// Index of the needle, or -1.
Result<int64_t> find_index(Runtime& rt, const Val& self, Args args, bool is_from_right) {
  const StringObject& text = self.as_string();
  VITRO_TRY_ASSIGN(const StringObject* needle, string_argument(args[0]));
  VITRO_TRY_ASSIGN(const std::optional<ByteRange> part, part_of(text, args[1], args[2]));
  if (!part) return -1;
  const std::string_view window = std::string_view(text.text()).substr(0, part->end);
  size_t at = find_bytes(window, needle->text(), part->begin);
  if (is_from_right) {
    VITRO_TRY(charge_backward_search(rt, window.size(), needle->marked.size()));
    at = window.rfind(needle->text());
    if (at != std::string_view::npos && at < part->begin) at = std::string_view::npos;
  }
  return at == std::string_view::npos ? -1 : chars_before(text, at);
}

Result<Val> find(Runtime& rt, const Val& self, Args args) {
  VITRO_TRY_ASSIGN(const int64_t at, find_index(rt, self, args, false));
  return Val::integer(at);
}
Result<Val> rfind(Runtime& rt, const Val& self, Args args) {
  VITRO_TRY_ASSIGN(const int64_t at, find_index(rt, self, args, true));
  return Val::integer(at);
}
Result<Val> index(Runtime& rt, const Val& self, Args args) {
  VITRO_TRY_ASSIGN(const int64_t at, find_index(rt, self, args, false));
  if (at < 0) return raise("substring not found");
  return Val::integer(at);
}
Result<Val> rindex(Runtime& rt, const Val& self, Args args) {
  VITRO_TRY_ASSIGN(const int64_t at, find_index(rt, self, args, true));
  if (at < 0) return raise("substring not found");
  return Val::integer(at);
}

Result<Val> count(Runtime& /*rt*/, const Val& self, Args args) {
  const StringObject& text = self.as_string();
  VITRO_TRY_ASSIGN(const StringObject* needle, string_argument(args[0]));
  VITRO_TRY_ASSIGN(const std::optional<ByteRange> part, part_of(text, args[1], args[2]));
  if (!part) return Val::integer(0);
  const std::string_view window = std::string_view(text.text()).substr(0, part->end);
  if (needle->marked.size() == 0)
    return Val::integer(chars_before(text, part->end) - chars_before(text, part->begin) + 1);
  int64_t n = 0;
  for (size_t pos = part->begin; (pos = find_bytes(window, needle->text(), pos)) != std::string_view::npos;) {
    ++n;
    pos += needle->marked.size();
  }
  return Val::integer(n);
}

/// startswith and endswith: one text or a tuple of them.
Result<Val> has_affix(Runtime& rt, const Val& self, Args args, bool is_prefix) {
  const StringObject& text = self.as_string();
  VITRO_TRY_ASSIGN(const std::optional<ByteRange> part, part_of(text, args[1], args[2]));
  std::vector<Val> affixes{args[0]};
  if (args[0].is(Kind::kTuple)) affixes = args[0].items();
  for (const Val& affix : affixes) {
    rt.budget.step();
    if (!affix.is_string()) {
      return raise("{} first arg must be str or a tuple of str, not {}", is_prefix ? "startswith" : "endswith",
                   type_name(args[0]));
    }
    if (!part) continue;
    const std::string_view window = std::string_view(text.text()).substr(part->begin, part->size());
    const std::string& wanted = affix.as_string().text();
    if (is_prefix ? window.starts_with(wanted) : window.ends_with(wanted)) return Val::boolean(true);
  }
  return Val::boolean(false);
}
Result<Val> starts_with(Runtime& rt, const Val& self, Args args) { return has_affix(rt, self, args, true); }
Result<Val> ends_with(Runtime& rt, const Val& self, Args args) { return has_affix(rt, self, args, false); }

bool is_letter(char32_t c) {
  const Category category = category_of(c);
  return category <= Category::kLo;
}

template <class Is>
Val all_chars(const Val& self, Is&& is_it, bool if_empty = false) {
  const std::string_view text = self.as_string().text();
  if (text.empty()) return Val::boolean(if_empty);
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint c = decode_utf8(text.substr(pos));
    if (!is_it(c.value)) return Val::boolean(false);
    pos += static_cast<size_t>(c.n_bytes);
  }
  return Val::boolean(true);
}

Result<Val> is_alpha(Runtime&, const Val& self, Args) { return all_chars(self, is_letter); }
Result<Val> is_alnum(Runtime&, const Val& self, Args) {
  return all_chars(self, [](char32_t c) { return is_letter(c) || is_numeric(c); });
}
Result<Val> is_digits(Runtime&, const Val& self, Args) { return all_chars(self, is_digit); }
Result<Val> is_decimals(Runtime&, const Val& self, Args) { return all_chars(self, is_decimal); }
Result<Val> is_numerics(Runtime&, const Val& self, Args) { return all_chars(self, is_numeric); }
Result<Val> is_space(Runtime&, const Val& self, Args) { return all_chars(self, is_py_space); }
Result<Val> is_ascii(Runtime&, const Val& self, Args) {
  return all_chars(
      self, [](char32_t c) { return c < 0x80; }, true);
}
Result<Val> is_upper_case(Runtime&, const Val& self, Args) {
  return Val::boolean(is_upper_text(self.as_string().text()));
}
Result<Val> is_lower_case(Runtime&, const Val& self, Args) {
  return Val::boolean(is_lower_text(self.as_string().text()));
}

/// Upper case only behind what is not cased, lower case only behind what is.
Result<Val> is_title(Runtime&, const Val& self, Args) {
  const std::string_view text = self.as_string().text();
  bool is_any = false;
  bool is_inside = false;
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint c = decode_utf8(text.substr(pos));
    pos += static_cast<size_t>(c.n_bytes);
    const bool is_low = is_lower(c.value);
    const bool is_high = is_upper(c.value) || category_of(c.value) == Category::kLt;
    if ((is_high && is_inside) || (is_low && !is_inside)) return Val::boolean(false);
    is_inside = is_low || is_high;
    is_any = is_any || is_inside;
  }
  return Val::boolean(is_any);
}

Result<Val> is_identifier(Runtime&, const Val& self, Args) {
  const std::string_view text = self.as_string().text();
  if (text.empty() || is_ascii_digit(static_cast<unsigned char>(text[0]))) return Val::boolean(false);
  return all_chars(self, [](char32_t c) { return is_word_character(c); });
}

constexpr MethodEntry kMethods[] = {{"find", "/ sub start? end?", find},
                                    {"rfind", "/ sub start? end?", rfind},
                                    {"index", "/ sub start? end?", index},
                                    {"rindex", "/ sub start? end?", rindex},
                                    {"count", "/ sub start? end?", count},
                                    {"startswith", "/ prefix start? end?", starts_with, true},
                                    {"endswith", "/ suffix start? end?", ends_with, true},
                                    {"isalpha", "/", is_alpha},
                                    {"isalnum", "/", is_alnum},
                                    {"isdigit", "/", is_digits},
                                    {"isdecimal", "/", is_decimals},
                                    {"isnumeric", "/", is_numerics},
                                    {"isspace", "/", is_space},
                                    {"isascii", "/", is_ascii},
                                    {"isupper", "/", is_upper_case},
                                    {"islower", "/", is_lower_case},
                                    {"istitle", "/", is_title},
                                    {"isidentifier", "/", is_identifier}};

}  // namespace

std::span<const MethodEntry> string_search_methods() { return kMethods; }

}  // namespace vitro::jinja
