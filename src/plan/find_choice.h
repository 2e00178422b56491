// Options whose values have names: which one a text names.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"

namespace vitro {

/// The index of `name`. InvalidArgument: the option, what was found, and the names that there are.
Result<size_t> find_choice(std::span<const std::string_view> names, std::string_view option, std::string_view name);

}  // namespace vitro
