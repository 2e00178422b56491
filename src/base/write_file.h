// Writing a whole file so that a reader, a crash or a full disk never shows half of it.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace vitro {

/// Writes `contents` to a new file beside `path`, waits until the disk has it, and gives it the name `path` in one
/// step. An existing file is replaced only if may_replace; otherwise InvalidArgument, also if it appears meanwhile.
/// IoError with the system's words; nothing is left behind then.
Status write_file(const std::filesystem::path& path, std::string_view contents, bool may_replace);

}  // namespace vitro
