// Reading no more of a file than is expected of it, whatever lies there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace vitro {

/// A regular file, opened for reading; waits for nobody. NotFound, IoError with the system's words, InvalidArgument for
/// a folder, a device, a named pipe.
Result<UniqueFd> open_to_read(const std::filesystem::path& path);

/// Bytes that the file which is open under that path has now. IoError.
Result<uint64_t> size_of(const UniqueFd& file, const std::filesystem::path& path);

/// Reads up to n_bytes from `offset` on and returns how many came; 0: the file ends there. IoError.
Result<size_t> read_at(const UniqueFd& file, const std::filesystem::path& path, uint64_t offset, void* out,
                       size_t n_bytes);

/// Gives bytes [0, n_bytes) of a file that is open under that path, in pieces of at most 1 MiB, and returns how many
/// there were: fewer where the file ends before. IoError; what the sink returns.
Result<uint64_t> read_pieces(const UniqueFd& file, const std::filesystem::path& path, uint64_t n_bytes,
                             const std::function<Status(std::string_view piece)>& sink);

/// The first bytes of a file, `most` or all that it has. Errors as open_to_read.
Result<std::string> read_beginning(const std::filesystem::path& path, size_t most);

/// A file of `most` bytes or fewer; Corrupt for a longer one. Errors as open_to_read.
Result<std::string> read_small_file(const std::filesystem::path& path, size_t most);

}  // namespace vitro
