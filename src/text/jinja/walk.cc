// Walking over values: what a for loop, a filter or an unpacking sees.
#include "text/jinja/operators.h"
#include "text/utf8.h"

namespace vitro::jinja {
namespace {

std::optional<Val> next_char(Runtime& rt, const StringObject& string, size_t& pos) {
  if (pos >= string.marked.size()) return std::nullopt;
  const auto n = static_cast<size_t>(decode_utf8(std::string_view(string.text()).substr(pos)).n_bytes);
  pos += n;
  return rt.string(string.marked.slice(pos - n, pos));
}

Result<std::optional<Val>> next_of_view(Runtime& rt, const ViewObject& view, size_t pos) {
  const std::vector<DictObject::Member>& members = view.dict.as_dict().members;
  if (pos >= members.size()) return std::nullopt;
  const DictObject::Member& member = members[pos];
  if (view.what == ViewObject::What::kKeys) return member.first;
  if (view.what == ViewObject::What::kValues) return member.second;
  VITRO_TRY_ASSIGN(Val pair, rt.tuple({member.first, member.second}));
  return pair;
}

Result<std::optional<Val>> next_of_iterator(IteratorObject& iterator) {
  if (iterator.next < iterator.values.size()) return std::move(iterator.values[iterator.next++]);
  if (iterator.error.empty()) return std::nullopt;
  return raise("{}", std::exchange(iterator.error, ""));
}

}  // namespace

Result<std::optional<Val>> Walker::next(Runtime& rt) {
  rt.budget.step();
  switch (source_.kind()) {
    case Kind::kString:
      return next_char(rt, source_.as_string(), pos_);
    case Kind::kList:
    case Kind::kTuple:
      if (pos_ >= source_.items().size()) return std::nullopt;
      return source_.items()[pos_++];
    case Kind::kDict:
      if (pos_ >= source_.as_dict().members.size()) return std::nullopt;
      return source_.as_dict().members[pos_++].first;
    case Kind::kRange: {
      const RangeObject& range = source_.as<RangeObject>();
      if (static_cast<int64_t>(pos_) >= range.count) return std::nullopt;
      return Val::integer(range.start + static_cast<int64_t>(pos_++) * range.step);
    }
    case Kind::kView:
      return next_of_view(rt, source_.as<ViewObject>(), pos_++);
    case Kind::kIterator:
      return next_of_iterator(source_.as<IteratorObject>());
    default:
      return std::nullopt;
  }
}

Result<Walker> make_walker(const Val& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kString:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kRange:
    case Kind::kView:
    case Kind::kIterator:
      return Walker(value);
    default:
      return raise("'{}' object is not iterable", type_name(value));
  }
}

Result<std::vector<Val>> values_of(Runtime& rt, const Val& value) {
  if (value.is_sequence()) return value.items();
  VITRO_TRY_ASSIGN(Walker walker, make_walker(value));
  std::vector<Val> out;
  for (;;) {
    VITRO_TRY_ASSIGN(std::optional<Val> item, walker.next(rt));
    if (!item) return out;
    out.push_back(std::move(*item));
    if (out.size() % 256 == 0) VITRO_TRY(rt.budget.check_room(out.size() * sizeof(Val)));
  }
}

}  // namespace vitro::jinja
