#include "text/jinja/wrap.h"

#include <algorithm>

#include "text/jinja/case_map.h"
#include "text/jinja/py_chars.h"
#include "text/jinja/text_tools.h"

namespace vitro::jinja {
namespace {

/// A piece of a line that is not broken: white space, a word, or a word up to a hyphen.
struct Chunk {
  ByteRange range;
  int64_t n_chars;
  bool is_space;
};

/// White space as textwrap knows it.
bool is_wrap_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_letter_or_mark(std::string_view text, size_t pos) {
  if (pos >= text.size()) return false;
  const char32_t c = decode_utf8(text.substr(pos)).value;
  return is_re_word(c) && !is_decimal(c);
}

size_t previous(std::string_view text, size_t pos) {
  return pos - static_cast<size_t>(last_code_point(text.substr(0, pos)).n_bytes);
}

/// True if the word may be broken behind the hyphen that ends at `end`: two letters before it (or one behind another
/// hyphen), two letters behind it.
bool may_break(std::string_view word, size_t end) {
  if (end < 2 || end >= word.size()) return false;
  const size_t before = previous(word, end - 1);
  if (!is_letter_or_mark(word, before) || before == 0 || !is_letter_or_mark(word, previous(word, before))) return false;
  if (!is_letter_or_mark(word, end)) return false;
  const size_t second = end + static_cast<size_t>(decode_utf8(word.substr(end)).n_bytes);
  if (second >= word.size()) return false;
  if (is_letter_or_mark(word, second)) return true;
  return word[second] == '-' && second + 1 < word.size() && is_letter_or_mark(word, second + 1);
}

int64_t count_chars(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

std::vector<Chunk> chunks_of(std::string_view text, bool breaks_on_hyphens) {
  std::vector<Chunk> out;
  const auto add = [&](size_t begin, size_t end, bool is_space) {
    if (begin < end) out.push_back({{begin, end}, count_chars(text.substr(begin, end - begin)), is_space});
  };
  for (size_t pos = 0; pos < text.size();) {
    const bool is_space = is_wrap_space(text[pos]);
    size_t end = pos;
    while (end < text.size() && is_wrap_space(text[end]) == is_space) ++end;
    size_t begin = pos;
    for (size_t i = pos; breaks_on_hyphens && !is_space && i < end; ++i) {
      if (text[i] != '-' || !may_break(text.substr(pos, end - pos), i + 1 - pos)) continue;
      add(begin, i + 1, false);
      begin = i + 1;
    }
    add(begin, end, is_space);
    pos = end;
  }
  return out;
}

class Wrapper {
 public:
  Wrapper(Runtime& rt, const MarkedText& line, const WrapStyle& style) : rt_(rt), line_(line), style_(style) {
    chunks_ = chunks_of(line.text, style.breaks_on_hyphens);
    std::reverse(chunks_.begin(), chunks_.end());
  }

  Result<std::vector<MarkedText>> run() {
    std::vector<MarkedText> lines;
    while (!chunks_.empty()) {
      rt_.budget.step(2);
      VITRO_TRY(rt_.budget.check());
      if (chunks_.back().is_space && !lines.empty()) chunks_.pop_back();
      const std::vector<Chunk> current = take_line();
      if (!current.empty()) lines.push_back(line_.slice(current.front().range.begin, current.back().range.end));
    }
    return lines;
  }

 private:
  std::vector<Chunk> take_line() {
    std::vector<Chunk> current;
    int64_t length = 0;
    while (!chunks_.empty() && length + chunks_.back().n_chars <= style_.width) {
      length += chunks_.back().n_chars;
      current.push_back(chunks_.back());
      chunks_.pop_back();
    }
    if (!chunks_.empty() && chunks_.back().n_chars > style_.width) take_long(current, length);
    if (!current.empty() && current.back().is_space) current.pop_back();
    return current;
  }

  /// A chunk longer than a line: its beginning fills this one, or it stands alone.
  void take_long(std::vector<Chunk>& current, int64_t length) {
    Chunk& chunk = chunks_.back();
    if (!style_.breaks_long_words) {
      if (!current.empty()) return;
      current.push_back(chunk);
      chunks_.pop_back();
      return;
    }
    const auto [end, n_taken] = beginning_of(chunk, style_.width - length);
    // As in the reference, nothing at all counts as white space, so that a space in front of it stays.
    current.push_back({{chunk.range.begin, end}, n_taken, chunk.is_space || n_taken == 0});
    chunk.range.begin = end;
    chunk.n_chars -= n_taken;
  }

  /// Where the first n_room characters of a chunk end, or those up to their last hyphen; and how many these are.
  std::pair<size_t, int64_t> beginning_of(const Chunk& chunk, int64_t n_room) const {
    std::pair<size_t, int64_t> all{chunk.range.begin, 0};
    std::pair<size_t, int64_t> hyphen{0, 0};
    bool is_word = false;
    while (all.second < n_room) {
      const CodePoint c = decode_utf8(std::string_view(line_.text).substr(all.first));
      all = {all.first + static_cast<size_t>(c.n_bytes), all.second + 1};
      if (c.value == '-' && is_word) hyphen = all;
      is_word = is_word || c.value != '-';
    }
    return style_.breaks_on_hyphens && hyphen.second > 0 ? hyphen : all;
  }

  Runtime& rt_;
  const MarkedText& line_;
  const WrapStyle& style_;
  std::vector<Chunk> chunks_;  ///< last one first
};

/// Everything from `open` to `close` taken out, as often as it is found; linear.
MarkedText without(const MarkedText& text, std::string_view open, std::string_view close) {
  MarkedText out;
  size_t pos = 0;
  for (;;) {
    const size_t begin = text.text.find(open, pos);
    const size_t end = begin == std::string::npos ? begin : text.text.find(close, begin);
    if (end == std::string::npos) break;
    out.append(text, {pos, begin});
    pos = end + close.size();
  }
  out.append(text, {pos, text.size()});
  return out;
}

}  // namespace

bool is_re_word(char32_t c) { return c == '_' || category_of(c) <= Category::kLo || is_numeric(c); }

Result<std::vector<MarkedText>> wrap_line(Runtime& rt, const MarkedText& line, const WrapStyle& style) {
  if (style.width <= 0) return raise("invalid width {} (must be > 0)", style.width);
  rt.budget.read(line.size());
  return Wrapper(rt, line, style).run();
}

Result<Val> strip_tags(Runtime& rt, const MarkedText& text) {
  const MarkedText bare = without(without(text, "<!--", "-->"), "<", ">");
  TextBuilder out(rt);
  for (const ByteRange& word : split_space(bare.text, -1, false)) {
    if (bare.text.find('&', word.begin) < word.end) {
      return fail(ErrorCode::kUnsupported, "the filter striptags does not replace references like &amp;");
    }
    if (out.size() > 0) out.append(" ");
    out.append(bare, word);
  }
  return out.finish();
}

}  // namespace vitro::jinja
