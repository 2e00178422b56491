#include "cli/template_variables.h"

#include "formats/json.h"

namespace vitro {

Result<Value::Object> parse_variables(const std::vector<std::string>& texts) {
  Value::Object variables;
  for (const std::string& text : texts) {
    const size_t at = text.find('=');
    if (at == std::string::npos || at == 0) {
      return fail(ErrorCode::kInvalidArgument, "--var {}: expected KEY=JSON, like enable_thinking=false", text);
    }
    auto value = parse_json(std::string_view(text).substr(at + 1), fmt::format("--var {}", text.substr(0, at)));
    if (!value) return fail(value.error().in("a text needs quotes, like --var 'name=\"text\"'"));
    std::erase_if(variables, [&](const Value::Member& member) { return member.first == text.substr(0, at); });
    variables.emplace_back(text.substr(0, at), *std::move(value));
  }
  return variables;
}

}  // namespace vitro
