// Which names a piece of a template speaks of.
#pragma once

#include <set>
#include <string>

#include "text/jinja/ast.h"

namespace vitro::jinja {

/// True if the body reads the variable anywhere, inner scopes included.
bool is_name_loaded(const Body& body, const std::string& name);

/// Those of `names` that the body reads before it stores them.
std::set<std::string> undeclared_names(const Body& body, std::set<std::string> names);

}  // namespace vitro::jinja
