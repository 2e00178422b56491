// Writing a whole file so that a reader, a crash or a full disk never shows half of it.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace vitro {

/// Writes `contents` to a new file beside `path`, waits until the disk has it, and gives it the name `path` in one
/// step. A link is followed. An existing file is replaced only if may_replace, and then keeps its permissions;
/// otherwise InvalidArgument, also if it appears meanwhile, and for what is no regular file. IoError with the system's
/// words; the old file is as it was then, and nothing is left behind.
Status write_file(const std::filesystem::path& path, std::string_view contents, bool may_replace);

/// Behind the name of a file and before something random: its new contents, left there only by a process that was
/// killed.
constexpr std::string_view kNewFileMark = ".new-";

/// Makes a folder and those above it, where they are missing. IoError.
Status make_folders(const std::filesystem::path& folder);

/// Waits until the disk has the names in a folder, where the system lets us: files that were renamed there are whole in
/// any case.
void sync_folder(const std::filesystem::path& folder);

}  // namespace vitro
