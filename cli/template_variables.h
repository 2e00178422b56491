// --var of `chat` and `template`: variables that a chat template sees.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "formats/value.h"

namespace vitro {

/// "enable_thinking=false" -> {"enable_thinking", false}; of twins the last counts. InvalidArgument: no KEY=JSON.
Result<Value::Object> parse_variables(const std::vector<std::string>& texts);

}  // namespace vitro
