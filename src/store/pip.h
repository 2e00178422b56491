// Wheels from the package index, by pip: it knows the user's index, proxy and certificates.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace vitro {

/// What is asked and told several times a second while pip works; each may be empty.
struct PipWatch {
  std::function<void(uint64_t n_bytes)> on_bytes;  ///< on the disk so far
  std::function<bool()> is_cancelled;
};

/// `python3 -m pip download --no-deps REQUIREMENT` into `folder`, which must be there and empty; nothing of the package
/// runs. python3 is the first in PATH; pip dies with us. Returns the wheel's path. NotFound with pip's own words if it
/// gives none; IoError if python3 or pip is not there; Cancelled.
Result<std::filesystem::path> pip_download(std::string_view requirement, const std::filesystem::path& folder,
                                           const PipWatch& watch);

}  // namespace vitro
