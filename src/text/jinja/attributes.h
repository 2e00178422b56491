// Looking things up in values: obj.name and obj[key] with the sandbox's rules, slices, and calls of methods.
#pragma once

#include <span>

#include "text/jinja/arguments.h"

namespace vitro::jinja {

/// obj.name: the attribute, else the item, else undefined. Errors only for undefined objects.
Result<Val> get_attribute(Runtime& rt, const Val& object, const Val& name);
/// obj[key]: the item, else (for a text) the attribute, else undefined.
Result<Val> get_item(Runtime& rt, const Val& object, const Val& key);
/// obj.name without looking for items: missing if there is no such attribute.
Result<Val> own_attribute(Runtime& rt, const Val& object, std::string_view name);
/// obj[start:stop:step]; the parts are missing where they were not written.
Result<Val> get_slice(Runtime& rt, const Val& object, const std::vector<Val>& parts);

/// Attributes of a path like "a.b.0", as filters take them.
Result<Val> get_path(Runtime& rt, const Val& object, const Val& path, const Val& otherwise = {});

Result<Val> call_method(Runtime& rt, const MethodObject& method, Arguments args);
Result<Val> call_function(Runtime& rt, const FunctionObject& function, Arguments args);

/// Methods of a type that a template may call.
struct MethodEntry {
  std::string_view name;
  std::string_view parameters;
  Result<Val> (*run)(Runtime& rt, const Val& self, const std::vector<Val>& args);
  bool is_brief = false;  ///< does not read its texts from end to end
};
std::span<const MethodEntry> string_methods();
std::span<const MethodEntry> string_search_methods();
std::span<const MethodEntry> container_methods(Kind kind);

/// Names of the global functions.
std::vector<std::string_view> builtin_names();

}  // namespace vitro::jinja
