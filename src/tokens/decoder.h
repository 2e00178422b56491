// How pieces become text again: a list of steps, as data, and a stream that runs pieces through them. Whole decoding is
// the stream run to its end, so both are the same by construction. The steps and their odd cases are those of the
// reference tokenizers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "text/split_pattern.h"

namespace vitro {

/// Pieces are in the byte-level alphabet (text/byte_level.h); one with another character is taken as it stands. All
/// become one piece, broken bytes U+FFFD.
struct ByteLevelDecode {};
/// "<0x0A>" is the byte 0x0A.
struct ByteFallbackDecode {
  /// True (tokenizers): a run of bytes that is not UTF-8 as a whole is one U+FFFD for each byte; it is known only at
  /// the run's end. False (SentencePiece): each byte that is part of no character is U+FFFD.
  bool takes_whole_runs = true;
};
/// All pieces become one.
struct FuseDecode {};
/// Up to n_start and n_end times `content` (one character) is cut off the ends of every piece.
struct StripDecode {
  std::string content;
  size_t n_start = 0;
  size_t n_end = 0;
};
/// Occurrences inside pieces, from left to right. `pattern` is not empty.
struct ReplaceDecode {
  std::string pattern;
  std::string content;
};
struct RegexReplaceDecode {
  SplitPattern pattern;
  std::string content;
};
/// `mark` (one character) is a space; in the first piece nothing, if drops_first.
struct MetaspaceDecode {
  std::string mark;
  bool drops_first = true;
};
/// Pieces with the prefix continue the one before, others begin with a space.
struct WordPieceDecode {
  std::string prefix;
  bool cleans_up = true;  ///< no spaces before punctuation and English contractions
};
/// The suffix ends a word: a space, nothing in the last piece. Not empty.
struct BpeDecode {
  std::string suffix;
};
/// Equal neighbours are one piece; `pad` is nothing, `delimiter` a space (only if cleans_up, as in the reference).
struct CtcDecode {
  std::string pad;
  std::string delimiter;
  bool cleans_up = true;
};
/// `mark` is a space. At the start of the text, where the tokenizer put it there, one or all leading ones are nothing.
struct SentencePieceDecode {
  enum class Leading : uint8_t { kKeep, kDropOne, kDropAll };
  std::string mark;
  Leading leading = Leading::kKeep;
};
/// Spaces between pieces: what the reference does for a tokenizer without a decoder.
struct SpacesDecode {};

using DecodeStep =
    std::variant<ByteLevelDecode, ByteFallbackDecode, FuseDecode, StripDecode, ReplaceDecode, RegexReplaceDecode,
                 MetaspaceDecode, WordPieceDecode, BpeDecode, CtcDecode, SentencePieceDecode, SpacesDecode>;

/// Without steps pieces are joined as they stand.
struct DecodeSpec {
  std::vector<DecodeStep> steps;
  /// Control, user-defined and unknown entries are taken as they stand (GGUF, SentencePiece); otherwise the steps hold
  /// for them too (tokenizer.json).
  bool keeps_added_pieces = false;
  /// Stands for unknown tokens, if given (SentencePiece: " \u2047 ").
  std::optional<std::string> unknown_text = std::nullopt;

  /// The usual steps of byte-level vocabularies.
  static DecodeSpec byte_level();
  /// Those of SentencePiece: bytes and the mark of spaces.
  static DecodeSpec sentencepiece(std::string mark, SentencePieceDecode::Leading leading);
};

/// What goes into the steps for one token.
struct DecodePiece {
  std::string_view text;
  bool is_verbatim = false;  ///< taken as it stands
};

class DecodeStage;

/// One run through the steps of a spec, which must outlive it. What comes out is valid UTF-8 at every moment; held back
/// is only what may still change: a character without its end, what may become a match, a run of bytes.
class DecodeStream {
 public:
  struct Options {
    bool is_first = true;      ///< false: the pieces continue a text
    bool keeps_bytes = false;  ///< bytes come out as they are, not whole characters
  };
  DecodeStream(const DecodeSpec& spec, const Options& options);
  ~DecodeStream();
  DecodeStream(DecodeStream&&) noexcept;
  DecodeStream& operator=(DecodeStream&&) noexcept;

  /// Appends to `out` what is certain after this piece.
  void push(const DecodePiece& piece, std::string& out);
  /// Appends the rest. Nothing may be pushed after it.
  void finish(std::string& out);

 private:
  std::vector<std::unique_ptr<DecodeStage>> stages_;  ///< each sends to the next
  std::unique_ptr<std::string*> out_;                 ///< where the last one writes, set by each call
};

}  // namespace vitro
