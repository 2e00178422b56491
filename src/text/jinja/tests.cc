// The tests of jinja2: `value is name`.
#include <algorithm>

#include "text/jinja/filters.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/text_tools.h"

namespace vitro::jinja {
namespace {

using Args = const std::vector<Val>&;

Result<int64_t> remainder_of(Runtime& rt, const Val& value, const Val& divisor, bool& is_zero) {
  VITRO_TRY_ASSIGN(const Val rest, binary(rt, BinaryOp::kMod, value, divisor));
  is_zero = rest.is_number() && rest.as_real() == 0;
  return rest.is_number() && rest.as_real() == 1 ? 1 : 0;
}

Result<bool> is_odd(Runtime& rt, const Val& value, Args) {
  bool is_zero = false;
  VITRO_TRY_ASSIGN(const int64_t rest, remainder_of(rt, value, Val::integer(2), is_zero));
  return rest == 1;
}
Result<bool> is_even(Runtime& rt, const Val& value, Args) {
  bool is_zero = false;
  VITRO_TRY(remainder_of(rt, value, Val::integer(2), is_zero));
  return is_zero;
}
Result<bool> is_divisible(Runtime& rt, const Val& value, Args args) {
  bool is_zero = false;
  VITRO_TRY(remainder_of(rt, value, args[0], is_zero));
  return is_zero;
}
Result<bool> is_defined(Runtime&, const Val& value, Args) { return !value.is(Kind::kUndefined); }
Result<bool> is_undefined(Runtime&, const Val& value, Args) { return value.is(Kind::kUndefined); }
Result<bool> is_filter(Runtime& rt, const Val& value, Args) {
  VITRO_TRY(hash_of(rt, value));
  return value.is_string() && find_filter(value.as_string().text()) != nullptr;
}
Result<bool> is_test(Runtime& rt, const Val& value, Args) {
  VITRO_TRY(hash_of(rt, value));
  return value.is_string() && find_test(value.as_string().text()) != nullptr;
}
Result<bool> is_none(Runtime&, const Val& value, Args) { return value.is_none(); }
Result<bool> is_boolean(Runtime&, const Val& value, Args) { return value.is(Kind::kBool); }
Result<bool> is_false(Runtime&, const Val& value, Args) { return value.is(Kind::kBool) && !value.as_bool(); }
Result<bool> is_true_value(Runtime&, const Val& value, Args) { return value.is(Kind::kBool) && value.as_bool(); }
Result<bool> is_integer(Runtime&, const Val& value, Args) { return value.is(Kind::kInt); }
Result<bool> is_float(Runtime&, const Val& value, Args) { return value.is(Kind::kFloat); }
Result<bool> is_number(Runtime&, const Val& value, Args) { return value.is_number(); }
Result<bool> is_string(Runtime&, const Val& value, Args) { return value.is_string(); }
Result<bool> is_mapping(Runtime&, const Val& value, Args) { return value.is(Kind::kDict); }
Result<bool> is_lower(Runtime& rt, const Val& value, Args) {
  VITRO_TRY_ASSIGN(const MarkedText text, text_of(rt, value));
  rt.budget.read(text.size());
  return is_lower_text(text.text);
}
Result<bool> is_upper(Runtime& rt, const Val& value, Args) {
  VITRO_TRY_ASSIGN(const MarkedText text, text_of(rt, value));
  rt.budget.read(text.size());
  return is_upper_text(text.text);
}
Result<bool> is_sequence(Runtime&, const Val& value, Args) {
  const bool has_no_items = value.is(Kind::kView);
  return !has_no_items && (value.is(Kind::kUndefined) || length_of(value).has_value());
}
Result<bool> is_iterable(Runtime&, const Val& value, Args) {
  return value.is(Kind::kLoop) || make_walker(value).has_value();
}
Result<bool> is_callable(Runtime&, const Val& value, Args) {
  switch (value.kind()) {
    case Kind::kMacro:
    case Kind::kFunction:
    case Kind::kMethod:
    case Kind::kJoiner:
    case Kind::kLoop:
    case Kind::kUndefined:
      return true;
    default:
      return false;
  }
}
Result<bool> is_same_as(Runtime&, const Val& value, Args args) { return is_same(value, args[0]); }
Result<bool> is_escaped(Runtime&, const Val& value, Args) { return value.is_string() && value.as_string().is_markup; }

template <CompareOp op>
Result<bool> compares(Runtime& rt, const Val& value, Args args) {
  return compare(rt, op, value, args[0]);
}

constexpr TestEntry kTests[] = {
    {"odd", "", is_odd},
    {"even", "", is_even},
    {"divisibleby", "num", is_divisible},
    {"defined", "", is_defined},
    {"undefined", "", is_undefined},
    {"filter", "", is_filter},
    {"test", "", is_test},
    {"none", "", is_none},
    {"boolean", "", is_boolean},
    {"false", "", is_false},
    {"true", "", is_true_value},
    {"integer", "", is_integer},
    {"float", "", is_float},
    {"lower", "", is_lower},
    {"upper", "", is_upper},
    {"string", "", is_string},
    {"mapping", "", is_mapping},
    {"number", "", is_number},
    {"sequence", "", is_sequence},
    {"iterable", "", is_iterable},
    {"callable", "", is_callable},
    {"sameas", "other", is_same_as},
    {"escaped", "", is_escaped},
    {"in", "seq", compares<CompareOp::kIn>},
    {"==", "/ other", compares<CompareOp::kEq>},
    {"eq", "/ other", compares<CompareOp::kEq>},
    {"equalto", "/ other", compares<CompareOp::kEq>},
    {"!=", "/ other", compares<CompareOp::kNe>},
    {"ne", "/ other", compares<CompareOp::kNe>},
    {">", "/ other", compares<CompareOp::kGt>},
    {"gt", "/ other", compares<CompareOp::kGt>},
    {"greaterthan", "/ other", compares<CompareOp::kGt>},
    {"ge", "/ other", compares<CompareOp::kGe>},
    {">=", "/ other", compares<CompareOp::kGe>},
    {"<", "/ other", compares<CompareOp::kLt>},
    {"lt", "/ other", compares<CompareOp::kLt>},
    {"lessthan", "/ other", compares<CompareOp::kLt>},
    {"<=", "/ other", compares<CompareOp::kLe>},
    {"le", "/ other", compares<CompareOp::kLe>},
};

}  // namespace

const TestEntry* find_test(std::string_view name) {
  const auto it =
      std::find_if(std::begin(kTests), std::end(kTests), [&](const TestEntry& t) { return t.name == name; });
  return it == std::end(kTests) ? nullptr : &*it;
}

}  // namespace vitro::jinja
