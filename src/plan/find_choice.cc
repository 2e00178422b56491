#include "plan/find_choice.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace vitro {

Result<size_t> find_choice(std::span<const std::string_view> names, std::string_view option, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return static_cast<size_t>(at - names.begin());
  return fail(ErrorCode::kInvalidArgument, "{} '{}': there are {}", option, name, fmt::join(names, ", "));
}

}  // namespace vitro
