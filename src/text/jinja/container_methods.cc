// Methods of lists, tuples, dicts, floats and cyclers that change nothing; the others the sandbox refuses.
#include <cmath>

#include "text/jinja/attributes.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"

namespace vitro::jinja {
namespace {

using Args = const std::vector<Val>&;

Result<Val> count(Runtime& rt, const Val& self, Args args) {
  VITRO_TRY_ASSIGN(const std::vector<Val> items, values_of(rt, self));
  int64_t n = 0;
  for (const Val& item : items) n += is_same(item, args[0]) || equals(rt, item, args[0]) ? 1 : 0;
  return Val::integer(n);
}

Result<Val> index(Runtime& rt, const Val& self, Args args) {
  VITRO_TRY_ASSIGN(const std::vector<Val> items, values_of(rt, self));
  const auto n = static_cast<int64_t>(items.size());
  VITRO_TRY_ASSIGN(int64_t start, int_argument(args[1], 0));
  VITRO_TRY_ASSIGN(int64_t stop, int_argument(args[2], n));
  if (start < 0) start = std::max<int64_t>(start + n, 0);
  if (stop < 0) stop += n;
  for (int64_t i = start; i < std::min(stop, n); ++i) {
    const Val& item = items[static_cast<size_t>(i)];
    if (is_same(item, args[0]) || equals(rt, item, args[0])) return Val::integer(i);
  }
  if (self.is(Kind::kTuple)) return raise("tuple.index(x): x not in tuple");
  return raise("{} is not in {}", repr_text(rt, args[0], 200), type_name(self));
}

Result<Val> copy(Runtime&, const Val& self, Args) { return self; }

Result<Val> get(Runtime& rt, const Val& self, Args args) {
  VITRO_TRY(hash_of(rt, args[0]));
  const Val* found = find_member(rt, self.as_dict(), args[0]);
  if (found != nullptr) return *found;
  return args[1].is_missing() ? Val::none() : args[1];
}

Result<Val> keys(Runtime& rt, const Val& self, Args) {
  return rt.make<ViewObject>(Kind::kView, self, ViewObject::What::kKeys);
}
Result<Val> values(Runtime& rt, const Val& self, Args) {
  return rt.make<ViewObject>(Kind::kView, self, ViewObject::What::kValues);
}
Result<Val> items(Runtime& rt, const Val& self, Args) {
  return rt.make<ViewObject>(Kind::kView, self, ViewObject::What::kItems);
}

Result<Val> from_keys(Runtime& rt, const Val&, Args args) {
  VITRO_TRY_ASSIGN(const std::vector<Val> names, values_of(rt, args[0]));
  DictBuilder out(rt);
  for (const Val& name : names) VITRO_TRY(out.set(name, args[1].is_missing() ? Val::none() : args[1]));
  return out.finish();
}

Result<Val> is_integer(Runtime&, const Val& self, Args) {
  return Val::boolean(std::isfinite(self.as_real()) && self.as_real() == std::floor(self.as_real()));
}

Result<Val> next(Runtime&, const Val& self, Args) {
  CyclerObject& cycler = self.as<CyclerObject>();
  Val value = cycler.values[cycler.pos];
  cycler.pos = (cycler.pos + 1) % cycler.values.size();
  return value;
}

Result<Val> reset(Runtime&, const Val& self, Args) {
  self.as<CyclerObject>().pos = 0;
  return Val::none();
}

constexpr MethodEntry kListMethods[] = {
    {"count", "/ value", count}, {"index", "/ value start? stop?", index}, {"copy", "/", copy}};
constexpr MethodEntry kDictMethods[] = {
    {"get", "/ key default?", get}, {"keys", "/", keys}, {"values", "/", values},
    {"items", "/", items},          {"copy", "/", copy}, {"fromkeys", "/ iterable value?", from_keys}};
constexpr MethodEntry kFloatMethods[] = {{"is_integer", "/", is_integer}};
constexpr MethodEntry kCyclerMethods[] = {{"next", "/", next}, {"reset", "/", reset}};

}  // namespace

std::span<const MethodEntry> container_methods(Kind kind) {
  switch (kind) {
    case Kind::kList:
      return kListMethods;
    case Kind::kTuple:
    case Kind::kRange:
      return std::span(kListMethods).first(2);
    case Kind::kDict:
      return kDictMethods;
    case Kind::kFloat:
      return kFloatMethods;
    case Kind::kCycler:
      return kCyclerMethods;
    default:
      return {};
  }
}

}  // namespace vitro::jinja
