// AlignedText: a text on its way through normalisation that remembers, byte by byte, which bytes of the original it
// stands for. Offsets of tokens come from here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/byte_range.h"

namespace vitro {

/// Valid UTF-8 with an origin for each byte. As long as nothing was changed it only views the original, which must
/// outlive it.
class AlignedText {
 public:
  AlignedText() = default;
  /// `original` with U+FFFD for each broken part. At most 4 GiB.
  static AlignedText from(std::string_view original);

  std::string_view text() const { return is_view_ ? view_ : std::string_view(owned_); }
  /// Bytes of the original that [begin, end) stands for, whole characters always. An empty range gives an empty one.
  ByteRange origin(ByteRange range) const;
  /// The same text cut to a range that starts and ends at characters.
  AlignedText slice(ByteRange range) const;

  /// Appends a copy of `range` of `source`, origins included. Only on texts that were built by appending.
  void append(const AlignedText& source, ByteRange range);
  /// Appends new text that stands for `origin_range` of the original as a whole.
  void append(std::string_view text, ByteRange origin_range);

 private:
  struct Span {
    uint32_t begin;
    uint32_t end;
  };
  Span span_of(size_t pos) const;

  // A view: bytes of the original from view_offset_ on. Otherwise: own bytes, and one span for each of them.
  bool is_view_ = false;
  std::string_view view_;
  size_t view_offset_ = 0;
  std::string owned_;
  std::vector<Span> spans_;
};

}  // namespace vitro
