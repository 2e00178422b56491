#include "base/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/fail_errno.h"

namespace vitro {
namespace {

tl::unexpected<Error> fail_open(const std::filesystem::path& path) {
  const bool is_missing = errno == ENOENT || errno == ENOTDIR;
  Error error = fail_errno(path, "open").value();
  if (is_missing) error.code = ErrorCode::kNotFound;
  return fail(std::move(error));
}

}  // namespace

Result<UniqueFd> open_to_read(const std::filesystem::path& path) {
  // Without O_NONBLOCK opening a named pipe would wait for a writer.
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return fail_open(path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fail_errno(path, "look at");
  if (S_ISREG(info.st_mode)) return file;
  return fail(ErrorCode::kInvalidArgument, "{}: is {}; name a file", path.string(),
              S_ISDIR(info.st_mode) ? "a folder" : "no regular file");
}

Result<uint64_t> size_of(const UniqueFd& file, const std::filesystem::path& path) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fail_errno(path, "look at");
  return static_cast<uint64_t>(info.st_size);
}

Result<size_t> read_at(const UniqueFd& file, const std::filesystem::path& path, uint64_t offset, void* out,
                       size_t n_bytes) {
  while (true) {
    const ssize_t n = ::pread(file.get(), out, n_bytes, static_cast<off_t>(offset));
    if (n >= 0) return static_cast<size_t>(n);
    if (errno != EINTR) return fail_errno(path, "read");
  }
}

Result<uint64_t> read_pieces(const UniqueFd& file, const std::filesystem::path& path, uint64_t n_bytes,
                             const std::function<Status(std::string_view piece)>& sink) {
  constexpr uint64_t kPiece = uint64_t{1} << 20;
  std::string piece(std::min(n_bytes, kPiece), '\0');
  uint64_t n_read = 0;
  while (n_read < n_bytes) {
    const size_t n_wanted = std::min<uint64_t>(piece.size(), n_bytes - n_read);
    VITRO_TRY_ASSIGN(const size_t n, read_at(file, path, n_read, piece.data(), n_wanted));
    if (n == 0) break;
    VITRO_TRY(sink({piece.data(), n}));
    n_read += n;
  }
  return n_read;
}

Result<std::string> read_beginning(const std::filesystem::path& path, size_t most) {
  VITRO_TRY_ASSIGN(const UniqueFd file, open_to_read(path));
  std::string out;
  const auto append = [&](std::string_view piece) -> Status {
    out += piece;
    return {};
  };
  VITRO_TRY(read_pieces(file, path, most, append));
  return out;
}

Result<std::string> read_small_file(const std::filesystem::path& path, size_t most) {
  VITRO_TRY_ASSIGN(std::string text, read_beginning(path, most + 1));
  if (text.size() <= most) return text;
  return fail(ErrorCode::kCorrupt, "{}: too long, at most {} bytes expected; it is another file", path.string(), most);
}

}  // namespace vitro
