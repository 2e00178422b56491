// A folder for what is half-way, removed at the end with all that is in it.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace vitro {

class WorkFolder {
 public:
  /// A new folder in `parent`, whose name begins with `prefix`. IoError.
  static Result<WorkFolder> make(const std::filesystem::path& parent, std::string_view prefix);
  ~WorkFolder();
  WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit WorkFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace vitro
