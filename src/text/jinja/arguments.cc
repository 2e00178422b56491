#include "text/jinja/arguments.h"

#include <algorithm>

#include "text/jinja/operators.h"

namespace vitro::jinja {
namespace {

struct Parameter {
  std::string_view name;
  bool is_optional;
};

struct Parameters {
  std::vector<Parameter> list;
  bool is_positional = false;
  bool has_rest = false;
};

Parameters parse_parameters(std::string_view text) {
  Parameters out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word == "/") {
      out.is_positional = true;
    } else if (word == "*") {
      out.has_rest = true;
    } else {
      const bool is_optional = word.ends_with('?');
      if (is_optional) word.remove_suffix(1);
      out.list.push_back({word, is_optional});
    }
  }
  return out;
}

}  // namespace

Result<std::vector<Val>> bind_arguments(std::string_view function, std::string_view parameters, Arguments given) {
  const Parameters known = parse_parameters(parameters);
  if (given.args.size() > known.list.size() && !known.has_rest) {
    return raise("{}() takes at most {} arguments ({} given)", function, known.list.size(), given.args.size());
  }
  std::vector<Val> out = std::move(given.args);
  const size_t n_positional = out.size();
  out.resize(std::max(out.size(), known.list.size()));
  for (auto& keyword : given.kwargs) {
    const std::string& name = keyword.first;
    const auto it = std::find_if(known.list.begin(), known.list.end(), [&](const auto& p) { return p.name == name; });
    if (known.is_positional || it == known.list.end()) {
      return raise("{}() got an unexpected keyword argument '{}'", function, name);
    }
    const auto i = static_cast<size_t>(it - known.list.begin());
    if (i < n_positional) return raise("{}() got multiple values for argument '{}'", function, name);
    out[i] = std::move(keyword.second);
  }
  for (size_t i = 0; i < known.list.size(); ++i) {
    if (!known.list[i].is_optional && out[i].is_missing()) {
      return raise("{}() missing 1 required positional argument: '{}'", function, known.list[i].name);
    }
  }
  return out;
}

Result<int64_t> int_argument(const Val& value, int64_t otherwise) {
  if (value.is_missing()) return otherwise;
  if (value.is_integral()) return value.as_int();
  if (value.is(Kind::kUndefined)) return raise_undefined(value);
  return raise("'{}' object cannot be interpreted as an integer", type_name(value));
}

Result<const StringObject*> string_argument(const Val& value) {
  if (value.is_string()) return &value.as_string();
  if (value.is(Kind::kUndefined)) return raise("must be str, not Undefined");
  return raise("must be str, not {}", type_name(value));
}

}  // namespace vitro::jinja
