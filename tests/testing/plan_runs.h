// Runs of `vitro plan` in the sources, and what their JSON says.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>
#include <sstream>
#include <string>
#include <string_view>

#include "formats/json.h"
#include "testing/run_program.h"

namespace vitro::testing {

inline const std::string kLlama7B = "tests/golden/plan/llama-7b ";

/// In the sources, so that paths are as the documents have them; `vitro` is the program under test.
inline Ran in_sources(const std::string& command) {
  const std::string folder = std::filesystem::path(VITRO_BINARY).parent_path().string();
  return shell("cd '" VITRO_SOURCE_DIR "' && PATH='" + folder + "':$PATH && { " + command + "; } </dev/null");
}

/// Both streams together.
inline Ran run_plan(const std::string& arguments) { return in_sources("vitro plan " + arguments + " 2>&1"); }

/// Of a run that must succeed.
inline Value json_plan(const std::string& arguments) {
  const Ran ran = in_sources("vitro plan --json " + arguments + " 2>/dev/null");
  EXPECT_EQ(ran.code, 0) << arguments;
  auto value = parse_json(ran.out, arguments);
  EXPECT_TRUE(value.has_value()) << arguments << ran.out.substr(0, 300);
  return value ? *std::move(value) : Value();
}

/// Members by their names, one below the other; null where there is none.
inline const Value& at(const Value& value, std::initializer_list<std::string_view> path) {
  static const Value kNothing;
  const Value* found = &value;
  for (const std::string_view key : path) {
    found = found->find(key);
    if (!found) return kNothing;
  }
  return *found;
}

/// The amount of a section's owner, amount(json, "memory", "weights/attention"); -1: there is none.
inline int64_t amount(const Value& plan, std::string_view section, const std::string& path = "") {
  const Value* item = &at(plan, {"sections", section, "item"});
  if (item->is_null()) return -1;
  std::stringstream names(path);
  for (std::string name; std::getline(names, name, '/');) {
    const Value* next = nullptr;
    for (const Value& part : *at(*item, {"parts"}).as_array()) {
      if (*at(part, {"name"}).as_string() == name) next = &part;
    }
    if (!next) return -1;
    item = next;
  }
  const int64_t* n = at(*item, {"amount"}).as_int();
  return n ? *n : -1;
}

/// A cell of a table: of the row whose `key` column holds `name`; null where there is none.
inline const Value& cell_value(const Value& plan, std::string_view table, std::string_view key, const std::string& name,
                               std::string_view column) {
  static const Value kNothing;
  const Value::Array* rows = at(plan, {"tables", table, "rows"}).as_array();
  if (!rows) return kNothing;
  for (const Value& row : *rows) {
    const Value& value = at(row, {key});
    const bool is_it = value.as_string() ? *value.as_string() == name : to_string(value) == name;
    if (is_it) return at(row, {column});
  }
  return kNothing;
}

/// The number in it; -1: there is none.
inline double cell(const Value& plan, std::string_view table, std::string_view key, const std::string& name,
                   std::string_view column) {
  const Value& found = cell_value(plan, table, key, name, column);
  return found.as_int() ? static_cast<double>(*found.as_int()) : found.as_real() ? *found.as_real() : -1;
}

}  // namespace vitro::testing
