// Expected numbers that scripts of tools/ have written as JSON.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "testing/shared_data.h"

namespace vitro::testing {

/// The JSON of a file of the repository.
inline Value json_file(std::string_view relative) {
  std::ifstream file(repo_path(relative));
  std::stringstream text;
  text << file.rdbuf();
  auto value = parse_json(text.str(), std::string(relative));
  EXPECT_TRUE(value) << value.error().message;
  return value ? std::move(*value) : Value();
}

inline double real_of(const Value& value) {
  return value.as_int() ? static_cast<double>(*value.as_int()) : *value.as_real();
}

/// The numbers of a list in `object`; empty if there is none.
inline std::vector<double> reals(const Value& object, std::string_view key) {
  std::vector<double> out;
  const Value* value = object.find(key);
  if (!value) return out;
  for (const Value& item : *value->as_array()) out.push_back(real_of(item));
  return out;
}

}  // namespace vitro::testing
