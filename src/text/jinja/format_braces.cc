// "{} is {name:>5}".format(values): fields, attributes and items in them, conversions and the format language of texts
// and numbers.
#include <cmath>

#include "text/jinja/attributes.h"
#include "text/jinja/escape.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/text_tools.h"
#include "text/utf8.h"

namespace vitro::jinja {
namespace {

struct FormatSpec {
  std::string fill = " ";
  char align = 0;
  char sign = 0;
  bool is_alternate = false;
  int64_t width = 0;
  char grouping = 0;
  std::optional<int64_t> precision;
  char type = 0;
};

constexpr std::string_view kAligns = "<>=^";

Result<int64_t> take_digits(std::string_view& rest) {
  int64_t out = 0;
  while (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') {
    out = out * 10 + (rest[0] - '0');
    if (out > INT32_MAX) return raise("Too many decimal digits in format string");
    rest.remove_prefix(1);
  }
  return out;
}

bool take_char(std::string_view& rest, char c) {
  if (rest.empty() || rest[0] != c) return false;
  rest.remove_prefix(1);
  return true;
}

void take_align(std::string_view& rest, FormatSpec& out) {
  const auto n_fill = static_cast<size_t>(decode_utf8(rest).n_bytes);
  if (rest.size() > n_fill && n_fill > 0 && kAligns.find(rest[n_fill]) != std::string_view::npos) {
    out.fill = std::string(rest.substr(0, n_fill));
    out.align = rest[n_fill];
    rest.remove_prefix(n_fill + 1);
  } else if (!rest.empty() && kAligns.find(rest[0]) != std::string_view::npos) {
    out.align = rest[0];
    rest.remove_prefix(1);
  }
}

/// [[fill]align][sign][#][0][width][grouping][.precision][type]
Result<FormatSpec> parse_spec(std::string_view spec, const Val& value) {
  FormatSpec out;
  std::string_view rest = spec;
  take_align(rest, out);
  if (!rest.empty() && (rest[0] == '+' || rest[0] == '-' || rest[0] == ' ')) {
    out.sign = rest[0];
    rest.remove_prefix(1);
  }
  out.is_alternate = take_char(rest, '#');
  if (take_char(rest, '0')) {
    if (out.fill == " ") out.fill = "0";
    if (out.align == 0 && !value.is_string()) out.align = '=';
  }
  VITRO_TRY_ASSIGN(out.width, take_digits(rest));
  if (!rest.empty() && (rest[0] == ',' || rest[0] == '_')) {
    out.grouping = rest[0];
    rest.remove_prefix(1);
  }
  if (take_char(rest, '.')) {
    if (rest.empty() || rest[0] < '0' || rest[0] > '9') return raise("Format specifier missing precision");
    VITRO_TRY_ASSIGN(out.precision, take_digits(rest));
  }
  if (rest.size() > 1) return raise("Invalid format specifier '{}' for object of type '{}'", spec, type_name(value));
  if (!rest.empty()) out.type = rest[0];
  return out;
}

/// Separators every `n` digits of the whole part; `digits` may go on with a fraction or an exponent.
std::string grouped(std::string_view digits, char separator, size_t n) {
  size_t n_whole = 0;
  while (n_whole < digits.size() && std::isxdigit(static_cast<unsigned char>(digits[n_whole])) != 0 &&
         digits[n_whole] != 'e' && digits[n_whole] != 'E') {
    ++n_whole;
  }
  if (n == 4) n_whole = digits.size();
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && i < n_whole && (n_whole - i) % n == 0) out += separator;
    out += digits[i];
  }
  return out;
}

Status append_padded(Runtime& rt, TextBuilder& out, const Val& text, const FormatSpec& spec, char otherwise) {
  const char align = spec.align ? spec.align : otherwise;
  const auto n = std::max<int64_t>(0, spec.width - static_cast<int64_t>(text.as_string().n_chars));
  VITRO_TRY(rt.budget.check_room(static_cast<size_t>(n) * spec.fill.size()));
  const int64_t n_left = align == '<' ? 0 : align == '^' ? n / 2 : n;
  for (int64_t i = 0; i < n_left; ++i) out.append(spec.fill);
  out.append(text.as_string().marked);
  for (int64_t i = n_left; i < n; ++i) out.append(spec.fill);
  return {};
}

