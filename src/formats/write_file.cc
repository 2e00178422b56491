#include "formats/write_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace vitro {
namespace {

tl::unexpected<Error> io_error(const std::filesystem::path& path, std::string_view doing) {
  return fail(ErrorCode::kIoError, "{}: cannot be {}: {}", path.string(), doing, std::strerror(errno));
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// The permissions that a file of the user has: those of the earlier one, else what the umask leaves.
mode_t wanted_mode(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return status.st_mode & 07777U;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666U & ~mask;
}

// The name of a file becomes durable with its folder.
bool sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool is_synced = ::fsync(descriptor) == 0;
  ::close(descriptor);
  return is_synced;
}

bool write_and_sync(int file, std::string_view bytes, mode_t mode) {
  const bool is_written = write_all(file, bytes) && ::fchmod(file, mode) == 0 && ::fsync(file) == 0;
  return ::close(file) == 0 && is_written;
}

}  // namespace

Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  std::error_code error;
  std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  if (error) target = path;
  if (std::filesystem::exists(target, error) && !std::filesystem::is_regular_file(target, error)) {
    return fail(ErrorCode::kInvalidArgument, "{}: no file; give the path of one", path.string());
  }
  std::string name = target.string() + ".XXXXXX";
  const int file = ::mkstemp(name.data());
  if (file < 0) return io_error(path, "written");
  if (!write_and_sync(file, bytes, wanted_mode(target)) || ::rename(name.c_str(), target.c_str()) != 0) {
    const auto failed = io_error(path, "written");
    ::unlink(name.c_str());
    return failed;
  }
  if (!sync_folder(target.parent_path())) return io_error(path, "brought to the disk");
  return {};
}

}  // namespace vitro
