// MarkedText: a text that knows which of its bytes came out of the request. Marks survive slicing and joining, so that
// after a rendering only bytes written by the template may become special tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/byte_range.h"

namespace vitro::jinja {

struct MarkedText {
  std::string text;
  std::vector<ByteRange> marks;  ///< ascending, not empty, not touching

  static MarkedText plain(std::string text) { return {std::move(text), {}}; }
  static MarkedText marked(std::string text);

  size_t size() const { return text.size(); }
  bool is_any_marked() const { return !marks.empty(); }
  /// The marks that fall into a part, relative to its start.
  std::vector<ByteRange> marks_of(ByteRange part) const;
  MarkedText slice(size_t begin, size_t end) const;

  void append(std::string_view piece, bool is_marked = false);
  void append(const MarkedText& piece) { append(piece, {0, piece.size()}); }
  void append(const MarkedText& source, ByteRange part);

 private:
  void add_mark(ByteRange mark);
};

}  // namespace vitro::jinja
