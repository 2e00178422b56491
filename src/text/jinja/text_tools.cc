#include "text/jinja/text_tools.h"

#include <algorithm>
#include <cstring>

#include "text/jinja/case_map.h"
#include "text/jinja/operators.h"
#include "text/jinja/py_chars.h"

namespace vitro::jinja {
namespace {

bool is_in_set(char32_t c, std::string_view chars) {
  std::string one;
  append_utf8(one, c);
  // A code point is never found inside another one's bytes.
  return chars.find(one) != std::string_view::npos;
}

bool is_line_end(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

/// Sigma at the end of a word is written otherwise.
bool is_final_sigma(std::string_view text, size_t pos, size_t next) {
  bool has_before = false;
  for (size_t i = pos; i > 0;) {
    const CodePoint c = last_code_point(text.substr(0, i));
    i -= static_cast<size_t>(c.n_bytes);
    if (is_case_ignorable(c.value)) continue;
    has_before = is_cased(c.value);
    break;
  }
  if (!has_before) return false;
  for (size_t i = next; i < text.size();) {
    const CodePoint c = decode_utf8(text.substr(i));
    i += static_cast<size_t>(c.n_bytes);
    if (!is_case_ignorable(c.value)) return !is_cased(c.value);
  }
  return true;
}

Mapped map_one(std::string_view text, size_t pos, const CodePoint& c, Case to) {
  switch (to) {
    case Case::kUpper:
      return upper_of(c.value);
    case Case::kTitle:
      return title_of(c.value);
    case Case::kFold:
      return fold_of(c.value);
    case Case::kLower:
      break;
  }
  if (c.value == 0x3A3 && is_final_sigma(text, pos, pos + static_cast<size_t>(c.n_bytes))) return {0x3C2, 0, 0};
  return lower_of(c.value);
}

/// Maps each character by the case that `choose` gives it.
template <class Choose>
Result<MarkedText> map_chars(Runtime& rt, const MarkedText& text, Choose&& choose) {
  TextBuilder out(rt);
  const std::string& t = text.text;
  size_t begin = 0;  // of what is copied as it is
  for (size_t pos = 0; pos < t.size();) {
    const CodePoint c = decode_utf8(std::string_view(t).substr(pos));
    const Mapped mapped = map_one(t, pos, c, choose(c.value));
    const size_t next = pos + static_cast<size_t>(c.n_bytes);
    if (mapped[0] != c.value || mapped[1] != 0) {
      out.append(text, {begin, pos});
      std::string piece;
      for (const char32_t m : mapped) {
        if (m != 0) append_utf8(piece, m);
      }
      out.append(piece, !text.marks.empty() && !text.marks_of({pos, next}).empty());
      begin = next;
    }
    pos = next;
  }
  out.append(text, {begin, t.size()});
  return out.take();
}

}  // namespace

MarkedText strip(const MarkedText& text, Side side, const std::string* chars) {
  const std::string_view t = text.text;
  size_t begin = 0;
  size_t end = t.size();
  const auto is_stripped = [&](const CodePoint& c) {
    return chars ? is_in_set(c.value, *chars) : is_py_space(c.value);
  };
  while (side != Side::kRight && begin < end) {
    const CodePoint c = decode_utf8(t.substr(begin));
    if (!is_stripped(c)) break;
    begin += static_cast<size_t>(c.n_bytes);
  }
  while (side != Side::kLeft && begin < end) {
    const CodePoint c = last_code_point(t.substr(0, end));
    if (!is_stripped(c)) break;
    end -= static_cast<size_t>(c.n_bytes);
  }
  return text.slice(begin, end);
}

size_t find_bytes(std::string_view text, std::string_view needle, size_t begin) {
  if (begin > text.size()) return std::string_view::npos;
  if (needle.empty()) return begin;
  const void* at = ::memmem(text.data() + begin, text.size() - begin, needle.data(), needle.size());
  return at == nullptr ? std::string_view::npos : static_cast<size_t>(static_cast<const char*>(at) - text.data());
}

Status charge_backward_search(Runtime& rt, size_t n_text, size_t n_needle) {
  rt.budget.step((n_text / 64 + 1) * (n_needle / 64 + 1));
  return rt.budget.check();
}

Result<Val> replace_text(Runtime& rt, const StringObject& string, const MarkedText& from, const MarkedText& to,
                         int64_t max_count) {
  const MarkedText& text = string.marked;
  TextBuilder out(rt);
  size_t pos = 0;
  for (int64_t n = 0; max_count < 0 || n < max_count; ++n) {
    rt.budget.step();
    VITRO_TRY(rt.budget.check());
    const size_t at = find_bytes(text.text, from.text, pos);
    if (at == std::string::npos) break;
    out.append(text, {pos, at});
    out.append(to);
    pos = at + from.size();
    if (from.size() != 0) continue;
    // An empty text stands before every character and at the end.
    if (pos >= text.size()) return out.finish();
    const auto n_bytes = static_cast<size_t>(decode_utf8(std::string_view(text.text).substr(pos)).n_bytes);
    out.append(text, {pos, pos + n_bytes});
    pos += n_bytes;
  }
  out.append(text, {pos, text.size()});
  return out.finish();
}

std::vector<ByteRange> split_lines(std::string_view text, bool keeps_ends) {
  std::vector<ByteRange> out;
  size_t begin = 0;
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint c = decode_utf8(text.substr(pos));
    const size_t end = pos;
    pos += static_cast<size_t>(c.n_bytes);
    if (!is_line_end(c.value)) continue;
    if (c.value == '\r' && pos < text.size() && text[pos] == '\n') ++pos;
    out.push_back({begin, keeps_ends ? pos : end});
    begin = pos;
  }
  if (begin < text.size()) out.push_back({begin, text.size()});
  return out;
}

std::vector<ByteRange> split_space(std::string_view text, int64_t max_splits, bool is_from_right) {
  std::vector<ByteRange> out;
  size_t begin = leading_space(text);
  size_t end = text.size() - (begin < text.size() ? trailing_space(text) : 0);
  if (!is_from_right) end = text.size();
  if (is_from_right) begin = 0;
  const auto trim_front = [&] { begin += leading_space(text.substr(begin, end - begin)); };
  const auto trim_back = [&] { end -= trailing_space(text.substr(begin, end - begin)); };
  for (int64_t n = 0;; ++n) {
    is_from_right ? trim_back() : trim_front();
    if (begin >= end) break;
    if (max_splits >= 0 && n >= max_splits) {
      // What is left is one piece, with the white space inside and on its far side.
      out.push_back({begin, end});
      break;
    }
    size_t at = is_from_right ? end : begin;
    while (is_from_right ? at > begin : at < end) {
      const CodePoint c = is_from_right ? last_code_point(text.substr(0, at)) : decode_utf8(text.substr(at));
      if (is_py_space(c.value)) break;
      at = is_from_right ? at - static_cast<size_t>(c.n_bytes) : at + static_cast<size_t>(c.n_bytes);
    }
    out.push_back(is_from_right ? ByteRange{at, end} : ByteRange{begin, at});
    (is_from_right ? end : begin) = at;
  }
  if (is_from_right) std::reverse(out.begin(), out.end());
  return out;
}

std::vector<ByteRange> split_at(std::string_view text, std::string_view separator, int64_t max_splits,
                                bool is_from_right) {
  std::vector<ByteRange> out;
  if (!is_from_right) {
    size_t begin = 0;
    for (int64_t n = 0; max_splits < 0 || n < max_splits; ++n) {
      const size_t at = find_bytes(text, separator, begin);
      if (at == std::string_view::npos) break;
      out.push_back({begin, at});
      begin = at + separator.size();
    }
    out.push_back({begin, text.size()});
    return out;
  }
  size_t end = text.size();
  for (int64_t n = 0; max_splits < 0 || n < max_splits; ++n) {
    const size_t at = text.substr(0, end).rfind(separator);
    if (at == std::string_view::npos) break;
    out.push_back({at + separator.size(), end});
    end = at;
  }
  out.push_back({0, end});
  std::reverse(out.begin(), out.end());
  return out;
}

Result<MarkedText> map_case(Runtime& rt, const MarkedText& text, Case to) {
  return map_chars(rt, text, [&](char32_t) { return to; });
}

Result<MarkedText> capitalize(Runtime& rt, const MarkedText& text) {
  bool is_first = true;
  return map_chars(rt, text, [&](char32_t) { return std::exchange(is_first, false) ? Case::kTitle : Case::kLower; });
}

Result<MarkedText> title_words(Runtime& rt, const MarkedText& text) {
  bool is_inside = false;
  return map_chars(rt, text, [&](char32_t c) {
    const bool was_inside = std::exchange(is_inside, is_cased(c));
    return was_inside ? Case::kLower : Case::kTitle;
  });
}

Result<Val> pad(Runtime& rt, const StringObject& text, int64_t width, std::string_view fill, Align align) {
  const auto length = static_cast<int64_t>(text.n_chars);
  const int64_t n = width > length ? width - length : 0;
  VITRO_TRY(rt.budget.check_room(static_cast<size_t>(n)));
  int64_t n_left = align == Align::kRight ? n : 0;
  if (align == Align::kCenter) n_left = n / 2 + (n & width & 1);
  TextBuilder out(rt);
  for (int64_t i = 0; i < n_left; ++i) out.append(fill);
  out.append(text.marked);
  for (int64_t i = n_left; i < n; ++i) out.append(fill);
  return out.finish(text.is_markup);
}

namespace {

/// True if there is a cased character and none of the other case.
bool has_only_case(std::string_view text, bool (*is_wanted)(char32_t)) {
  bool is_any = false;
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint c = decode_utf8(text.substr(pos));
    pos += static_cast<size_t>(c.n_bytes);
    const bool is_it = is_wanted(c.value);
    is_any = is_any || is_it;
    if (!is_it && (is_upper(c.value) || is_lower(c.value) || (is_cased(c.value) && title_of(c.value)[0] == c.value))) {
      return false;
    }
  }
  return is_any;
}

}  // namespace

bool is_upper_text(std::string_view text) { return has_only_case(text, is_upper); }
bool is_lower_text(std::string_view text) { return has_only_case(text, is_lower); }

Status sort_values(Runtime& rt, std::vector<Val>& values, const std::function<Result<Val>(const Val&)>& key,
                   bool is_reverse) {
  std::vector<std::pair<Val, Val>> keyed;
  keyed.reserve(values.size());
  for (const Val& value : values) {
    VITRO_TRY_ASSIGN(Val k, key(value));
    keyed.emplace_back(std::move(k), value);
  }
  Status status;
  if (is_reverse) std::reverse(keyed.begin(), keyed.end());
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    if (!status) return false;
    const Result<bool> is_less = less(rt, a.first, b.first);
    if (!is_less) status = tl::unexpected<Error>(is_less.error());
    return is_less && *is_less;
  });
  if (is_reverse) std::reverse(keyed.begin(), keyed.end());
  VITRO_TRY(status);
  VITRO_TRY(rt.budget.check());
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::move(keyed[i].second);
  return {};
}

}  // namespace vitro::jinja
