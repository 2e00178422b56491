// A file that is replaced whole or not at all: who reads it never sees a half of it, whatever happens meanwhile.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace vitro {

/// Writes `bytes` to a new file beside `path`, brings it to the disk, and renames it. An earlier file keeps its
/// permissions; a link is followed. IoError: the old file, if any, is as it was.
Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace vitro
