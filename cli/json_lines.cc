#include "cli/json_lines.h"

#include <fmt/format.h>

namespace vitro {

bool next_line(std::FILE* in, std::string& line) {
  line.clear();
  int c = 0;
  bool is_any = false;
  for (; (c = ::getc_unlocked(in)) != EOF && c != '\n'; is_any = true) {
    if (line.size() <= kMaxLineBytes) line += static_cast<char>(c);
  }
  return is_any || c == '\n';
}

std::string json_ids(const std::vector<TokenId>& ids) {
  return json_list(ids, [](TokenId id) { return std::to_string(id); });
}

std::string json_ranges(const std::vector<ByteRange>& ranges) {
  return json_list(ranges, [](const ByteRange& r) { return fmt::format("[{},{}]", r.begin, r.end); });
}

}  // namespace vitro
