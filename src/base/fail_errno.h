// What the system refused, in words.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace vitro {

/// IoError "PATH: cannot DOING: the system's words", of errno as the failed call left it.
tl::unexpected<Error> fail_errno(const std::filesystem::path& path, std::string_view doing);

}  // namespace vitro
