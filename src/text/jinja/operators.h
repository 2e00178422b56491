// Python's operators on values: truth, equality, order, arithmetic, membership, iteration.
#pragma once

#include <optional>

#include "text/jinja/runtime.h"

namespace vitro::jinja {

__extension__ using Int128 = __int128;

enum class BinaryOp : uint8_t { kAdd, kSub, kMul, kDiv, kFloorDiv, kMod, kPow };
enum class CompareOp : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kIn, kNotIn };

bool is_true(const Val& value);
/// Python's ==. Stops early (false) when the budget is spent; the interpreter then raises.
bool equals(Runtime& rt, const Val& a, const Val& b);
/// Python's `is`.
bool is_same(const Val& a, const Val& b);
/// Python's a < b; InvalidArgument where Python raises TypeError. `symbol` is what the message names.
Result<bool> less(Runtime& rt, const Val& a, const Val& b, std::string_view symbol = "<");
Result<bool> compare(Runtime& rt, CompareOp op, const Val& a, const Val& b);
Result<bool> contains(Runtime& rt, const Val& container, const Val& item);

Result<Val> binary(Runtime& rt, BinaryOp op, const Val& a, const Val& b);
Result<Val> negate(Runtime& rt, const Val& value);
Result<Val> plus(const Val& value);

uint64_t hash_of_text(std::string_view text);
Result<uint64_t> hash_of(Runtime& rt, const Val& key);

/// len(); InvalidArgument where there is none.
Result<int64_t> length_of(const Val& value);

/// Walks any iterable value by value. Take it by make_walker.
class Walker {
 public:
  explicit Walker(Val source) : source_(std::move(source)) {}
  /// The next value; nothing at the end; an error where the values raise one.
  Result<std::optional<Val>> next(Runtime& rt);

 private:
  Val source_;
  size_t pos_ = 0;
};
/// InvalidArgument: "'int' object is not iterable".
Result<Walker> make_walker(const Val& value);
/// All values of an iterable.
Result<std::vector<Val>> values_of(Runtime& rt, const Val& value);

/// The error of using an undefined value, or of an attribute that is unsafe.
tl::unexpected<Error> raise_undefined(const Val& undefined);

}  // namespace vitro::jinja
