// obj[start:stop:step] of texts, lists, tuples and ranges.
#include <algorithm>

#include "text/jinja/attributes.h"
#include "text/jinja/operators.h"
#include "text/jinja/py_chars.h"

namespace vitro::jinja {
namespace {

struct Span {
  int64_t start, step, count;
};

Result<int64_t> index_of(const Val& part, int64_t otherwise) {
  if (part.is_none() || part.is_missing()) return otherwise;
  if (part.is_integral()) return part.as_int();
  return raise("slice indices must be integers or None or have an __index__ method");
}

/// As PySlice_AdjustIndices.
Result<Span> span_of(const std::vector<Val>& parts, int64_t length) {
  VITRO_TRY_ASSIGN(const int64_t step, index_of(parts[2], 1));
  if (step == 0) return raise("slice step cannot be zero");
  const int64_t low = step < 0 ? -1 : 0;
  const int64_t high = step < 0 ? length - 1 : length;
  const auto adjust = [&](int64_t index) { return std::clamp(index < 0 ? index + length : index, low, high); };
  VITRO_TRY_ASSIGN(const int64_t start, index_of(parts[0], step < 0 ? INT64_MAX : 0));
  VITRO_TRY_ASSIGN(const int64_t stop, index_of(parts[1], step < 0 ? INT64_MIN : INT64_MAX));
  const bool is_open = parts[1].is_none() || parts[1].is_missing();
  const int64_t first = adjust(start);
  const int64_t last = is_open ? (step < 0 ? -1 : length) : adjust(stop);
  int64_t count = 0;
  if (step > 0 && first < last) count = (last - first - 1) / step + 1;
  if (step < 0 && last < first) count = (first - last - 1) / -(step + (step == INT64_MIN ? 1 : 0)) + 1;
  return Span{first, step, count};
}

/// Byte where each code point begins, and the end.
std::vector<size_t> char_starts(const std::string& text) {
  std::vector<size_t> out;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) out.push_back(i);
  }
  out.push_back(text.size());
  return out;
}

Result<Val> slice_string(Runtime& rt, const StringObject& string, const Span& span) {
  TextBuilder out(rt);
  if (span.step == 1) {
    if (!string.is_ascii()) rt.budget.read(string.marked.size());
    const size_t begin = string.byte_of(static_cast<size_t>(span.start));
    const size_t end = string.byte_of(static_cast<size_t>(span.start + span.count));
    out.append(string.marked, {begin, std::max(begin, end)});
    return out.finish(string.is_markup);
  }
  VITRO_TRY(rt.budget.check_room(string.n_chars * sizeof(size_t)));
  const std::vector<size_t> starts = char_starts(string.text());
  rt.budget.read(string.marked.size());
  VITRO_TRY(rt.budget.check());
  for (int64_t i = 0; i < span.count; ++i) {
    const auto at = static_cast<size_t>(span.start + i * span.step);
    out.append(string.marked, {starts[at], starts[at + 1]});
    rt.budget.step();
  }
  return out.finish(string.is_markup);
}

}  // namespace

Result<Val> get_slice(Runtime& rt, const Val& object, const std::vector<Val>& parts) {
  if (object.is(Kind::kUndefined)) return raise_undefined(object);
  if (!object.is_string() && !object.is_sequence() && !object.is(Kind::kRange)) {
    if (object.is(Kind::kDict)) return raise("unhashable type: 'slice'");
    return raise("'{}' object is not subscriptable", type_name(object));
  }
  VITRO_TRY_ASSIGN(const Span span, span_of(parts, *length_of(object)));
  if (object.is_string()) return slice_string(rt, object.as_string(), span);
  if (object.is(Kind::kRange)) {
    const RangeObject& range = object.as<RangeObject>();
    const int64_t start = range.start + span.start * range.step;
    const int64_t step = range.step * span.step;
    return rt.make<RangeObject>(Kind::kRange, start, start + span.count * step, step, span.count);
  }
  rt.budget.step(static_cast<size_t>(span.count) / 8);
  VITRO_TRY(rt.budget.check_room(static_cast<size_t>(span.count) * sizeof(Val)));
  std::vector<Val> out;
  out.reserve(static_cast<size_t>(span.count));
  for (int64_t i = 0; i < span.count; ++i)
    out.push_back(object.items()[static_cast<size_t>(span.start + i * span.step)]);
  return object.is(Kind::kList) ? rt.list(std::move(out)) : rt.tuple(std::move(out));
}

}  // namespace vitro::jinja
