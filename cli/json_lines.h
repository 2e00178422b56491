// JSON lines in and JSON lists out: what `tokenize` and `template` share.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "text/byte_range.h"
#include "tokens/tokenizer.h"

namespace vitro {

inline constexpr size_t kMaxLineBytes = size_t{64} << 20;

/// The next line without its end; of one that is too long, kMaxLineBytes + 1 bytes, and the rest is skipped. False at
/// the end of the file.
bool next_line(std::FILE* in, std::string& line);

/// [write(item),...]
template <class Items, class Write>
std::string json_list(const Items& items, Write&& write) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ',';
    out += write(item);
  }
  return out + "]";
}

/// [1,2]
std::string json_ids(const std::vector<TokenId>& ids);
/// [[0,3],[3,5]]
std::string json_ranges(const std::vector<ByteRange>& ranges);

}  // namespace vitro