Status append_number(Runtime& rt, TextBuilder& out, bool is_negative, std::string body, const FormatSpec& spec) {
  const std::string sign = is_negative ? "-" : spec.sign == '+' ? "+" : spec.sign == ' ' ? " " : "";
  if (spec.align != '=') return append_padded(rt, out, rt.string(sign + body), spec, '>');
  out.append(sign);
  FormatSpec inner = spec;
  inner.align = '>';
  inner.width = std::max<int64_t>(0, spec.width - static_cast<int64_t>(sign.size()));
  if (spec.grouping != 0 && spec.fill == "0") return raise("grouping with zero padding is not supported");
  return append_padded(rt, out, rt.string(body), inner, '>');
}

Status append_integer(Runtime& rt, TextBuilder& out, int64_t value, const FormatSpec& spec) {
  if (spec.precision) return raise("Precision not allowed in integer format specifier");
  const uint64_t magnitude = value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
  std::string digits;
  std::string prefix;
  switch (spec.type) {
    case 0:
    case 'd':
    case 'n':
      digits = std::to_string(magnitude);
      break;
    case 'b':
      digits = fmt::format("{:b}", magnitude);
      break;
    case 'o':
      digits = fmt::format("{:o}", magnitude);
      break;
    case 'x':
      digits = fmt::format("{:x}", magnitude);
      break;
    case 'X':
      digits = fmt::format("{:X}", magnitude);
      break;
    case 'c': {
      if (magnitude > 0x10FFFF || value < 0) return raise("%c arg not in range(0x110000)");
      std::string one;
      append_utf8(one, static_cast<char32_t>(magnitude));
      return append_padded(rt, out, rt.string(one), spec, '<');
    }
    default:
      return raise("Unknown format code '{}' for object of type 'int'", spec.type);
  }
  const bool is_based = spec.type == 'b' || spec.type == 'o' || spec.type == 'x' || spec.type == 'X';
  if (spec.grouping == ',' && is_based) return raise("Cannot specify ',' with '{}'.", spec.type);
  if (spec.grouping != 0) digits = grouped(digits, spec.grouping, is_based ? 4 : 3);
  if (spec.is_alternate && is_based) prefix = std::string("0") + spec.type;
  return append_number(rt, out, value < 0, prefix + digits, spec);
}

Result<std::string> real_digits(double x, const FormatSpec& spec) {
  const int64_t precision = spec.precision.value_or(6);
  if (precision > 1024) return raise("more than 1024 places are not supported");
  switch (spec.type) {
    case 0: {
      if (!spec.precision || !std::isfinite(x)) return float_repr(x);
      // As %g, but at least one digit behind the point.
      std::string out = format_real(x, 'g', static_cast<int>(std::max<int64_t>(precision, 1)), false);
      if (out.find_first_of(".e") == std::string::npos) out += ".0";
      return out;
    }
    case '%':
      return format_real(x * 100, 'f', static_cast<int>(precision), spec.is_alternate) + "%";
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      return format_real(x, spec.type, static_cast<int>(precision), spec.is_alternate);
    case 'n':
      return format_real(x, 'g', static_cast<int>(precision), spec.is_alternate);
    default:
      return raise("Unknown format code '{}' for object of type 'float'", spec.type);
  }
}

Status append_real(Runtime& rt, TextBuilder& out, double x, const FormatSpec& spec) {
  VITRO_TRY_ASSIGN(std::string digits, real_digits(std::fabs(x), spec));
  if (spec.grouping != 0) digits = grouped(digits, spec.grouping, 3);
  return append_number(rt, out, std::signbit(x) && !std::isnan(x), std::move(digits), spec);
}

