#include "base/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <string>

#include "base/fail_errno.h"
#include "base/unique_fd.h"

namespace vitro {
namespace {

tl::unexpected<Error> fail_exists(const std::filesystem::path& path) {
  return fail(ErrorCode::kInvalidArgument, "{}: exists already, and is not replaced unless that is asked for",
              path.string());
}

/// A new file beside `target` that is removed again unless it was given its name.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& target) {
    constexpr int kAttempts = 16;
    std::random_device random;
    for (int i = 0; i < kAttempts && fd_ < 0 && (i == 0 || errno == EEXIST); ++i) {
      path_ = fmt::format("{}{}{:08x}{:08x}", target.string(), kNewFileMark, random(), random());
      fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
  }
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
  bool take_mode_of(const std::filesystem::path& old_file) const {
    struct stat status {};
    return ::stat(old_file.c_str(), &status) != 0 || ::fchmod(fd_, status.st_mode & 07777U) == 0;
  }
  bool rename_to(const std::filesystem::path& path, bool may_replace) {
    const unsigned flags = may_replace ? 0 : RENAME_NOREPLACE;
    is_kept_ = ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, path.c_str(), flags) == 0;
    if (is_kept_ || may_replace || (errno != EINVAL && errno != ENOSYS)) return is_kept_;
    return ::link(path_.c_str(), path.c_str()) == 0;  // for file systems that cannot rename so; fails if path exists
  }

 private:
  std::string path_;
  int fd_ = -1;
  bool is_kept_ = false;
};

}  // namespace

Status make_folders(const std::filesystem::path& folder) {
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (!error) return {};
  return fail(ErrorCode::kIoError, "{}: cannot make this folder: {}", folder.string(), error.message());
}

void sync_folder(const std::filesystem::path& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) ::fsync(fd.get());
}

Status write_file(const std::filesystem::path& path, std::string_view contents, bool may_replace) {
  std::error_code error;
  std::filesystem::path target = std::filesystem::weakly_canonical(path, error);  // what a link leads to
  if (error) target = path;
  if (std::filesystem::exists(target, error)) {
    if (!std::filesystem::is_regular_file(target, error)) {
      return fail(ErrorCode::kInvalidArgument, "{}: is no regular file; name a file", path.string());
    }
    if (!may_replace) return fail_exists(path);
  }
  NewFile file(target);
  if (!file.is_open()) return fail_errno(path, "create a file beside it");
  if (!file.take_mode_of(target) || !file.write(contents)) return fail_errno(path, "write");
  if (!file.rename_to(target, may_replace))
    return errno == EEXIST ? fail_exists(path) : fail_errno(path, "rename to it");
  sync_folder(target.has_parent_path() ? target.parent_path() : std::filesystem::path("."));
  return {};
}

}  // namespace vitro
