#include "text/jinja/print.h"

#include <charconv>
#include <cmath>

#include "text/jinja/operators.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace vitro::jinja {
namespace {

constexpr int kMaxNamespaces = 4;  ///< inside each other, when printed

bool is_printable(char32_t c) {
  if (c < 0x7F) return c >= 0x20;
  switch (category_of(c)) {
    case Category::kCc:
    case Category::kCf:
    case Category::kCs:
    case Category::kCo:
    case Category::kCn:
    case Category::kZl:
    case Category::kZp:
    case Category::kZs: return false;
    default: return true;
  }
}

/// The escape of a code point inside a repr; empty if it stands for itself.
std::string repr_escape(char32_t c, char quote) {
  switch (c) {
    case '\\': return "\\\\";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: break;
  }
  if (c == static_cast<char32_t>(quote)) return std::string("\\") + quote;
  if (is_printable(c)) return "";
  const auto code = static_cast<uint32_t>(c);
  if (code < 0x100) return fmt::format("\\x{:02x}", code);
  if (code < 0x10000) return fmt::format("\\u{:04x}", code);
  return fmt::format("\\U{:08x}", code);
}

template <class Out>
void write_repr(Out& out, const MarkedText& text) {
  const std::string& t = text.text;
  const bool is_double = t.find('\'') != std::string::npos && t.find('"') == std::string::npos;
  const char quote = is_double ? '"' : '\'';
  out.append(std::string_view(&quote, 1));
  size_t begin = 0;
  for (size_t pos = 0; pos < t.size();) {
    const CodePoint c = decode_utf8(std::string_view(t).substr(pos));
    const size_t next = pos + static_cast<size_t>(c.n_bytes);
    const std::string escape = repr_escape(c.value, quote);
    if (!escape.empty()) {
      out.append(text, {begin, pos});
      out.append(escape, !text.marks_of({pos, next}).empty());
      begin = next;
    }
    pos = next;
  }
  out.append(text, {begin, t.size()});
  out.append(std::string_view(&quote, 1));
}

Status print_items(Runtime& rt, TextBuilder& out, const std::vector<Val>& items) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.append(", ");
    VITRO_TRY(print_repr(rt, out, items[i]));
  }
  return {};
}

Status print_members(Runtime& rt, TextBuilder& out, const std::vector<DictObject::Member>& members) {
  out.append("{");
  for (size_t i = 0; i < members.size(); ++i) {
    if (i > 0) out.append(", ");
    VITRO_TRY(print_repr(rt, out, members[i].first));
    out.append(": ");
    VITRO_TRY(print_repr(rt, out, members[i].second));
  }
  out.append("}");
  return {};
}

Status print_tuple(Runtime& rt, TextBuilder& out, const Val& value) {
  out.append("(");
  VITRO_TRY(print_items(rt, out, value.items()));
  out.append(value.items().size() == 1 ? ",)" : ")");
  return {};
}

Status print_list(Runtime& rt, TextBuilder& out, const std::vector<Val>& items) {
  out.append("[");
  VITRO_TRY(print_items(rt, out, items));
  out.append("]");
  return {};
}

Status print_view(Runtime& rt, TextBuilder& out, const Val& value) {
  out.append(type_name(value));
  out.append("(");
  VITRO_TRY_ASSIGN(const std::vector<Val> items, values_of(rt, value));
  VITRO_TRY(print_list(rt, out, items));
  out.append(")");
  return {};
}

void print_range(TextBuilder& out, const RangeObject& range) {
  out.append(fmt::format("range({}, {}", range.start, range.stop));
  out.append(range.step == 1 ? ")" : fmt::format(", {})", range.step));
}

Status print_namespace(Runtime& rt, TextBuilder& out, const NamespaceObject& ns) {
  // A namespace may hold itself; nothing else bounds how deep this goes.
  if (rt.n_namespaces_printed >= kMaxNamespaces) {
    return raise("a namespace that holds namespaces more than {} deep cannot be printed", kMaxNamespaces);
  }
  ++rt.n_namespaces_printed;
  out.append("<Namespace ");
  Status status = print_members(rt, out, ns.members);
  out.append(">");
  --rt.n_namespaces_printed;
  return status;
}

}  // namespace

std::string float_repr(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, x, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t e = text.find('e');
  const int exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  std::string digits;
  for (const char c : text.substr(0, e)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  const std::string sign = x < 0 || (x == 0 && std::signbit(x)) ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    const std::string fraction = digits.size() > 1 ? "." + digits.substr(1) : "";
    return fmt::format("{}{}{}e{}{:02d}", sign, digits[0], fraction, exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  const auto n_whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= n_whole) return sign + digits + std::string(n_whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, n_whole) + "." + digits.substr(n_whole);
}

std::string quote_repr(std::string_view text) {
  MarkedText out;
  write_repr(out, MarkedText::plain(std::string(text)));
  return std::move(out.text);
}

std::string repr_text(Runtime& rt, const Val& value, size_t max_chars) {
  TextBuilder out(rt);
  if (!print_repr(rt, out, value)) return std::string(type_name(value));
  const std::string& text = out.text().text;
  if (text.size() <= max_chars) return text;
  return text.substr(0, complete_utf8_prefix(std::string_view(text).substr(0, max_chars))) + "...";
}

Status print_value(Runtime& rt, TextBuilder& out, const Val& value) {
  if (value.is_string()) {
    out.append(value.as_string().marked);
    return {};
  }
  if (value.is(Kind::kUndefined) || value.is_missing()) return {};
  return print_repr(rt, out, value);
}

Status print_repr(Runtime& rt, TextBuilder& out, const Val& value) {
  rt.budget.step();
  VITRO_TRY(rt.budget.check());
  switch (value.kind()) {
    case Kind::kMissing:
    case Kind::kUndefined: out.append("Undefined"); return {};
    case Kind::kNone: out.append("None"); return {};
    case Kind::kBool: out.append(value.as_bool() ? "True" : "False"); return {};
    case Kind::kInt: out.append(std::to_string(value.as_int())); return {};
    case Kind::kFloat: out.append(float_repr(value.as_real())); return {};
    case Kind::kString:
      if (value.as_string().is_markup) out.append("Markup(");
      write_repr(out, value.as_string().marked);
      if (value.as_string().is_markup) out.append(")");
      return {};
    case Kind::kList: return print_list(rt, out, value.items());
    case Kind::kTuple: return print_tuple(rt, out, value);
    case Kind::kDict: return print_members(rt, out, value.as_dict().members);
    case Kind::kView: return print_view(rt, out, value);
    case Kind::kRange: print_range(out, value.as<RangeObject>()); return {};
    case Kind::kNamespace: return print_namespace(rt, out, value.as<NamespaceObject>());
    default: return raise("a {} has no text: what the reference prints holds an address", type_name(value));
  }
}

Result<MarkedText> text_of(Runtime& rt, const Val& value) {
  TextBuilder out(rt);
  VITRO_TRY(print_value(rt, out, value));
  return out.take();
}

}  // namespace vitro::jinja
