#include "store/incomplete_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "base/fail_errno.h"
#include "base/write_file.h"

namespace vitro {
Result<IncompleteFile> IncompleteFile::open(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
  if (!fd && (errno == ELOOP || errno == EISDIR)) {
    return fail(ErrorCode::kInvalidArgument, "{}: is a link or a folder, expected a file or nothing; remove it",
                path.string());
  }
  if (!fd) return fail_errno(path, "create");
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return fail_errno(path, "look at");
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, "{}: is no regular file; remove it", path.string());
  }
  return IncompleteFile(path, std::move(fd), static_cast<uint64_t>(status.st_size));
}

Status IncompleteFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(n_bytes_));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(path_, "write");
    n_bytes_ += static_cast<uint64_t>(n);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Status IncompleteFile::clear() {
  if (::ftruncate(fd_.get(), 0) != 0) return fail_errno(path_, "empty");
  n_bytes_ = 0;
  return {};
}

Status IncompleteFile::read_into(Hasher& hasher, const HashWatch& watch) const {
  return hasher.add_file(fd_, path_, n_bytes_, watch);
}

Status IncompleteFile::sync() const {
  if (::fsync(fd_.get()) != 0) return fail_errno(path_, "write to the disk");
  return {};
}

Status IncompleteFile::rename_to(const std::filesystem::path& target) {
  VITRO_TRY(sync());
  if (::rename(path_.c_str(), target.c_str()) != 0) return fail_errno(target, "rename to it");
  sync_folder(target.has_parent_path() ? target.parent_path() : std::filesystem::path("."));
  return {};
}

void IncompleteFile::remove() const { ::unlink(path_.c_str()); }

}  // namespace vitro
