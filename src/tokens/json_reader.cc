// Typed look-ups with messages that say where in the file something is wrong.
#include "tokens/json_reader.h"

#include <algorithm>

namespace vitro {

Result<JsonReader> JsonReader::open(const Value& value, std::string where) {
  if (value.as_object() == nullptr) {
    return fail(ErrorCode::kCorrupt, "{} is {}, not an object", where, to_string(value, 40));
  }
  return JsonReader(value, std::move(where));
}

const Value* JsonReader::optional(std::string_view key) {
  skip(key);
  const Value* value = value_->find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Result<std::string> JsonReader::string(std::string_view key) {
  const Value* value = optional(key);
  if (value == nullptr || value->as_string() == nullptr) return wrong(key, "a string");
  return *value->as_string();
}

Result<std::string> JsonReader::string_or(std::string_view key, std::string_view missing) {
  if (optional(key) == nullptr) return std::string(missing);
  return string(key);
}

Result<bool> JsonReader::boolean(std::string_view key) {
  const Value* value = optional(key);
  if (value == nullptr || value->as_bool() == nullptr) return wrong(key, "true or false");
  return *value->as_bool();
}

Result<bool> JsonReader::boolean_or(std::string_view key, bool missing) {
  if (optional(key) == nullptr) return missing;
  return boolean(key);
}

Result<int64_t> JsonReader::integer(std::string_view key) {
  const Value* value = optional(key);
  if (value == nullptr || value->as_int() == nullptr) return wrong(key, "an integer");
  return *value->as_int();
}

Result<const Value::Array*> JsonReader::array(std::string_view key) {
  const Value* value = optional(key);
  if (value == nullptr || value->as_array() == nullptr) return wrong(key, "an array");
  return value->as_array();
}

Result<JsonReader> JsonReader::object(std::string_view key) {
  const Value* value = optional(key);
  if (value == nullptr) return wrong(key, "an object");
  return open(*value, where_ + "." + std::string(key));
}

Status JsonReader::finish() const {
  std::string unknown;
  for (const auto& [key, value] : *value_->as_object()) {
    if (std::find(seen_.begin(), seen_.end(), key) != seen_.end()) continue;
    unknown += (unknown.empty() ? "'" : ", '") + key.substr(0, 60) + "'";
  }
  if (unknown.empty()) return {};
  return fail(ErrorCode::kUnsupported, "{}: unknown keys {}", where_, unknown.substr(0, 500));
}

tl::unexpected<Error> JsonReader::wrong(std::string_view key, std::string_view wanted) const {
  const Value* value = value_->find(key);
  return fail(ErrorCode::kCorrupt, "{}.{} must be {}, it is {}", where_, key, wanted,
              value == nullptr ? "missing" : to_string(*value, 80));
}

tl::unexpected<Error> JsonReader::unsupported(std::string_view what) const {
  return fail(ErrorCode::kUnsupported, "{}: {} is not supported", where_, what);
}

}  // namespace vitro
