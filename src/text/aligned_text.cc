// Views stay views until something is appended; only changed texts pay eight bytes for each byte.
#include "text/aligned_text.h"

#include <algorithm>

#include "text/utf8.h"

namespace vitro {

AlignedText AlignedText::from(std::string_view original) {
  AlignedText out;
  if (is_valid_utf8(original)) {
    out.is_view_ = true;
    out.view_ = original;
    return out;
  }
  for (size_t pos = 0; pos < original.size();) {
    const CodePoint point = decode_utf8(original.substr(pos));
    const ByteRange range{pos, pos + static_cast<size_t>(point.n_bytes)};
    out.append(point.is_valid ? original.substr(pos, range.size()) : std::string_view("\xEF\xBF\xBD"), range);
    pos = range.end;
  }
  return out;
}

AlignedText::Span AlignedText::span_of(size_t pos) const {
  if (!is_view_) return spans_[pos];
  const auto is_inside = [&](size_t idx) {
    return idx < view_.size() && (static_cast<uint8_t>(view_[idx]) & 0xC0U) == 0x80;
  };
  size_t begin = pos;
  while (begin > 0 && is_inside(begin)) --begin;
  size_t end = pos + 1;
  while (is_inside(end)) ++end;
  return {static_cast<uint32_t>(view_offset_ + begin), static_cast<uint32_t>(view_offset_ + end)};
}

ByteRange AlignedText::origin(ByteRange range) const {
  if (!range.empty()) return {span_of(range.begin).begin, span_of(range.end - 1).end};
  const size_t at = range.begin < text().size() ? span_of(range.begin).begin
                    : range.begin > 0           ? span_of(range.begin - 1).end
                                                : view_offset_;
  return {at, at};
}

AlignedText AlignedText::slice(ByteRange range) const {
  AlignedText out;
  if (is_view_) {
    out.is_view_ = true;
    out.view_ = view_.substr(range.begin, range.size());
    out.view_offset_ = view_offset_ + range.begin;
  } else {
    out.append(*this, range);
  }
  return out;
}

void AlignedText::append(const AlignedText& source, ByteRange range) {
  owned_.append(source.text().substr(range.begin, range.size()));
  if (!source.is_view_) {
    spans_.insert(spans_.end(), source.spans_.begin() + static_cast<std::ptrdiff_t>(range.begin),
                  source.spans_.begin() + static_cast<std::ptrdiff_t>(range.end));
    return;
  }
  size_t filled = spans_.size();
  spans_.resize(filled + range.size());
  for (size_t pos = range.begin; pos < range.end;) {
    const Span span = source.span_of(pos);
    const size_t end = std::min(span.end - source.view_offset_, range.end);
    for (; pos < end; ++pos) spans_[filled++] = span;
  }
}

void AlignedText::append(std::string_view text, ByteRange origin_range) {
  owned_.append(text);
  spans_.insert(spans_.end(), text.size(),
                {static_cast<uint32_t>(origin_range.begin), static_cast<uint32_t>(origin_range.end)});
}

}  // namespace vitro
