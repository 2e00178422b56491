// A file that is being filled from its beginning; most get their real name at the end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "store/hasher.h"

namespace vitro {

class IncompleteFile {
 public:
  /// Opens or makes it; a link is not followed. InvalidArgument for what is no regular file; IoError.
  static Result<IncompleteFile> open(const std::filesystem::path& path);

  uint64_t n_bytes() const { return n_bytes_; }
  /// IoError with the system's words; what did fit stays, and counts.
  Status append(std::string_view bytes);
  Status clear();
  /// Feeds what is there to the hasher. Errors as Hasher::add_file.
  Status read_into(Hasher& hasher, const HashWatch& watch) const;
  /// Waits until the disk has every byte.
  Status sync() const;
  /// sync(), then the name in one step.
  Status rename_to(const std::filesystem::path& target);
  void remove() const;

 private:
  IncompleteFile(std::filesystem::path path, UniqueFd fd, uint64_t n_bytes)
      : path_(std::move(path)), fd_(std::move(fd)), n_bytes_(n_bytes) {}

  std::filesystem::path path_;
  UniqueFd fd_;
  uint64_t n_bytes_;
};

}  // namespace vitro
