#include "tensor/buffer.h"

#include <sys/mman.h>

#include "base/human.h"

namespace vitro {

void Buffer::Unmap::operator()(std::byte* data) const { ::munmap(data, n_bytes); }

// Anonymous mappings rather than malloc: zeroed without being touched, returned to the system when freed, and large
// ones may be backed by huge pages, which streaming weights from memory profits from.
Result<Buffer> Buffer::allocate(size_t n_bytes, const char* purpose) {
  constexpr size_t kHugePage = size_t{2} << 20;
  Buffer buffer;
  if (n_bytes == 0) return buffer;
  void* data = ::mmap(nullptr, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) {
    return fail(ErrorCode::kOutOfMemory, "cannot allocate {} for {}", human_bytes(n_bytes), purpose);
  }
  if (n_bytes >= kHugePage) ::madvise(data, n_bytes, MADV_HUGEPAGE);
  buffer.data_ = std::unique_ptr<std::byte, Unmap>(static_cast<std::byte*>(data), Unmap{n_bytes});
  buffer.size_ = n_bytes;
  return buffer;
}

}  // namespace vitro
