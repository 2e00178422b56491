// The part of JSON Schema (draft 2020-12) that docs/*.schema.json use. A keyword that is not known here is a failure,
// so that no schema says more than is checked.
#pragma once

#include <algorithm>
#include <string>

#include "formats/value.h"

namespace vitro::testing {

class JsonSchema {
 public:
  explicit JsonSchema(Value schema) : root_(std::move(schema)) {}

  /// What is wrong with a document, one line a problem; empty if nothing is.
  std::string problems(const Value& document) const {
    std::string out;
    check(root_, document, "", &out);
    return out;
  }

 private:
  static bool has_type(const Value& value, const std::string& type) {
    if (type == "number") return value.as_int() || value.as_real();
    if (type == "null") return value.is_null();
    if (type == "boolean") return value.kind_name() == "bool";
    return value.kind_name() == type;
  }
  static bool is_text(const Value& value, const std::string& text) {
    return value.as_string() && *value.as_string() == text;
  }

  static bool has_any_type(const Value& value, const Value& types) {
    if (types.as_string()) return has_type(value, *types.as_string());
    return std::any_of(types.as_array()->begin(), types.as_array()->end(),
                       [&](const Value& type) { return has_type(value, *type.as_string()); });
  }

  void check(const Value& schema, const Value& value, const std::string& where, std::string* out) const {
    for (const auto& [keyword, rule] : *schema.as_object()) check_keyword(schema, keyword, rule, value, where, out);
  }

  void check_keyword(const Value& schema, const std::string& keyword, const Value& rule, const Value& value,
                     const std::string& where, std::string* out) const {
    const auto wrong = [&](const std::string& what) { *out += where + ": " + what + "\n"; };
    if (keyword == "title" || keyword == "description" || keyword == "$schema" || keyword == "$defs") return;
    if (keyword == "$ref") return check(*root_.find("$defs")->find(rule.as_string()->substr(8)), value, where, out);
    if (keyword == "type") {
      if (!has_any_type(value, rule)) wrong("is " + std::string(value.kind_name()) + ", not " + to_string(rule));
    } else if (keyword == "enum") {
      const auto& names = *rule.as_array();
      const auto is_it = [&](const Value& name) { return is_text(value, *name.as_string()); };
      if (std::none_of(names.begin(), names.end(), is_it)) wrong(to_string(value) + " is none of " + to_string(rule));
    } else if (keyword == "minimum" || keyword == "maximum") {
      const bool is_minimum = keyword == "minimum";
      const int64_t n = value.as_int() ? *value.as_int() : *rule.as_int();
      if (is_minimum ? n < *rule.as_int() : n > *rule.as_int()) wrong(to_string(value) + " is out of range");
    } else if (keyword == "required") {
      for (const Value& key : *rule.as_array()) {
        if (!value.find(*key.as_string())) wrong("lacks " + *key.as_string());
      }
    } else if (keyword == "items") {
      if (!value.as_array()) return;
      for (size_t i = 0; i < value.as_array()->size(); ++i) {
        check(rule, (*value.as_array())[i], where + "/" + std::to_string(i), out);
      }
    } else if (keyword == "properties" || keyword == "additionalProperties") {
      if (value.as_object()) check_members(schema, keyword, rule, value, where, out);
    } else {
      wrong("the schema's keyword " + keyword + " is not known to this test");
    }
  }

  void check_members(const Value& schema, const std::string& keyword, const Value& rule, const Value& value,
                     const std::string& where, std::string* out) const {
    const Value* properties = schema.find("properties");
    for (const auto& [key, member] : *value.as_object()) {
      const Value* known = properties ? properties->find(key) : nullptr;
      if (keyword == "properties" && known) check(*known, member, where + "/" + key, out);
      if (keyword == "properties" || known) continue;
      if (rule.as_bool()) *out += *rule.as_bool() ? "" : where + ": has " + key + ", which is not known\n";
      if (rule.as_object()) check(rule, member, where + "/" + key, out);
    }
  }

  Value root_;
};

}  // namespace vitro::testing
