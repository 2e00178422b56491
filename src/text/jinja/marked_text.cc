#include "text/jinja/marked_text.h"

#include <algorithm>

namespace vitro::jinja {

MarkedText MarkedText::marked(std::string text) {
  MarkedText out{std::move(text), {}};
  if (!out.text.empty()) out.marks.push_back({0, out.text.size()});
  return out;
}

std::vector<ByteRange> MarkedText::marks_of(ByteRange part) const {
  std::vector<ByteRange> out;
  if (part.empty()) return out;
  auto it = std::partition_point(marks.begin(), marks.end(), [&](const ByteRange& m) { return m.end <= part.begin; });
  for (; it != marks.end() && it->begin < part.end; ++it) {
    out.push_back({std::max(it->begin, part.begin) - part.begin, std::min(it->end, part.end) - part.begin});
  }
  return out;
}

MarkedText MarkedText::slice(size_t begin, size_t end) const {
  MarkedText out;
  out.append(*this, {begin, end});
  return out;
}

void MarkedText::append(std::string_view piece, bool is_marked) {
  if (is_marked && !piece.empty()) add_mark({text.size(), text.size() + piece.size()});
  text += piece;
}

void MarkedText::append(const MarkedText& source, ByteRange part) {
  for (const ByteRange& mark : source.marks_of(part)) add_mark({text.size() + mark.begin, text.size() + mark.end});
  text.append(source.text, part.begin, part.size());
}

void MarkedText::add_mark(ByteRange mark) {
  if (!marks.empty() && marks.back().end == mark.begin) {
    marks.back().end = mark.end;
  } else {
    marks.push_back(mark);
  }
}

}  // namespace vitro::jinja
