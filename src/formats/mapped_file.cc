#include "formats/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/human.h"
#include "base/read_file.h"

namespace vitro {
namespace {

/// Fills `out` from the file; it is an error if the file has become shorter since its size was asked.
Status read_all(const UniqueFd& file, std::byte* out, size_t n_bytes, const std::filesystem::path& path) {
  size_t done = 0;
  while (done < n_bytes) {
    VITRO_TRY_ASSIGN(const size_t n, read_at(file, path, done, out + done, n_bytes - done));
    if (n == 0)
      return fail(ErrorCode::kIoError, "{}: ends at {} while it is being read, {} expected", path.string(), done,
                  n_bytes);
    done += n;
  }
  return {};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path, LoadMode mode) {
  VITRO_TRY_ASSIGN(const UniqueFd file, open_to_read(path));
  MappedFile out;
  out.path_ = path;
  VITRO_TRY_ASSIGN(out.size_, size_of(file, path));
  out.is_mapped_ = mode == LoadMode::kMap;
  if (out.size_ == 0) return out;

  const int protection = out.is_mapped_ ? PROT_READ : PROT_READ | PROT_WRITE;
  const int flags = out.is_mapped_ ? MAP_PRIVATE : MAP_PRIVATE | MAP_ANONYMOUS;
  void* data = ::mmap(nullptr, out.size_, protection, flags, out.is_mapped_ ? file.get() : -1, 0);
  if (data == MAP_FAILED) {
    return fail(ErrorCode::kOutOfMemory, "{}: no room for its {}: {}", path.string(), human_bytes(out.size_),
                std::strerror(errno));
  }
  out.data_ = {static_cast<const std::byte*>(data), Unmap{out.size_}};
  if (!out.is_mapped_) VITRO_TRY(read_all(file, static_cast<std::byte*>(data), out.size_, path));
  return out;
}

MappedFile MappedFile::in_memory(std::span<const std::byte> bytes, std::string_view name) {
  MappedFile out;
  out.path_ = name;
  out.size_ = bytes.size();
  out.data_ = {bytes.data(), Unmap{0}};
  return out;
}

std::span<const std::byte> MappedFile::bytes() const { return {data_.get(), data_ ? size_ : 0}; }

void MappedFile::release(size_t offset, size_t n_bytes) const {
  // A private copy would lose its contents; only pages that come from the file may go.
  if (!is_mapped_ || data_ == nullptr || offset > size_ || n_bytes > size_ - offset) return;
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t begin = (offset + page - 1) / page * page;
  const size_t end = (offset + n_bytes) / page * page;
  if (begin < end) ::madvise(const_cast<std::byte*>(data_.get()) + begin, end - begin, MADV_DONTNEED);
}

void MappedFile::Unmap::operator()(const std::byte* data) const {
  if (n_bytes > 0) ::munmap(const_cast<std::byte*>(data), n_bytes);
}

}  // namespace vitro
