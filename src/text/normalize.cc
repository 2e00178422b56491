// Decompose, sort marks, compose again. The counting of changes follows the reference tokenizers, so that offsets are
// the same.
#include "text/normalize.h"

#include <algorithm>
#include <cstdint>

#include "text/unicode.h"
#include "text/utf8.h"

namespace vitro {
namespace {

struct Mark {
  NormalizedChar character;
  int combining_class = 0;
};

/// Collects decomposed characters and keeps each run of marks in canonical order.
class Decomposer {
 public:
  void add(char32_t code, int change) {
    if (const auto parts = decompose_once(code)) {
      add((*parts)[0], change);  // tables nest at most three deep
      if ((*parts)[1] != 0) add((*parts)[1], 1);
      return;
    }
    const int combining = combining_class(code);
    if (combining == 0) sort_marks();
    chars_.push_back({{code, change}, combining});
    if (combining == 0) first_mark_ = chars_.size();
  }
  std::vector<Mark> finish() {
    sort_marks();
    return std::move(chars_);
  }

 private:
  void sort_marks() {
    std::stable_sort(chars_.begin() + static_cast<std::ptrdiff_t>(first_mark_), chars_.end(),
                     [](const Mark& a, const Mark& b) { return a.combining_class < b.combining_class; });
    first_mark_ = chars_.size();
  }
  std::vector<Mark> chars_;
  size_t first_mark_ = 0;
};

/// The last starter takes in every following mark that is not blocked by one of an equal or higher class before it.
std::vector<NormalizedChar> compose(const std::vector<Mark>& chars) {
  std::vector<NormalizedChar> out;
  constexpr size_t kNone = SIZE_MAX;
  size_t starter = kNone;
  int last_class = -1;  // of the marks that stayed after the starter; -1: none
  for (const Mark& mark : chars) {
    const bool is_blocked = starter == kNone || last_class >= mark.combining_class;
    const char32_t composed = is_blocked ? 0 : compose_pair(out[starter].value, mark.character.value);
    if (composed != 0) {
      out[starter].value = composed;
      out[starter].change += mark.character.change - 1;
      continue;
    }
    out.push_back(mark.character);
    if (mark.combining_class == 0) starter = out.size() - 1;
    last_class = mark.combining_class == 0 ? -1 : mark.combining_class;
  }
  return out;
}

}  // namespace

std::vector<NormalizedChar> to_nfc(std::string_view text) {
  Decomposer decomposer;
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint point = decode_utf8(text.substr(pos));
    decomposer.add(point.value, 0);
    pos += static_cast<size_t>(point.n_bytes);
  }
  return compose(decomposer.finish());
}

bool is_trivially_nfc(std::string_view text) {
  // U+0300 is the bytes CC 80; every smaller code point has a lead byte below CC.
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return byte < 0xCC;
  });
}

}  // namespace vitro
