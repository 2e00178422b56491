// Files of figures that people write or fetch: small, and not read at all where they are not.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "formats/mapped_file.h"

namespace vitro {

/// A private copy of the file. Corrupt for one of more than `most` bytes, before any is read; errors of MappedFile.
Result<MappedFile> read_small_file(const std::filesystem::path& path, uintmax_t most);

}  // namespace vitro
