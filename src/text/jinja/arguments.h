// Arguments of calls, filters and tests, and how they meet a parameter list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/format.h"

namespace vitro::jinja {

struct Arguments {
  std::vector<Val> args;
  Kwargs kwargs;
};

/// One value a parameter, missing where none was given. `parameters` are names with spaces between; "?" after one makes
/// it optional, "/" as the first word refuses names in the call, "*" as the last takes any number of further values.
Result<std::vector<Val>> bind_arguments(std::string_view function, std::string_view parameters, Arguments given);

/// An int (or bool) argument; `otherwise` if it is missing.
Result<int64_t> int_argument(const Val& value, int64_t otherwise = 0);
Result<const StringObject*> string_argument(const Val& value);

}  // namespace vitro::jinja
