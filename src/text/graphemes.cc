// The rules GB3 to GB13, as a walk over pairs of neighbours. Three of them look further back, but never beyond the
// cluster's start; for these the walk keeps what it has seen.
#include "text/graphemes.h"

#include "text/step_tables.h"
#include "text/utf8.h"

namespace vitro {
namespace {

/// Low bits of a kind, as tools/make_step_tables.py numbers them.
enum Break : uint8_t { kOther, kControl, kExtend, kJoiner, kPrepend, kSpacing, kLead, kVowel, kTail, kBreakMask = 15 };
/// Other bits: pictographs, and what conjuncts of Indic scripts are made of.
enum KindBit : uint8_t { kPicture = 16, kConsonant = 32, kLinker = 64, kConjunctExtend = 128 };

constexpr char32_t kSyllableBase = 0xAC00, kSyllableCount = 11172, kTailCount = 28;
constexpr char32_t kRegionalFirst = 0x1F1E6, kRegionalLast = 0x1F1FF;

class Cluster {
 public:
  explicit Cluster(char32_t first) { take(first, grapheme_kind(first)); }

  /// Adds a character if there is no break before it.
  bool join(char32_t code) {
    const uint8_t kind = grapheme_kind(code);
    if (!joins(code, kind)) return false;
    take(code, kind);
    return true;
  }

 private:
  bool joins(char32_t code, uint8_t kind) const {
    const int next = kind & kBreakMask;
    if (last_ == '\r' && code == '\n') return true;
    if (is_control(last_, last_kind_) || is_control(code, kind)) return false;
    if (joins_hangul(code, next)) return true;
    if (next == kExtend || next == kJoiner || next == kSpacing) return true;
    if ((last_kind_ & kBreakMask) == kPrepend) return true;
    if (has_linker_ && (kind & kConsonant) != 0) return true;
    if (awaits_picture_ && (kind & kPicture) != 0) return true;
    return n_regional_ % 2 == 1 && is_regional(code);
  }

  bool joins_hangul(char32_t code, int next) const {
    const int last = last_kind_ & kBreakMask;
    if (last == kLead) return next == kLead || next == kVowel || is_syllable(code);
    if (last == kVowel || is_open_syllable(last_)) return next == kVowel || next == kTail;
    return (last == kTail || is_syllable(last_)) && next == kTail;
  }

  void take(char32_t code, uint8_t kind) {
    const int what = kind & kBreakMask;
    awaits_picture_ = what == kJoiner && is_picture_;
    is_picture_ = (kind & kPicture) != 0 || (what == kExtend && is_picture_);
    const bool goes_on = (kind & (kConjunctExtend | kLinker)) != 0;
    has_linker_ = has_consonant_ && goes_on && (has_linker_ || (kind & kLinker) != 0);
    has_consonant_ = (kind & kConsonant) != 0 || (has_consonant_ && goes_on);
    n_regional_ = is_regional(code) ? n_regional_ + 1 : 0;
    last_ = code;
    last_kind_ = kind;
  }

  static bool is_control(char32_t code, uint8_t kind) {
    return code == '\r' || code == '\n' || (kind & kBreakMask) == kControl;
  }
  static bool is_regional(char32_t code) { return code >= kRegionalFirst && code <= kRegionalLast; }
  static bool is_syllable(char32_t code) { return code - kSyllableBase < kSyllableCount; }
  static bool is_open_syllable(char32_t code) { return is_syllable(code) && (code - kSyllableBase) % kTailCount == 0; }

  char32_t last_ = 0;
  uint8_t last_kind_ = 0;
  bool is_picture_ = false;      ///< a pictograph, then marks
  bool awaits_picture_ = false;  ///< that, then a joiner
  bool has_consonant_ = false;
  bool has_linker_ = false;
  int n_regional_ = 0;
};

}  // namespace

size_t first_grapheme_bytes(std::string_view text) {
  const CodePoint first = decode_utf8(text);
  auto pos = static_cast<size_t>(first.n_bytes);
  const auto is_plain = [&](size_t idx) { return static_cast<uint8_t>(text[idx]) < 0x80; };
  if (pos < text.size() && is_plain(0) && is_plain(pos) && text[0] != '\r') return pos;
  Cluster cluster(first.value);
  while (pos < text.size()) {
    const CodePoint next = decode_utf8(text.substr(pos));
    if (!cluster.join(next.value)) break;
    pos += static_cast<size_t>(next.n_bytes);
  }
  return pos;
}

}  // namespace vitro
