// MappedFile: the bytes of a regular file, mapped or read. Opening checks that it is a file and how long it is, nothing
// else.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"

namespace vitro {

/// kMap: pages come from the file when touched (a file cut short meanwhile raises SIGBUS). kRead: a private copy, safe
/// but counted twice.
enum class LoadMode { kMap, kRead };

/// Read-only bytes of one file, or of the program itself. Movable; views into it live as long as it does.
class MappedFile {
 public:
  /// NotFound, IoError (with the system's words), InvalidArgument for folders and devices. An empty file is fine and
  /// has no bytes.
  static Result<MappedFile> open(const std::filesystem::path& path, LoadMode mode = LoadMode::kMap);

  /// Bytes that are in memory already, with a name for messages. They must outlive the object; nothing is copied.
  static MappedFile in_memory(std::span<const std::byte> bytes, std::string_view name);

  std::span<const std::byte> bytes() const;
  /// The same bytes as text (of no promised encoding).
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes().data()), bytes().size()}; }
  const std::filesystem::path& path() const { return path_; }
  /// Tells the system that whole pages inside [offset, offset + n) are not needed for now; they read the same if
  /// touched again.
  void release(size_t offset, size_t n_bytes) const;

 private:
  struct Unmap {
    size_t n_bytes;  // 0: not ours to unmap; value-initialised by unique_ptr; an initialiser here would delete its
                     // default constructor
    void operator()(const std::byte* data) const;
  };
  std::filesystem::path path_;
  std::unique_ptr<const std::byte, Unmap> data_;
  size_t size_ = 0;
  bool is_mapped_ = false;
};

}  // namespace vitro
