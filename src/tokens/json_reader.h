// Reading a component of tokenizer.json: every key must be known, so that a setting is obeyed or refused, never
// ignored.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/value.h"

namespace vitro {

/// One object of the file. Getters note the key as understood; finish() refuses the others by name.
class JsonReader {
 public:
  /// `where` is the path in the file, for messages ("pre_tokenizer.pretokenizers[1]").
  static Result<JsonReader> open(const Value& value, std::string where);

  const std::string& where() const { return where_; }
  /// Null where the key is missing or null.
  const Value* optional(std::string_view key);
  Result<std::string> string(std::string_view key);
  Result<std::string> string_or(std::string_view key, std::string_view missing);
  Result<bool> boolean(std::string_view key);
  Result<bool> boolean_or(std::string_view key, bool missing);
  Result<int64_t> integer(std::string_view key);
  Result<const Value::Array*> array(std::string_view key);
  Result<JsonReader> object(std::string_view key);
  /// For keys that change nothing here.
  void skip(std::string_view key) { seen_.emplace_back(key); }

  /// Unsupported, naming all keys that nobody asked for.
  Status finish() const;
  tl::unexpected<Error> wrong(std::string_view key, std::string_view wanted) const;
  tl::unexpected<Error> unsupported(std::string_view what) const;

 private:
  JsonReader(const Value& value, std::string where) : value_(&value), where_(std::move(where)) {}
  const Value* value_;
  std::string where_;
  std::vector<std::string> seen_;
};

}  // namespace vitro
