// WholeDecode: decoding all ids at once for the two usual lists of steps, byte level and SentencePiece's marks with
// byte fallback, without a chain of stages. Gives what DecodeStream gives (whole_decode_test.cc).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tokens/decoder.h"

namespace vitro {

class WholeDecode {
 public:
  /// Nothing if the steps are others.
  static std::optional<WholeDecode> make(const DecodeSpec& spec);

  /// One text. Pieces are appended in order; take() ends it.
  class Text {
   public:
    Text(const WholeDecode& rules, size_t n_ids) : rules_(rules) { out_.reserve(4 * n_ids); }
    void push(const DecodePiece& piece) { rules_.is_byte_level_ ? push_byte_level(piece) : push_marked(piece); }
    std::string take();

   private:
    void push_byte_level(const DecodePiece& piece);
    void push_marked(const DecodePiece& piece);
    std::string_view replace_marks(std::string_view text);
    void end_run();
    const WholeDecode& rules_;
    std::string out_;
    std::string run_;  ///< bytes of byte tokens
    std::string replaced_;
  };

 private:
  bool is_byte_level_ = false;
  std::array<int16_t, 0x200> bytes_{};  ///< byte level: by character; -1: none
  ReplaceDecode mark_;
  StripDecode strip_;
};

}  // namespace vitro
