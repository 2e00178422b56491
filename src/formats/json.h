// JSON text -> Value, strictly as RFC 8259 says, bounded. Built on nlohmann-json's SAX parser, which only json.cc
// includes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/value.h"

namespace vitro {

/// How real numbers are read.
enum class RealReading : uint8_t {
  kNearest,  ///< the nearest double
  kQuick,    ///< as quick_real.h says, for what must equal the `tokenizers` package
};

/// What a document may ask for; defaults suit config.json. tokenizer.json needs more values.
struct JsonLimits {
  int max_depth = 64;
  size_t max_values = size_t{1} << 20;  ///< scalars, arrays and objects together
  RealReading reals = RealReading::kNearest;
};

/// Parses one complete document. `where` names the file in errors. Corrupt: syntax (with line and column), twin keys,
/// limits, invalid UTF-8, numbers out of range.
Result<Value> parse_json(std::string_view text, std::string_view where, const JsonLimits& limits = {});

/// Takes an array or object of a document while it is read, so that a large table needs no tree. Each function returns
/// what is wrong, nothing if all is well.
class JsonListener {
 public:
  virtual ~JsonListener() = default;
  /// False: the value goes into the tree as any other.
  virtual bool wants(bool is_array) const = 0;
  /// The value itself and every array or object in it.
  virtual std::string open(bool is_array) = 0;
  virtual std::string close() = 0;
  virtual std::string key(std::string_view name) = 0;
  virtual std::string string(std::string_view text) = 0;
  virtual std::string integer(int64_t value) = 0;
  /// null, a truth value or a real number.
  virtual std::string other() = 0;
};

/// Who takes the value of `member` of the object under `key` of the document. The tree has an empty array or object
/// there.
struct JsonDiversion {
  std::string_view key;
  std::string_view member;
  JsonListener* listener = nullptr;
};

/// As parse_json. Twin keys in a diverted object are the listener's business.
Result<Value> parse_json(std::string_view text, std::string_view where, const JsonLimits& limits,
                         std::span<const JsonDiversion> diversions);

/// `text` as a JSON string literal with its quotes; bytes that are not UTF-8 become U+FFFD. For writing JSON by hand.
std::string json_quote(std::string_view text);

}  // namespace vitro
