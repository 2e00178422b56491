// What normalizers and pre-tokenizers ask of a code point. Not facts of one Unicode version: each answer is that of the
// reference's component, which tools/make_step_tables.py asks and documents.
#pragma once

#include <cstdint>
#include <string_view>

#include "text/normalize.h"

namespace vitro {

enum class CodeSet : uint8_t {
  kPunctuation,  ///< of Punctuation and BertPreTokenizer
  kNumeric,      ///< of Digits
  kMarks,        ///< what StripAccents removes
  kNonspacing,   ///< what BertNormalizer removes as accents
  kUnclean,      ///< what BertNormalizer removes at first
};
bool is_in(CodeSet set, char32_t code);

/// Lower case of one code point. U+0130, the only one that becomes two, gives 'i'; U+0307 is the other.
char32_t lower_case(char32_t code);

/// What NFKD makes of a code point, where NFD makes something else; else empty.
std::u32string_view decompose_compatible(char32_t code);

/// False if the form may change the code point in some surroundings.
bool is_stable(char32_t code, NormalForm form);

/// A number for each script; 0: none, which joins everything. Kana count as Han.
uint8_t script_of(char32_t code);

/// Bits for graphemes.cc.
uint8_t grapheme_kind(char32_t code);

}  // namespace vitro
