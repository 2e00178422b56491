#include "store/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace vitro {
namespace {

constexpr mode_t kMode = 0664;  // as huggingface_hub: users of one group share a cache

/// False if the file was removed or replaced since it was opened: then the lock on it keeps nobody out.
bool is_still_there(int fd, const std::filesystem::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

tl::unexpected<Error> fail_lock(const std::filesystem::path& path) {
  return fail(ErrorCode::kIoError, "{}: cannot lock this file: {}", path.string(), std::strerror(errno));
}

}  // namespace

Result<FileLock> FileLock::acquire(const std::filesystem::path& path, const std::function<bool()>& is_cancelled,
                                   const std::function<void()>& on_wait) {
  constexpr auto kLook = std::chrono::milliseconds(50);
  bool is_told = false;
  while (true) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, kMode));
    if (!fd) return fail_lock(path);
    const bool is_locked = ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
    if (!is_locked && errno != EWOULDBLOCK && errno != EINTR) return fail_lock(path);
    if (is_locked && is_still_there(fd.get(), path)) return FileLock(std::move(fd));
    if (is_locked) continue;
    if (!is_told && on_wait) on_wait();
    is_told = true;
    if (is_cancelled && is_cancelled()) return fail(ErrorCode::kCancelled, "stopped");
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace vitro
