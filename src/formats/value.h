// Value: a JSON-like tree. config.json and GGUF metadata both become one, so that a model family reads its settings in
// one way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace vitro {

/// null, bool, integer, real, string, array or object. Objects keep the order of the file; keys are unique (readers
/// refuse twins).
class Value {
 public:
  using Array = std::vector<Value>;
  using Member = std::pair<std::string, Value>;
  using Object = std::vector<Member>;

  Value() = default;
  explicit Value(bool b) : data_(b) {}
  explicit Value(int64_t n) : data_(n) {}
  explicit Value(double x) : data_(x) {}
  explicit Value(std::string s) : data_(std::move(s)) {}
  explicit Value(Array a) : data_(std::move(a)) {}
  explicit Value(Object o) : data_(std::move(o)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  /// Pointers are null when the value is of another kind. Integers are int64 (a uint64 above 2^63-1 is kept as a real).
  const bool* as_bool() const { return std::get_if<bool>(&data_); }
  const int64_t* as_int() const { return std::get_if<int64_t>(&data_); }
  const double* as_real() const { return std::get_if<double>(&data_); }
  const std::string* as_string() const { return std::get_if<std::string>(&data_); }
  const Array* as_array() const { return std::get_if<Array>(&data_); }
  const Object* as_object() const { return std::get_if<Object>(&data_); }
  Object* as_object() { return std::get_if<Object>(&data_); }

  /// Member of an object by key; null if this is no object or has no such key.
  const Value* find(std::string_view key) const;
  /// "null", "bool", "integer", "real", "string", "array" or "object", for messages.
  std::string_view kind_name() const;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> data_;
};

/// Compact JSON of the value, cut to max_chars with "..." (for messages and tables).
std::string to_string(const Value& value, size_t max_chars = 200);

}  // namespace vitro
