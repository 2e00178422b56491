// ByteRange: a half-open range of bytes of a text. The one type for offsets everywhere in text/ and tokens/.
#pragma once

#include <cstddef>

namespace vitro {

/// Bytes [begin, end).
struct ByteRange {
  size_t begin = 0;
  size_t end = 0;
  size_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

}  // namespace vitro
