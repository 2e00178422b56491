#include "text/jinja/operators.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "text/jinja/print.h"

namespace vitro::jinja {
namespace {

bool equal_sequences(Runtime& rt, const std::vector<Val>& a, const std::vector<Val>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!is_same(a[i], b[i]) && !equals(rt, a[i], b[i])) return false;
  }
  return true;
}

bool equal_dicts(Runtime& rt, const DictObject& a, const DictObject& b) {
  if (a.members.size() != b.members.size()) return false;
  for (const DictObject::Member& member : a.members) {
    const Val* other = find_member(rt, b, member.first);
    if (other == nullptr || (!is_same(member.second, *other) && !equals(rt, member.second, *other))) return false;
  }
  return true;
}

bool equal_ranges(const RangeObject& a, const RangeObject& b) {
  if (a.count != b.count) return false;
  return a.count == 0 || (a.start == b.start && (a.count == 1 || a.step == b.step));
}

/// Exactly: a long double holds every int64 and every double.
int compare_numbers(const Val& a, const Val& b) {
  if (a.is_integral() && b.is_integral()) return (a.as_int() > b.as_int()) - (a.as_int() < b.as_int());
  const auto wide = [](const Val& v) {
    return v.is(Kind::kFloat) ? static_cast<long double>(v.as_real()) : static_cast<long double>(v.as_int());
  };
  if (std::isnan(wide(a)) || std::isnan(wide(b))) return 2;
  return (wide(a) > wide(b)) - (wide(a) < wide(b));
}

Result<bool> less_sequences(Runtime& rt, const Val& a, const Val& b, std::string_view symbol) {
  const std::vector<Val>& x = a.items();
  const std::vector<Val>& y = b.items();
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (is_same(x[i], y[i]) || equals(rt, x[i], y[i])) continue;
    VITRO_TRY(rt.budget.check());
    return less(rt, x[i], y[i], symbol);
  }
  const bool is_or_equal = symbol == "<=" || symbol == ">=";
  return x.size() == y.size() ? is_or_equal : x.size() < y.size();
}

Result<bool> contains_text(Runtime& rt, const std::string& text, const Val& item) {
  if (!item.is_string()) {
    if (item.is(Kind::kUndefined)) return raise("'in <string>' requires string as left operand, not Undefined");
    return raise("'in <string>' requires string as left operand, not {}", type_name(item));
  }
  rt.budget.read(text.size());
  const std::string& needle = item.as_string().text();
  return needle.empty() || ::memmem(text.data(), text.size(), needle.data(), needle.size()) != nullptr;
}

}  // namespace

tl::unexpected<Error> raise_undefined(const Val& undefined) {
  return fail(ErrorCode::kInvalidArgument, "{}", undefined.as<UndefinedObject>().message);
}

bool is_true(const Val& value) {
  switch (value.kind()) {
    case Kind::kMissing:
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInt:
      return value.as_int() != 0;
    case Kind::kFloat:
      return value.as_real() != 0;
    case Kind::kString:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kRange:
    case Kind::kView:
      return *length_of(value) != 0;
    default:
      return true;
  }
}

bool is_same(const Val& a, const Val& b) {
  if (a.kind() != b.kind()) return false;
  if (a.object() != nullptr || b.object() != nullptr) return a.object() == b.object();
  if (a.is(Kind::kFloat)) return a.as_real() == b.as_real();
  return a.as_int() == b.as_int();
}

bool equals(Runtime& rt, const Val& a, const Val& b) {
  rt.budget.step();
  if (rt.budget.is_spent()) return false;
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kMissing:
    case Kind::kUndefined:
    case Kind::kNone:
      return true;
    case Kind::kString:
      rt.budget.copy(a.as_string().marked.size());
      return a.as_string().text() == b.as_string().text();
    case Kind::kList:
    case Kind::kTuple:
      return equal_sequences(rt, a.items(), b.items());
    case Kind::kDict:
      return equal_dicts(rt, a.as_dict(), b.as_dict());
    case Kind::kRange:
      return equal_ranges(a.as<RangeObject>(), b.as<RangeObject>());
    case Kind::kMethod:
      return a.as<MethodObject>().name == b.as<MethodObject>().name &&
             is_same(a.as<MethodObject>().self, b.as<MethodObject>().self);
    default:
      return a.object() == b.object();
  }
}

