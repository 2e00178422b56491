// Normal forms (UAX 15), with what offsets need: how each character of the result relates to the source.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace vitro {

enum class NormalForm : uint8_t { kNfc, kNfd, kNfkc, kNfkd };

/// A character of a result. change 0: it stands for one character of the source; +1: it was inserted, it shares the
/// origin of the character before it; -n: it stands for one character and n more after that were swallowed.
struct NormalizedChar {
  char32_t value = 0;
  int change = 0;
};

/// Valid UTF-8 in a normal form. Linear, except that runs of marks after one starter are sorted (n log n).
std::vector<NormalizedChar> normalize(std::string_view text, NormalForm form);

/// True if the form certainly leaves valid UTF-8 alone.
bool is_trivially_normal(std::string_view text, NormalForm form);

}  // namespace vitro
