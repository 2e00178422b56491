// + - * / // % ** as Python has them. Integers are 64 bits wide; a result that does not fit is an error, not a wrong
// number.
#include <cmath>

#include "text/jinja/escape.h"
#include "text/jinja/format.h"
#include "text/jinja/operators.h"

namespace vitro::jinja {
namespace {

constexpr std::string_view kSymbols[] = {"+", "-", "*", "/", "//", "%", "**"};

tl::unexpected<Error> raise_overflow() {
  return fail(ErrorCode::kInvalidArgument, "integers of more than 64 bits are not supported");
}

tl::unexpected<Error> raise_operands(BinaryOp op, const Val& a, const Val& b) {
  if (a.is(Kind::kUndefined)) return raise_undefined(a);
  if (b.is(Kind::kUndefined)) return raise_undefined(b);
  if (op == BinaryOp::kAdd && (a.is_string() || a.is_sequence())) {
    const std::string_view type = type_name(a);
    return raise("can only concatenate {} (not \"{}\") to {}", type, type_name(b), type);
  }
  return raise("unsupported operand type(s) for {}{}: '{}' and '{}'", kSymbols[static_cast<size_t>(op)],
               op == BinaryOp::kPow ? " or pow()" : "", type_name(a), type_name(b));
}

int64_t floor_div(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return q - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

Result<Val> power_of_ints(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) return raise("0.0 cannot be raised to a negative power");
    return Val::real(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  int64_t result = 1;
  int64_t factor = base;
  for (int64_t rest = exponent; rest > 0; rest >>= 1) {
    if ((rest & 1) != 0 && __builtin_mul_overflow(result, factor, &result)) return raise_overflow();
    if (rest > 1 && __builtin_mul_overflow(factor, factor, &factor)) return raise_overflow();
  }
  return Val::integer(result);
}

Result<Val> on_ints(BinaryOp op, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (op) {
    case BinaryOp::kAdd:
      return __builtin_add_overflow(a, b, &out) ? Result<Val>(raise_overflow()) : Val::integer(out);
    case BinaryOp::kSub:
      return __builtin_sub_overflow(a, b, &out) ? Result<Val>(raise_overflow()) : Val::integer(out);
    case BinaryOp::kMul:
      return __builtin_mul_overflow(a, b, &out) ? Result<Val>(raise_overflow()) : Val::integer(out);
    case BinaryOp::kDiv:
      if (b == 0) return raise("division by zero");
      return Val::real(static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
    case BinaryOp::kFloorDiv:
      if (b == 0) return raise("integer division or modulo by zero");
      if (a == INT64_MIN && b == -1) return raise_overflow();
      return Val::integer(floor_div(a, b));
    case BinaryOp::kMod:
      if (b == 0) return raise("integer modulo by zero");
      if (b == -1) return Val::integer(0);
      return Val::integer(a - floor_div(a, b) * b);
    case BinaryOp::kPow:
      return power_of_ints(a, b);
  }
  return raise_overflow();
}

/// Python's float_divmod: the remainder has the sign of the divisor.
double float_mod(double a, double b) {
  const double mod = std::fmod(a, b);
  if (mod == 0) return std::copysign(0.0, b);
  return (b < 0) != (mod < 0) ? mod + b : mod;
}

double float_floor_div(double a, double b) {
  const double div = (a - float_mod(a, b)) / b;
  if (div == 0) return std::copysign(0.0, a / b);
  const double floored = std::floor(div);
  return div - floored > 0.5 ? floored + 1.0 : floored;
}

Result<Val> on_floats(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return Val::real(a + b);
    case BinaryOp::kSub:
      return Val::real(a - b);
    case BinaryOp::kMul:
      return Val::real(a * b);
    case BinaryOp::kDiv:
      if (b == 0) return raise("float division by zero");
      return Val::real(a / b);
    case BinaryOp::kFloorDiv:
      if (b == 0) return raise("float floor division by zero");
      return Val::real(float_floor_div(a, b));
    case BinaryOp::kMod:
      if (b == 0) return raise("float modulo");
      return Val::real(float_mod(a, b));
    case BinaryOp::kPow:
      break;
  }
  if (a == 0 && b < 0) return raise("0.0 cannot be raised to a negative power");
  if (a < 0 && std::isfinite(b) && b != std::floor(b)) return raise("complex numbers are not supported");
  const double power = std::pow(a, b);
  if (std::isinf(power) && std::isfinite(a) && std::isfinite(b)) return raise("(34, 'Numerical result out of range')");
  return Val::real(power);
}

Result<Val> add_strings(Runtime& rt, const StringObject& a, const StringObject& b) {
  const bool is_markup = a.is_markup || b.is_markup;
  TextBuilder out(rt);
  for (const StringObject* side : {&a, &b}) {
    if (is_markup && !side->is_markup) {
      append_escaped(out, side->marked);
    } else {
      out.append(side->marked);
    }
  }
  return out.finish(is_markup);
}

Result<Val> add_sequences(Runtime& rt, const Val& a, const Val& b) {
  VITRO_TRY(rt.budget.check_room((a.items().size() + b.items().size()) * sizeof(Val)));
  rt.budget.step((a.items().size() + b.items().size()) / 8);
  std::vector<Val> values;
  values.reserve(a.items().size() + b.items().size());
  values.insert(values.end(), a.items().begin(), a.items().end());
  values.insert(values.end(), b.items().begin(), b.items().end());
  return a.is(Kind::kList) ? rt.list(std::move(values)) : rt.tuple(std::move(values));
}

Result<Val> repeat(Runtime& rt, const Val& what, int64_t n) {
  const size_t n_times = n > 0 ? static_cast<size_t>(n) : 0;
  if (what.is_string()) {
    const MarkedText& text = what.as_string().marked;
    size_t n_bytes = 0;
    if (__builtin_mul_overflow(text.size(), n_times, &n_bytes)) n_bytes = SIZE_MAX;
    VITRO_TRY(rt.budget.check_room(n_bytes));
    TextBuilder out(rt);
    for (size_t i = 0; i < n_times && !text.text.empty(); ++i) out.append(text);
    return out.finish(what.as_string().is_markup);
  }
  const std::vector<Val>& items = what.items();
  std::vector<Val> values;
  for (size_t i = 0; i < n_times && !items.empty(); ++i) {
    rt.budget.step(1 + items.size() / 8);
    VITRO_TRY(rt.budget.check_room((values.size() + items.size()) * 2 * sizeof(Val)));
    values.insert(values.end(), items.begin(), items.end());
  }
  return what.is(Kind::kList) ? rt.list(std::move(values)) : rt.tuple(std::move(values));
}

bool is_repeatable(const Val& value) { return value.is_string() || value.is_sequence(); }

}  // namespace

Result<Val> binary(Runtime& rt, BinaryOp op, const Val& a, const Val& b) {
  if (a.is_integral() && b.is_integral()) return on_ints(op, a.as_int(), b.as_int());
  if (a.is_number() && b.is_number()) return on_floats(op, a.as_real(), b.as_real());
  if (op == BinaryOp::kMod && a.is_string()) return format_percent(rt, a.as_string(), b);
  if (op == BinaryOp::kAdd) {
    if (a.is_string() && b.is_string()) return add_strings(rt, a.as_string(), b.as_string());
    if (a.is_sequence() && a.kind() == b.kind()) return add_sequences(rt, a, b);
  }
  if (op == BinaryOp::kMul) {
    if (is_repeatable(a) && b.is_integral()) return repeat(rt, a, b.as_int());
    if (is_repeatable(b) && a.is_integral()) return repeat(rt, b, a.as_int());
    if (is_repeatable(a) && !b.is(Kind::kUndefined)) {
      return raise("can't multiply sequence by non-int of type '{}'", type_name(b));
    }
  }
  return raise_operands(op, a, b);
}

Result<Val> negate(Runtime& rt, const Val& value) {
  if (value.is_integral()) return binary(rt, BinaryOp::kSub, Val::integer(0), value);
  if (value.is(Kind::kFloat)) return Val::real(-value.as_real());
  if (value.is(Kind::kUndefined)) return raise_undefined(value);
  return raise("bad operand type for unary -: '{}'", type_name(value));
}

Result<Val> plus(const Val& value) {
  if (value.is_integral()) return Val::integer(value.as_int());
  if (value.is(Kind::kFloat)) return value;
  if (value.is(Kind::kUndefined)) return raise_undefined(value);
  return raise("bad operand type for unary +: '{}'", type_name(value));
}

}  // namespace vitro::jinja
