// "%s is %d" % values.
#include <cmath>

#include "text/jinja/escape.h"
#include "text/jinja/format.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/text_tools.h"
#include "text/utf8.h"

namespace vitro::jinja {
namespace {

struct Spec {
  bool is_left = false, has_plus = false, has_space = false, is_alternate = false, has_zeros = false;
  int64_t width = 0;
  std::optional<int64_t> precision;
  char type = 0;
};

class PercentFormatter {
 public:
  PercentFormatter(Runtime& rt, const StringObject& format, const Val& values)
      : rt_(rt), format_(format.marked), is_safe_(format.is_markup), values_(values), out_(rt) {}

  Result<Val> run() {
    const std::string& f = format_.text;
    while (pos_ < f.size()) {
      const size_t percent = std::min(f.find('%', pos_), f.size());
      out_.append(format_, {pos_, percent});
      pos_ = percent + 1;
      if (percent < f.size()) VITRO_TRY(format_one());
    }
    // Whatever can be subscripted may be left over, as in Python.
    const bool is_mapping =
        values_.is(Kind::kDict) || values_.is(Kind::kList) || values_.is(Kind::kRange) || values_.is(Kind::kUndefined);
    if (values_.is(Kind::kTuple) ? next_ < values_.items().size() : (!is_used_ && !is_mapping)) {
      return raise("not all arguments converted during string formatting");
    }
    return out_.finish(is_safe_);
  }

 private:
  Result<char> take() {
    if (pos_ >= format_.size()) return raise("incomplete format");
    return format_.text[pos_++];
  }

  Result<Val> next_value() {
    if (named_) return *named_;
    if (values_.is(Kind::kTuple)) {
      if (next_ >= values_.items().size()) return raise("not enough arguments for format string");
      return values_.items()[next_++];
    }
    if (std::exchange(is_used_, true)) return raise("not enough arguments for format string");
    return values_;
  }

  Status format_one() {
    VITRO_TRY_ASSIGN(char c, take());
    named_.reset();
    if (c == '(') {
      VITRO_TRY(take_key());
      VITRO_TRY_ASSIGN(c, take());
    }
    Spec spec;
    VITRO_TRY(take_flags(spec, c));
    VITRO_TRY_ASSIGN(const std::optional<int64_t> width, take_number(c));
    spec.width = width.value_or(0);
    if (spec.width < 0) {
      spec.is_left = true;
      spec.width = spec.width == INT64_MIN ? INT64_MAX : -spec.width;
    }
    if (c == '.') {
      VITRO_TRY_ASSIGN(c, take());
      VITRO_TRY_ASSIGN(const std::optional<int64_t> precision, take_number(c));
      spec.precision = std::max<int64_t>(precision.value_or(0), 0);
    }
    if (c == 'h' || c == 'l' || c == 'L') {
      VITRO_TRY_ASSIGN(c, take());
    }
    if (c == '%') {
      out_.append("%");
      return {};
    }
    spec.type = c;
    VITRO_TRY_ASSIGN(const Val value, next_value());
    return write(spec, value);
  }

  Status take_key() {
    int depth = 1;
    const size_t begin = pos_;
    for (; depth > 0; ++pos_) {
      if (pos_ >= format_.size()) return raise("incomplete format key");
      if (format_.text[pos_] == '(') ++depth;
      if (format_.text[pos_] == ')') --depth;
    }
    if (!values_.is(Kind::kDict)) return raise("format requires a mapping");
    const std::string key = format_.text.substr(begin, pos_ - 1 - begin);
    const Val* found = find_member(values_.as_dict(), key);
    if (found == nullptr) return raise("{}", quote_repr(key));
    named_ = *found;
    is_used_ = true;
    return {};
  }

  Status take_flags(Spec& spec, char& c) {
    for (;;) {
      switch (c) {
        case '-':
          spec.is_left = true;
          break;
        case '+':
          spec.has_plus = true;
          break;
        case ' ':
          spec.has_space = true;
          break;
        case '#':
          spec.is_alternate = true;
          break;
        case '0':
          spec.has_zeros = true;
          break;
        default:
          return {};
      }
      VITRO_TRY_ASSIGN(c, take());
    }
  }

  Result<std::optional<int64_t>> take_number(char& c) {
    if (c == '*') {
      VITRO_TRY_ASSIGN(const Val value, next_value());
      if (!value.is_integral()) return raise("* wants int");
      VITRO_TRY_ASSIGN(c, take());
      return value.as_int();
    }
    std::optional<int64_t> out;
    while (c >= '0' && c <= '9') {
      out = out.value_or(0) * 10 + (c - '0');
      if (*out > INT32_MAX) return raise("width too big");
      VITRO_TRY_ASSIGN(c, take());
    }
    return out;
  }

  Status write(const Spec& spec, const Val& value) {
    switch (spec.type) {
      case 's':
      case 'r':
      case 'a':
        return write_text(spec, value);
      case 'c':
        return write_char(spec, value);
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        return write_integer(spec, value);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return write_real(spec, value);
      default:
        break;
    }
    return raise("unsupported format character '{}' (0x{:x}) at index {}", spec.type,
                 static_cast<unsigned char>(spec.type), pos_ - 1);
  }

  Status write_padded(const Spec& spec, const StringObject& text) {
    VITRO_TRY_ASSIGN(const Val padded, pad(rt_, text, spec.width, " ", spec.is_left ? Align::kLeft : Align::kRight));
    out_.append(padded.as_string().marked);
    return {};
  }