Result<bool> less(Runtime& rt, const Val& a, const Val& b, std::string_view symbol) {
  rt.budget.step();
  const bool is_or_equal = symbol == "<=" || symbol == ">=";
  if (a.is_number() && b.is_number()) {
    const int order = compare_numbers(a, b);
    return order < 0 || (is_or_equal && order == 0);
  }
  if (a.is(Kind::kUndefined)) return raise_undefined(a);
  if (b.is(Kind::kUndefined)) return raise_undefined(b);
  if (a.is_string() && b.is_string()) {
    rt.budget.copy(std::min(a.as_string().marked.size(), b.as_string().marked.size()));
    const int order = a.as_string().text().compare(b.as_string().text());
    return order < 0 || (is_or_equal && order == 0);
  }
  if (a.is_sequence() && a.kind() == b.kind()) return less_sequences(rt, a, b, symbol);
  const bool is_swapped = symbol[0] == '>';
  return raise("'{}' not supported between instances of '{}' and '{}'", symbol, type_name(is_swapped ? b : a),
               type_name(is_swapped ? a : b));
}

Result<bool> compare(Runtime& rt, CompareOp op, const Val& a, const Val& b) {
  switch (op) {
    case CompareOp::kEq:
      return equals(rt, a, b);
    case CompareOp::kNe:
      return !equals(rt, a, b);
    case CompareOp::kLt:
      return less(rt, a, b, "<");
    case CompareOp::kLe:
      return less(rt, a, b, "<=");
    case CompareOp::kGt:
      return less(rt, b, a, ">");
    case CompareOp::kGe:
      return less(rt, b, a, ">=");
    case CompareOp::kIn:
      return contains(rt, b, a);
    case CompareOp::kNotIn: {
      VITRO_TRY_ASSIGN(const bool is_in, contains(rt, b, a));
      return !is_in;
    }
  }
  return false;
}

Result<bool> contains(Runtime& rt, const Val& container, const Val& item) {
  if (container.is_string()) return contains_text(rt, container.as_string().text(), item);
  if (container.is(Kind::kDict)) {
    VITRO_TRY(hash_of(rt, item));
    return find_member(rt, container.as_dict(), item) != nullptr;
  }
  if (container.is(Kind::kRange) && item.is_integral()) {
    const RangeObject& range = container.as<RangeObject>();
    const Int128 off = static_cast<Int128>(item.as_int()) - range.start;
    return off % range.step == 0 && off / range.step >= 0 && off / range.step < range.count;
  }
  Result<Walker> walker = make_walker(container);
  if (!walker) return raise("argument of type '{}' is not iterable", type_name(container));
  for (;;) {
    VITRO_TRY_ASSIGN(const std::optional<Val> value, walker->next(rt));
    if (!value) return false;
    if (is_same(*value, item) || equals(rt, *value, item)) return true;
    VITRO_TRY(rt.budget.check());
  }
}

uint64_t hash_of_text(std::string_view text) { return std::hash<std::string_view>()(text); }

Result<uint64_t> hash_of(Runtime& rt, const Val& key) {
  rt.budget.step();
  switch (key.kind()) {
    case Kind::kString:
      rt.budget.read(key.as_string().marked.size());
      return hash_of_text(key.as_string().text());
    case Kind::kFloat:
      if (key.as_real() == std::floor(key.as_real()) && std::fabs(key.as_real()) < 9e18) {
        return std::hash<int64_t>()(static_cast<int64_t>(key.as_real()));
      }
      return std::hash<double>()(key.as_real());
    case Kind::kBool:
    case Kind::kInt:
      return std::hash<int64_t>()(key.as_int());
    case Kind::kTuple: {
      uint64_t hash = 0x345678;
      for (const Val& item : key.items()) {
        VITRO_TRY(rt.budget.check());
        VITRO_TRY_ASSIGN(const uint64_t part, hash_of(rt, item));
        hash = (hash ^ part) * 1000003U;
      }
      return hash;
    }
    case Kind::kList:
    case Kind::kDict:
      return raise("unhashable type: '{}'", type_name(key));
    case Kind::kUndefined:
      return 1;
    case Kind::kRange:
      return static_cast<uint64_t>(key.as<RangeObject>().count);
    default:
      return std::hash<const void*>()(key.object());
  }
}

Result<int64_t> length_of(const Val& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kString:
      return static_cast<int64_t>(value.as_string().n_chars);
    case Kind::kList:
    case Kind::kTuple:
      return static_cast<int64_t>(value.items().size());
    case Kind::kDict:
      return static_cast<int64_t>(value.as_dict().members.size());
    case Kind::kRange:
      return value.as<RangeObject>().count;
    case Kind::kView:
      return static_cast<int64_t>(value.as<ViewObject>().dict.as_dict().members.size());
    default:
      return raise("object of type '{}' has no len()", type_name(value));
  }
}

}  // namespace vitro::jinja
