// Decoding by the table of well-formed sequences (Unicode Standard, table 3-7), with the "maximal subpart" rule for
// broken ones.
#include "text/utf8.h"

#include <algorithm>

namespace vitro {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

uint8_t byte_at(std::string_view text, size_t idx) { return static_cast<uint8_t>(text[idx]); }

/// What a lead byte announces: length of the character (0: no lead byte) and the range of the second byte, which is
/// what rules out overlong forms, surrogates and values above U+10FFFF.
struct Lead {
  int n_bytes = 0;
  uint8_t second_min = 0x80;
  uint8_t second_max = 0xBF;
};

Lead lead_of(uint8_t byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2 || byte > 0xF4) return {0};
  if (byte < 0xE0) return {2};
  if (byte < 0xF0)
    return {3, static_cast<uint8_t>(byte == 0xE0 ? 0xA0 : 0x80), static_cast<uint8_t>(byte == 0xED ? 0x9F : 0xBF)};
  return {4, static_cast<uint8_t>(byte == 0xF0 ? 0x90 : 0x80), static_cast<uint8_t>(byte == 0xF4 ? 0x8F : 0xBF)};
}

}  // namespace

CodePoint decode_utf8(std::string_view text) {
  if (text.empty()) return {0, 0, true};
  const uint8_t first = byte_at(text, 0);
  const Lead lead = lead_of(first);
  if (lead.n_bytes == 1) return {first, 1, true};
  if (lead.n_bytes == 0) return {kReplacement, 1, false};
  char32_t value = first & (0x7FU >> lead.n_bytes);
  for (int i = 1; i < lead.n_bytes; ++i) {
    if (static_cast<size_t>(i) == text.size()) return {kReplacement, i, false};
    const uint8_t next = byte_at(text, static_cast<size_t>(i));
    const uint8_t low = i == 1 ? lead.second_min : uint8_t{0x80};
    const uint8_t high = i == 1 ? lead.second_max : uint8_t{0xBF};
    if (next < low || next > high) return {kReplacement, i, false};
    value = (value << 6) | (next & 0x3FU);
  }
  return {value, lead.n_bytes, true};
}

void append_utf8(std::string& out, char32_t value) {
  if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) value = kReplacement;
  if (value < 0x80) {
    out.push_back(static_cast<char>(value));
    return;
  }
  const int n_bytes = value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
  out.push_back(static_cast<char>((0xF00U >> n_bytes) | (value >> (6 * (n_bytes - 1)))));
  for (int i = n_bytes - 2; i >= 0; --i) out.push_back(static_cast<char>(0x80U | ((value >> (6 * i)) & 0x3FU)));
}

bool is_valid_utf8(std::string_view text) {
  size_t pos = 0;
  while (pos < text.size()) {
    if (byte_at(text, pos) < 0x80) {
      ++pos;
      continue;
    }
    const CodePoint point = decode_utf8(text.substr(pos));
    if (!point.is_valid) return false;
    pos += static_cast<size_t>(point.n_bytes);
  }
  return true;
}

std::string replace_invalid_utf8(std::string_view text) {
  if (is_valid_utf8(text)) return std::string(text);
  std::string out;
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint point = decode_utf8(text.substr(pos));
    append_utf8(out, point.value);
    pos += static_cast<size_t>(point.n_bytes);
  }
  return out;
}

size_t complete_utf8_prefix(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const size_t pos = text.size() - back;
    if ((byte_at(text, pos) & 0xC0U) == 0x80) continue;
    const CodePoint point = decode_utf8(text.substr(pos));
    const bool is_unfinished = !point.is_valid && static_cast<size_t>(point.n_bytes) == back &&
                               lead_of(byte_at(text, pos)).n_bytes > static_cast<int>(back);
    return is_unfinished ? pos : text.size();
  }
  return text.size();
}

}  // namespace vitro
