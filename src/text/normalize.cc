// Decompose, sort marks, and for NFC and NFKC compose again. The counting of changes follows the reference tokenizers,
// so that offsets are the same.
#include "text/normalize.h"

#include <algorithm>
#include <cstdint>

#include "text/step_tables.h"
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
  explicit Decomposer(bool is_compatible) : is_compatible_(is_compatible) {}

  void add(char32_t code, int change) {
    const std::u32string_view compatible = is_compatible_ ? decompose_compatible(code) : std::u32string_view{};
    for (size_t i = 0; i < compatible.size(); ++i) push(compatible[i], i == 0 ? change : 1);
    if (compatible.empty()) add_canonical(code, change);
  }
  std::vector<Mark> finish() {
    sort_marks();
    return std::move(chars_);
  }

 private:
  void add_canonical(char32_t code, int change) {
    if (const auto parts = decompose_once(code)) {
      add_canonical((*parts)[0], change);  // tables nest at most three deep
      if ((*parts)[1] != 0) add_canonical((*parts)[1], 1);
      return;
    }
    push(code, change);
  }
  void push(char32_t code, int change) {
    const int combining = combining_class(code);
    if (combining == 0) sort_marks();
    chars_.push_back({{code, change}, combining});
    if (combining == 0) first_mark_ = chars_.size();
  }
  void sort_marks() {
    std::stable_sort(chars_.begin() + static_cast<std::ptrdiff_t>(first_mark_), chars_.end(),
                     [](const Mark& a, const Mark& b) { return a.combining_class < b.combining_class; });
    first_mark_ = chars_.size();
  }
  bool is_compatible_;
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

std::vector<NormalizedChar> normalize(std::string_view text, NormalForm form) {
  Decomposer decomposer(form == NormalForm::kNfkc || form == NormalForm::kNfkd);
  for (size_t pos = 0; pos < text.size();) {
    const CodePoint point = decode_utf8(text.substr(pos));
    decomposer.add(point.value, 0);
    pos += static_cast<size_t>(point.n_bytes);
  }
  const std::vector<Mark> chars = decomposer.finish();
  if (form == NormalForm::kNfc || form == NormalForm::kNfkc) return compose(chars);
  std::vector<NormalizedChar> out;
  out.reserve(chars.size());
  for (const Mark& mark : chars) out.push_back(mark.character);
  return out;
}

bool is_trivially_normal(std::string_view text, NormalForm form) {
  for (size_t pos = 0; pos < text.size();) {
    if (static_cast<uint8_t>(text[pos]) < 0x80) {
      ++pos;
      continue;
    }
    const CodePoint point = decode_utf8(text.substr(pos));
    if (!is_stable(point.value, form)) return false;
    pos += static_cast<size_t>(point.n_bytes);
  }
  return true;
}

}  // namespace vitro
