// JSON text -> Value, strictly as RFC 8259 says, bounded. Built on nlohmann-json's SAX parser, which only json.cc
// includes.
#pragma once

#include <string_view>

#include "base/result.h"
#include "formats/value.h"

namespace vitro {

/// What a document may ask for; defaults suit config.json. tokenizer.json needs more values.
struct JsonLimits {
  int max_depth = 64;
  size_t max_values = size_t{1} << 20;  ///< scalars, arrays and objects together
};

/// Parses one complete document. `where` names the file in errors. Corrupt: syntax (with line and column), twin keys,
/// limits, invalid UTF-8, numbers out of range.
Result<Value> parse_json(std::string_view text, std::string_view where, const JsonLimits& limits = {});

/// `text` as a JSON string literal with its quotes; bytes that are not UTF-8 become U+FFFD. For writing JSON by hand.
std::string json_quote(std::string_view text);

}  // namespace vitro
