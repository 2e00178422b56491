#include "base/letters.h"

#include <algorithm>

namespace vitro {

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

bool has_control(std::string_view text) {
  unsigned char before = 0;
  return std::any_of(text.begin(), text.end(), [&](unsigned char c) {
    const bool is_upper_control = before == 0xC2 && c >= 0x80 && c < 0xA0;
    before = c;
    return c < 0x20 || c == 0x7F || is_upper_control;
  });
}

}  // namespace vitro
