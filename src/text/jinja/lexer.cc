#include "text/jinja/lexer.h"

#include <algorithm>
#include <charconv>

#include "text/jinja/py_chars.h"

namespace vitro::jinja {
namespace {

constexpr size_t kMaxSourceBytes = size_t{16} << 20;
constexpr std::string_view kOperators[] = {"//", "**", "==", "!=", ">=", "<="};
constexpr std::string_view kSingles = "+-/*%~[](){}><=.:|,;";

/// \r\n and \r are \n; one line break at the very end is dropped.
std::string normalized(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
      continue;
    }
    out += '\n';
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }
bool is_hex(char c) {
  return is_ascii_digit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// A tag's opening at a place of the text: which one, its sign, and where what follows begins.
struct Opening {
  enum class What { kVariable, kBlock, kComment, kRaw };
  What what;
  char sign = 0;
  size_t end;
};

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)) {}

  Result<std::vector<Token>> run() {
    while (pos_ < source_.size()) VITRO_TRY(lex_root());
    push(Tok::kEof, source_.size(), "");
    return std::move(tokens_);
  }

 private:
  std::string_view rest(size_t pos) const { return std::string_view(source_).substr(pos); }
  bool has(size_t pos, std::string_view word) const { return rest(std::min(pos, source_.size())).starts_with(word); }
  char at(size_t pos) const { return pos < source_.size() ? source_[pos] : '\0'; }
  size_t skip_space(size_t pos) const { return pos + leading_space(rest(pos)); }

  /// Offsets come in ascending order, so the whole text is counted once.
  Pos pos_of(size_t offset) {
    if (offset < counted_) {
      counted_ = 0;
      counted_pos_ = {};
    }
    for (; counted_ < offset; ++counted_) {
      if (source_[counted_] == '\n') {
        ++counted_pos_.line;
        counted_pos_.column = 1;
      } else if ((static_cast<unsigned char>(source_[counted_]) & 0xC0U) != 0x80U) {
        ++counted_pos_.column;
      }
    }
    return counted_pos_;
  }
  Token& push(Tok kind, size_t offset, std::string text) {
    tokens_.push_back({kind, pos_of(offset), std::move(text), 0, 0});
    return tokens_.back();
  }

  /// The end of a closing "-%}  ", "+%}" or "%}\n" at a place, or 0.
  size_t closing_end(size_t pos, std::string_view close, bool has_plus, bool trims_newline) const {
    if (at(pos) == '-' && has(pos + 1, close)) return skip_space(pos + 1 + close.size());
    if (has_plus && at(pos) == '+' && has(pos + 1, close)) return pos + 1 + close.size();
    if (!has(pos, close)) return 0;
    const size_t end = pos + close.size();
    return trims_newline && at(end) == '\n' ? end + 1 : end;
  }

  std::optional<Opening> opening_at(size_t pos) const {
    const char kind = at(pos + 1);
    if (at(pos) != '{' || (kind != '{' && kind != '%' && kind != '#')) return std::nullopt;
    const char sign = at(pos + 2) == '-' || at(pos + 2) == '+' ? at(pos + 2) : '\0';
    const size_t end = pos + 2 + (sign ? 1 : 0);
    if (kind == '%') {
      if (const size_t raw = raw_end(end, "raw", false)) return Opening{Opening::What::kRaw, sign, raw};
      return Opening{Opening::What::kBlock, sign, end};
    }
    return Opening{kind == '{' ? Opening::What::kVariable : Opening::What::kComment, sign, end};
  }

  /// Where "  raw %}" or "  endraw %}" at a place ends, or 0.
  size_t raw_end(size_t pos, std::string_view word, bool is_closing) const {
    pos = skip_space(pos);
    if (!has(pos, word)) return 0;
    return closing_end(skip_space(pos + word.size()), "%}", is_closing, is_closing);
  }

  /// Text before a tag, without what the tag's sign or lstrip_blocks takes off.
  void push_data(size_t begin, size_t end, char sign, bool is_variable) {
    std::string_view text = rest(begin).substr(0, end - begin);
    if (sign == '-') {
      text.remove_suffix(trailing_space(text));
    } else if (sign != '+' && !is_variable) {
      const size_t line = text.rfind('\n') + 1;
      if ((line > 0 || is_line_start_) && leading_space(text.substr(line)) == text.size() - line) {
        text = text.substr(0, line);
      }
    }
    if (!text.empty()) push(Tok::kData, begin, std::string(text));
  }

  void move_to(size_t pos) {
    is_line_start_ = pos > 0 && source_[pos - 1] == '\n';
    pos_ = pos;
  }

  Status lex_root() {
    size_t tag = pos_;
    std::optional<Opening> opening;
    for (; tag < source_.size(); ++tag) {
      tag = std::min(source_.find('{', tag), source_.size());
      opening = opening_at(tag);
      if (opening) break;
    }
    if (!opening) {
      push(Tok::kData, pos_, std::string(rest(pos_)));
      pos_ = source_.size();
      return {};
    }
    push_data(pos_, tag, opening->sign, opening->what == Opening::What::kVariable);
    move_to(opening->end);
    switch (opening->what) {
      case Opening::What::kComment:
        return lex_comment(tag);
      case Opening::What::kRaw:
        return lex_raw(tag);
      case Opening::What::kVariable:
        push(Tok::kVariableBegin, tag, "{{");
        return lex_tag(Tok::kVariableEnd, "}}");
      case Opening::What::kBlock:
        break;
    }
    push(Tok::kBlockBegin, tag, "{%");
    return lex_tag(Tok::kBlockEnd, "%}");
  }

  Status lex_comment(size_t tag) {
    const size_t end = source_.find("#}", pos_);
    if (end != std::string::npos) {
      // The sign belongs to the closing only if it stands inside the comment.
      const bool has_sign = end > pos_ && (source_[end - 1] == '-' || source_[end - 1] == '+');
      move_to(closing_end(has_sign ? end - 1 : end, "#}", true, true));
      return {};
    }
    return syntax_error(pos_of(tag), "Missing end of comment tag");
  }

  Status lex_raw(size_t tag) {
    for (size_t close = pos_; (close = source_.find("{%", close)) != std::string::npos; ++close) {
      const char sign = at(close + 2) == '-' || at(close + 2) == '+' ? at(close + 2) : '\0';
      const size_t end = raw_end(close + 2 + (sign ? 1 : 0), "endraw", true);
      if (end == 0) continue;
      push_data(pos_, close, sign, false);
      move_to(end);
      return {};
    }
    return syntax_error(pos_of(tag), "Missing end of raw directive");
  }

  Status lex_tag(Tok end_kind, std::string_view close) {
    const bool is_block = end_kind == Tok::kBlockEnd;
    brackets_.clear();
    while (pos_ < source_.size()) {
      const size_t end = brackets_.empty() ? closing_end(pos_, close, is_block, is_block) : 0;
      if (end != 0) {
        push(end_kind, pos_, std::string(close));
        move_to(end);
        return {};
      }
      VITRO_TRY(lex_token());
    }
    return {};
  }

  Status lex_token() {
    const size_t space = skip_space(pos_);
    if (space != pos_) {
      pos_ = space;
      return {};
    }
    const char c = at(pos_);
    if (is_ascii_digit(static_cast<unsigned char>(c))) return lex_number();
    if (c == '"' || c == '\'') return lex_string();
    if (const size_t n = name_length()) {
      push(Tok::kName, pos_, std::string(rest(pos_).substr(0, n)));
      pos_ += n;
      return {};
    }
    return lex_operator();
  }

  size_t name_length() const {
    size_t end = pos_;
    while (end < source_.size()) {
      const CodePoint c = decode_utf8(rest(end));
      if (!c.is_valid || !is_word_character(c.value) || c.value == 0x200C || c.value == 0x200D) break;
      end += static_cast<size_t>(c.n_bytes);
    }
    return end - pos_;
  }

  /// Digits with single underscores between them, from pos; the end of them.
  size_t digits_end(size_t pos) const {
    while (is_ascii_digit(static_cast<unsigned char>(at(pos))) ||
           (at(pos) == '_' && is_ascii_digit(static_cast<unsigned char>(at(pos + 1))))) {
      ++pos;
    }
    return pos;
  }

  /// The end of a float at pos_, or 0.
  size_t float_end() const {
    if (pos_ > 0 && source_[pos_ - 1] == '.') return 0;
    const size_t whole = digits_end(pos_);
    size_t end = whole;
    if (at(end) == '.' && is_ascii_digit(static_cast<unsigned char>(at(end + 1)))) end = digits_end(end + 1);
    if (at(end) == 'e' || at(end) == 'E') {
      const size_t sign = at(end + 1) == '+' || at(end + 1) == '-' ? 1 : 0;
      if (is_ascii_digit(static_cast<unsigned char>(at(end + 1 + sign)))) return digits_end(end + 1 + sign);
    }
    return end == whole ? 0 : end;
  }

  static std::string without_underscores(std::string_view text) {
    std::string out(text);
    std::erase(out, '_');
    return out;
  }

  Status lex_number() {
    if (const size_t end = float_end()) {
      const std::string text = without_underscores(rest(pos_).substr(0, end - pos_));
      push(Tok::kFloat, pos_, text).real = std::strtod(text.c_str(), nullptr);
      pos_ = end;
      return {};
    }
    const char prefix = at(pos_) == '0' ? static_cast<char>(at(pos_ + 1) | 0x20) : '\0';
    const int base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 10;
    const size_t end = base == 10 ? decimal_end() : based_end(base);
    if (end == 0) return lex_integer(decimal_end(), 10);
    return lex_integer(end, base);
  }

  /// A decimal number; zero may only be followed by zeros.
  size_t decimal_end() const {
    if (at(pos_) != '0') return digits_end(pos_);
    size_t end = pos_ + 1;
    while (at(end) == '0' || (at(end) == '_' && at(end + 1) == '0')) ++end;
    return end;
  }

  size_t based_end(int base) const {
    const auto is_digit = [&](char c) {
      if (base == 16) return is_hex(c);
      return c >= '0' && c < '0' + base;
    };
    size_t end = pos_ + 2;
    while (is_digit(at(end)) || (at(end) == '_' && is_digit(at(end + 1)))) ++end;
    return end == pos_ + 2 ? 0 : end;
  }

  Status lex_integer(size_t end, int base) {
    const std::string text = without_underscores(rest(pos_).substr(0, end - pos_));
    const size_t skip = base == 10 ? 0 : 2;
    int64_t value = 0;
    const auto result = std::from_chars(text.data() + skip, text.data() + text.size(), value, base);
    if (result.ec != std::errc()) {
      return syntax_error(pos_of(pos_), "the number {} needs more than 64 bits, which are not supported", text);
    }
    push(Tok::kInteger, pos_, text).integer = value;
    pos_ = end;
    return {};
  }

  Status lex_string() {
    const size_t begin = pos_;
    const char quote = source_[pos_++];
    std::string out;
    while (pos_ < source_.size() && source_[pos_] != quote) {
      if (source_[pos_] != '\\') {
        out += source_[pos_++];
      } else {
        ++pos_;
        VITRO_TRY(lex_escape(out));
      }
    }
    if (pos_ >= source_.size())
      return syntax_error(pos_of(begin), "unexpected char {}", quote == '"' ? "'\"'" : "\"'\"");
    ++pos_;
    push(Tok::kString, begin, std::move(out));
    return {};
  }

  Status lex_escape(std::string& out) {
    constexpr std::string_view kFrom = "\\'\"abfnrtv";
    constexpr std::string_view kTo = "\\'\"\a\b\f\n\r\t\v";
    const char c = at(pos_);
    if (const size_t i = kFrom.find(c); i != std::string_view::npos && c != '\0') {
      out += kTo[i];
      ++pos_;
      return {};
    }
    if (c == '\n') {
      ++pos_;
      return {};
    }
    if (is_octal(c)) return lex_octal(out);
    if (c == 'x') return lex_hex(out, 2);
    if (c == 'u') return lex_hex(out, 4);
    if (c == 'U') return lex_hex(out, 8);
    if (c == 'N') return syntax_error(pos_of(pos_), "named characters (\\N) are not supported; use \\u");
    out += '\\';  // unknown escapes stand for themselves
    return {};
  }

  Status lex_octal(std::string& out) {
    char32_t value = 0;
    for (int i = 0; i < 3 && is_octal(at(pos_)); ++i) value = value * 8 + static_cast<char32_t>(source_[pos_++] - '0');
    append_utf8(out, value);
    return {};
  }

  Status lex_hex(std::string& out, size_t n_digits) {
    const std::string_view digits = rest(pos_ + 1).substr(0, n_digits);
    uint32_t value = 0;
    if (digits.size() != n_digits || !std::all_of(digits.begin(), digits.end(), is_hex)) {
      return syntax_error(pos_of(pos_), "truncated \\{} escape", source_[pos_]);
    }
    std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
      return syntax_error(pos_of(pos_), "\\{}{} is no character", source_[pos_], digits);
    }
    append_utf8(out, static_cast<char32_t>(value));
    pos_ += 1 + n_digits;
    return {};
  }

  Status lex_operator() {
    std::string_view op = rest(pos_).substr(0, 1);
    if (std::find(std::begin(kOperators), std::end(kOperators), rest(pos_).substr(0, 2)) != std::end(kOperators)) {
      op = rest(pos_).substr(0, 2);
    } else if (kSingles.find(op[0]) == std::string_view::npos) {
      const auto n = static_cast<size_t>(decode_utf8(rest(pos_)).n_bytes);
      return syntax_error(pos_of(pos_), "unexpected char '{}'", rest(pos_).substr(0, n));
    }
    VITRO_TRY(balance(op[0]));
    push(Tok::kOperator, pos_, std::string(op));
    pos_ += op.size();
    return {};
  }

  Status balance(char c) {
    constexpr std::string_view kOpen = "{([";
    constexpr std::string_view kClose = "})]";
    if (const size_t i = kOpen.find(c); i != std::string_view::npos) brackets_ += kClose[i];
    if (kClose.find(c) == std::string_view::npos) return {};
    if (brackets_.empty()) return syntax_error(pos_of(pos_), "unexpected '{}'", c);
    if (brackets_.back() != c) return syntax_error(pos_of(pos_), "unexpected '{}', expected '{}'", c, brackets_.back());
    brackets_.pop_back();
    return {};
  }

  const std::string source_;
  std::vector<Token> tokens_;
  std::string brackets_;
  size_t pos_ = 0;
  bool is_line_start_ = true;
  size_t counted_ = 0;
  Pos counted_pos_;
};

}  // namespace

Result<std::vector<Token>> lex(std::string_view source) {
  if (source.size() > kMaxSourceBytes) {
    return fail(ErrorCode::kUnsupported, "a template of {} bytes; at most 16 MiB are read", source.size());
  }
  if (!is_valid_utf8(source)) return fail(ErrorCode::kCorrupt, "a template must be UTF-8");
  return Lexer(normalized(source)).run();
}

}  // namespace vitro::jinja
