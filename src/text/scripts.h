// Scripts of Unicode 16.0 by name, for split patterns: \p{Han}.
#pragma once

#include <optional>
#include <string_view>

#include "text/code_point_set.h"

namespace vitro {

/// Code points of a script by its long name ("Han"); nothing for names that are not known.
std::optional<CodePointSet> script_set(std::string_view name);

}  // namespace vitro
