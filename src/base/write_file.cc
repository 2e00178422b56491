#include "base/write_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace vitro {
namespace {

tl::unexpected<Error> fail_errno(const std::filesystem::path& path, std::string_view doing) {
  return fail(ErrorCode::kIoError, "{}: cannot {}: {}", path.string(), doing, std::strerror(errno));
}

tl::unexpected<Error> fail_exists(const std::filesystem::path& path) {
  return fail(ErrorCode::kInvalidArgument, "{}: exists already, and is not replaced unless that is asked for",
              path.string());
}

/// A file that is removed again unless it was kept.
class NewFile {
 public:
  explicit NewFile(std::filesystem::path path)
      : path_(std::move(path)), fd_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {}
  ~NewFile() {
    if (fd_ < 0) return;
    ::close(fd_);
    if (!is_kept_) ::unlink(path_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  bool is_open() const { return fd_ >= 0; }
  bool write(std::string_view contents) {
    while (!contents.empty()) {
      const ssize_t n = ::write(fd_, contents.data(), contents.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return false;
      contents.remove_prefix(static_cast<size_t>(n));
    }
    return ::fsync(fd_) == 0;
  }
  bool rename_to(const std::filesystem::path& path, bool may_replace) {
    const unsigned flags = may_replace ? 0 : RENAME_NOREPLACE;
    is_kept_ = ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, path.c_str(), flags) == 0;
    if (is_kept_ || may_replace || (errno != EINVAL && errno != ENOSYS)) return is_kept_;
    return ::link(path_.c_str(), path.c_str()) == 0;  // for file systems that cannot rename so; fails if path exists
  }

 private:
  std::filesystem::path path_;
  int fd_;
  bool is_kept_ = false;
};

/// The name itself is on the disk once the folder is.
void sync_folder(const std::filesystem::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // the file is whole in any case
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

Status write_file(const std::filesystem::path& path, std::string_view contents, bool may_replace) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return fail(ErrorCode::kInvalidArgument, "{}: is a folder, not a file", path.string());
  }
  if (!may_replace && std::filesystem::exists(path, ignored)) return fail_exists(path);
  NewFile file(path.string() + ".new-" + std::to_string(::getpid()));
  if (!file.is_open()) return fail_errno(path, "create a file beside it");
  if (!file.write(contents)) return fail_errno(path, "write");
  if (!file.rename_to(path, may_replace)) return errno == EEXIST ? fail_exists(path) : fail_errno(path, "rename to it");
  sync_folder(path.has_parent_path() ? path.parent_path() : std::filesystem::path("."));
  return {};
}

}  // namespace vitro
