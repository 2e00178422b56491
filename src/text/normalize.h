// Canonical composition (NFC, UAX 15), with what offsets need: how each character of the result relates to the source.
#pragma once

#include <string_view>
#include <vector>

namespace vitro {

/// A character of the result. change 0: it stands for one character of the source; +1: it was inserted, it shares the
/// origin of the character before it; -n: it stands for one character and n more after that were swallowed.
struct NormalizedChar {
  char32_t value = 0;
  int change = 0;
};

/// NFC of valid UTF-8. Linear, except that runs of marks after one starter are sorted (n log n).
std::vector<NormalizedChar> to_nfc(std::string_view text);

/// True if NFC certainly leaves the text alone: every code point is below U+0300.
bool is_trivially_nfc(std::string_view text);

}  // namespace vitro