Status append_text(Runtime& rt, TextBuilder& out, const StringObject& text, const FormatSpec& spec) {
  if (spec.type != 0 && spec.type != 's') {
    return raise("Unknown format code '{}' for object of type 'str'", spec.type);
  }
  if (spec.sign != 0) return raise("Sign not allowed in string format specifier");
  if (spec.is_alternate) return raise("Alternate form (#) not allowed in string format specifier");
  if (spec.align == '=') return raise("'=' alignment not allowed in string format specifier");
  if (spec.grouping != 0) return raise("Cannot specify '{}' with 's'.", spec.grouping);
  const size_t end = spec.precision ? text.byte_of(static_cast<size_t>(*spec.precision)) : text.marked.size();
  return append_padded(rt, out, rt.string(text.marked.slice(0, end)), spec, '<');
}

class BraceFormatter {
 public:
  BraceFormatter(Runtime& rt, const std::vector<Val>& args, const Val& named, bool is_safe)
      : rt_(rt), args_(args), named_(named), is_safe_(is_safe) {}

  /// Fields of a spec are filled too, one level deep.
  Status run(const MarkedText& format, TextBuilder& out, int depth) {
    if (depth > 1) return raise("Max string recursion exceeded");
    const std::string& f = format.text;
    size_t begin = 0;
    for (size_t pos = 0; pos < f.size();) {
      if (f[pos] != '{' && f[pos] != '}') {
        ++pos;
        continue;
      }
      const bool is_doubled = pos + 1 < f.size() && f[pos + 1] == f[pos];
      if (is_doubled) {
        out.append(format, {begin, pos + 1});
        pos += 2;
        begin = pos;
        continue;
      }
      if (f[pos] == '}') return raise("Single '}}' encountered in format string");
      out.append(format, {begin, pos});
      VITRO_TRY_ASSIGN(pos, run_field(format, pos + 1, out, depth));
      begin = pos;
    }
    out.append(format, {begin, f.size()});
    return {};
  }

 private:
  /// A field from behind its brace; gives the place behind its end.
  Result<size_t> run_field(const MarkedText& format, size_t begin, TextBuilder& out, int depth) {
    const std::string& f = format.text;
    size_t end = begin;
    int n_open = 1;
    for (; end < f.size(); ++end) {
      if (f[end] == '[') {
        const size_t close = f.find(']', end);
        if (close == std::string::npos) break;
        if (n_open == 1 && f.find(':', begin) > end) end = close;
        continue;
      }
      if (f[end] == '{') ++n_open;
      if (f[end] == '}' && --n_open == 0) break;
    }
    if (end >= f.size()) {
      if (begin >= f.size()) return raise("Single '{{' encountered in format string");
      return raise("expected '}}' before end of string");
    }
    const std::string_view field = std::string_view(f).substr(begin, end - begin);
    size_t n_name = 0;
    while (n_name < field.size() && field[n_name] != ':' && field[n_name] != '!') {
      const size_t close = field[n_name] == '[' ? field.find(']', n_name) : std::string_view::npos;
      n_name = close == std::string_view::npos ? n_name + 1 : close + 1;
    }
    VITRO_TRY_ASSIGN(Val value, value_of(field.substr(0, n_name)));
    size_t spec_begin = n_name;
    if (spec_begin < field.size() && field[spec_begin] == '!') {
      VITRO_TRY_ASSIGN(value, converted(field.substr(spec_begin + 1), value));
      spec_begin += 2;
      if (spec_begin < field.size() && field[spec_begin] != ':') {
        return raise("expected ':' after conversion specifier");
      }
    }
    TextBuilder spec(rt_);
    if (spec_begin < field.size()) {
      VITRO_TRY(run(format.slice(begin + spec_begin + 1, end), spec, depth + 1));
    }
    VITRO_TRY_ASSIGN(const MarkedText spec_text, spec.take());
    if (!is_safe_ || is_markup(value)) {
      VITRO_TRY(format_value(rt_, out, value, spec_text.text));
      return end + 1;
    }
    TextBuilder text(rt_);
    VITRO_TRY(format_value(rt_, text, value, spec_text.text));
    append_escaped(out, text.text());
    return end + 1;
  }

