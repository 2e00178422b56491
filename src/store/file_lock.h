// One process at a time, by flock(2) on a file that stays: the locks of huggingface_hub (package filelock) are the
// same.
#pragma once

#include <filesystem>
#include <functional>

#include "base/result.h"
#include "base/unique_fd.h"

namespace vitro {

class FileLock {
 public:
  /// Waits until no other process holds it; `on_wait` is called once before the first wait. Errors: Cancelled; IoError
  /// with the system's words, for a file system that cannot lock too.
  static Result<FileLock> acquire(const std::filesystem::path& path, const std::function<bool()>& is_cancelled,
                                  const std::function<void()>& on_wait);

 private:
  explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;  ///< closing it frees the lock
};

}  // namespace vitro