  Status write_text(const Spec& spec, const Val& value) {
    TextBuilder text(rt_);
    VITRO_TRY(spec.type == 's' ? print_value(rt_, text, value) : print_repr(rt_, text, value));
    VITRO_TRY_ASSIGN(Val whole, text.finish());
    if (is_safe_ && (spec.type != 's' || !is_markup(value))) {
      TextBuilder safe(rt_);
      append_escaped(safe, whole.as_string().marked);
      VITRO_TRY_ASSIGN(whole, safe.finish());
    }
    if (spec.precision) {
      const StringObject& string = whole.as_string();
      whole = rt_.string(string.marked.slice(0, string.byte_of(static_cast<size_t>(*spec.precision))));
    }
    return write_padded(spec, whole.as_string());
  }

  Status write_char(const Spec& spec, const Val& value) {
    if (value.is_string() && value.as_string().n_chars == 1) return write_padded(spec, value.as_string());
    if (!value.is_integral()) return raise("%c requires int or char");
    const int64_t code = value.as_int();
    if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return raise("%c arg not in range(0x110000)");
    std::string one;
    append_utf8(one, static_cast<char32_t>(code));
    return write_padded(spec, rt_.string(one).as_string());
  }

  /// Sign, prefix and digits, with zeros between where the width asks for them.
  Status write_number(const Spec& spec, bool is_negative, const std::string& prefix, std::string digits) {
    const std::string sign = is_negative ? "-" : spec.has_plus ? "+" : spec.has_space ? " " : "";
    const auto n = static_cast<int64_t>(sign.size() + prefix.size() + digits.size());
    if (spec.has_zeros && !spec.is_left && spec.width > n) {
      VITRO_TRY(rt_.budget.check_room(static_cast<size_t>(spec.width)));
      digits.insert(0, static_cast<size_t>(spec.width - n), '0');
    }
    return write_padded(spec, rt_.string(sign + prefix + digits).as_string());
  }

  Status write_integer(const Spec& spec, const Val& value) {
    const bool is_decimal = spec.type == 'd' || spec.type == 'i' || spec.type == 'u';
    Val whole = value;
    if (value.is(Kind::kFloat) && is_decimal) {
      if (!(std::fabs(value.as_real()) < 9.2e18)) return raise("integers of more than 64 bits are not supported");
      whole = Val::integer(static_cast<int64_t>(value.as_real()));
    }
    if (value.is(Kind::kUndefined) && is_decimal) return raise_undefined(value);
    if (!whole.is_integral()) {
      return raise("%{} format: {} is required, not {}", spec.type, is_decimal ? "a real number" : "an integer",
                   type_name(value));
    }
    const bool is_negative = whole.as_int() < 0;
    const uint64_t magnitude =
        is_negative ? ~static_cast<uint64_t>(whole.as_int()) + 1 : static_cast<uint64_t>(whole.as_int());
    std::string digits = spec.type == 'o'   ? fmt::format("{:o}", magnitude)
                         : spec.type == 'x' ? fmt::format("{:x}", magnitude)
                         : spec.type == 'X' ? fmt::format("{:X}", magnitude)
                                            : std::to_string(magnitude);
    const int64_t n_wanted = spec.precision.value_or(0);
    VITRO_TRY(rt_.budget.check_room(static_cast<size_t>(n_wanted)));
    if (n_wanted > static_cast<int64_t>(digits.size())) {
      digits.insert(0, static_cast<size_t>(n_wanted) - digits.size(), '0');
    }
    const std::string prefix = spec.is_alternate && !is_decimal ? std::string("0") + spec.type : "";
    return write_number(spec, is_negative, prefix, std::move(digits));
  }

  Status write_real(const Spec& spec, const Val& value) {
    if (value.is(Kind::kUndefined)) return raise_undefined(value);
    if (!value.is_number()) return raise("must be real number, not {}", type_name(value));
    const int64_t precision = spec.precision.value_or(6);
    if (precision > 1024) return raise("more than 1024 places are not supported");
    const double x = value.as_real();
    return write_number(spec, std::signbit(x) && !std::isnan(x), "",
                        format_real(std::fabs(x), spec.type, static_cast<int>(precision), spec.is_alternate));
  }

  Runtime& rt_;
  const MarkedText& format_;
  const bool is_safe_;  ///< the format is Markup: what goes in is escaped
  const Val& values_;
  TextBuilder out_;
  size_t pos_ = 0;
  size_t next_ = 0;
  bool is_used_ = false;
  std::optional<Val> named_;
};

}  // namespace

std::string format_real(double x, char type, int precision, bool is_alternate) {
  const bool is_upper = type == 'E' || type == 'F' || type == 'G';
  if (!std::isfinite(x)) {
    const std::string name = std::isnan(x) ? "nan" : x < 0 ? "-inf" : "inf";
    return is_upper ? (std::isnan(x) ? "NAN" : x < 0 ? "-INF" : "INF") : name;
  }
  const std::string spec = fmt::format("{{:{}.{}{}}}", is_alternate ? "#" : "", precision, type);
  return fmt::format(fmt::runtime(spec), x);
}

Result<Val> format_percent(Runtime& rt, const StringObject& format, const Val& values) {
  return PercentFormatter(rt, format, values).run();
}

}  // namespace vitro::jinja