  Result<Val> converted(std::string_view conversion, const Val& value) {
    if (conversion.empty()) return raise("end of string while looking for conversion specifier");
    TextBuilder out(rt_);
    if (conversion[0] == 's') {
      VITRO_TRY(print_value(rt_, out, value));
    } else if (conversion[0] == 'r') {
      VITRO_TRY(print_repr(rt_, out, value));
    } else {
      return raise("Unknown conversion specifier '{}'", conversion[0]);
    }
    return out.finish();
  }

  Result<Val> first_value(std::string_view name) {
    const bool is_number = !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
    if (!name.empty() && !is_number) {
      const Val* found = named_.is(Kind::kDict) ? find_member(named_.as_dict(), name) : nullptr;
      if (found == nullptr) return raise("{}", quote_repr(name));
      return *found;
    }
    const bool is_automatic = name.empty();
    if (numbering_ && *numbering_ != is_automatic) {
      return raise("cannot switch from {} field numbering to {}", is_automatic ? "manual" : "automatic",
                   is_automatic ? "automatic" : "manual");
    }
    numbering_ = is_automatic;
    const size_t at = is_automatic ? next_++ : name.size() > 9 ? SIZE_MAX : std::stoul(std::string(name));
    if (at >= args_.size()) return raise("Replacement index {} out of range for positional args tuple", at);
    return args_[at];
  }

  /// name.attribute[item]...
  Result<Val> value_of(std::string_view field) {
    const size_t n_first = std::min(field.find_first_of(".["), field.size());
    VITRO_TRY_ASSIGN(Val value, first_value(field.substr(0, n_first)));
    std::string_view rest = field.substr(n_first);
    while (!rest.empty()) {
      const bool is_item = rest[0] == '[';
      rest.remove_prefix(1);
      const size_t end = std::min(is_item ? rest.find(']') : rest.find_first_of(".["), rest.size());
      const std::string_view name = rest.substr(0, end);
      if (name.empty()) return raise("Empty attribute in format string");
      const bool is_number =
          is_item && name.size() < 10 && name.find_first_not_of("0123456789") == std::string_view::npos;
      const Val key = is_number ? Val::integer(std::stoll(std::string(name))) : rt_.string(name);
      VITRO_TRY_ASSIGN(value, is_item ? get_item(rt_, value, key) : get_attribute(rt_, value, key));
      rest.remove_prefix(std::min(end + (is_item ? 1 : 0), rest.size()));
      if (!rest.empty() && rest[0] != '.' && rest[0] != '[') {
        return raise("Only '.' or '[' may follow ']' in format field specifier");
      }
    }
    return value;
  }

  Runtime& rt_;
  const std::vector<Val>& args_;
  const Val& named_;
  const bool is_safe_;  ///< the format is Markup: what goes in is escaped
  size_t next_ = 0;
  std::optional<bool> numbering_;  ///< automatic or not, once a field has decided
};

}  // namespace

Status format_value(Runtime& rt, TextBuilder& out, const Val& value, std::string_view spec) {
  if (spec.empty()) return print_value(rt, out, value);
  if (!value.is_string() && !value.is_number()) {
    return raise("unsupported format string passed to {}.__format__", type_name(value));
  }
  VITRO_TRY_ASSIGN(const FormatSpec parsed, parse_spec(spec, value));
  if (value.is_string()) return append_text(rt, out, value.as_string(), parsed);
  constexpr std::string_view kRealTypes = "eEfFgG%";
  const bool is_real =
      value.is(Kind::kFloat) || (parsed.type != 0 && kRealTypes.find(parsed.type) != std::string_view::npos);
  return is_real ? append_real(rt, out, value.as_real(), parsed) : append_integer(rt, out, value.as_int(), parsed);
}

Result<Val> format_braces(Runtime& rt, const StringObject& format, const std::vector<Val>& args, const Val& named) {
  TextBuilder out(rt);
  VITRO_TRY(BraceFormatter(rt, args, named, format.is_markup).run(format.marked, out, 0));
  return out.finish(format.is_markup);
}

}  // namespace vitro::jinja
