// CountedMemory: every byte that the program asks for, counted where it asks: operator new and delete, and mappings of
// no file. A witness that knows nothing of plans. One file of a test program defines VITRO_DEFINE_COUNTED_MEMORY before
// including this header. Mappings are not counted under AddressSanitizer, which has its own mmap.
#pragma once

#include <atomic>
#include <cstdint>

#include "testing/sanitizers.h"

namespace vitro::testing {

struct MemoryCounts {
  std::atomic<int64_t> heap_bytes{0};     ///< given out and not given back
  std::atomic<int64_t> mapped_bytes{0};   ///< mapped and not unmapped
  std::atomic<int64_t> most_mapped{0};    ///< the most at any moment since it was set
  std::atomic<int64_t> n_allocations{0};  ///< calls of either kind so far
};
MemoryCounts& memory_counts();

/// What changed since it was made.
class MemorySpan {
 public:
  MemorySpan()
      : heap_(memory_counts().heap_bytes), mapped_(memory_counts().mapped_bytes), n_(memory_counts().n_allocations) {
    memory_counts().most_mapped = mapped_;
  }
  int64_t heap_bytes() const { return memory_counts().heap_bytes - heap_; }
  int64_t mapped_bytes() const { return memory_counts().mapped_bytes - mapped_; }
  int64_t most_mapped() const { return memory_counts().most_mapped - mapped_; }
  int64_t n_allocations() const { return memory_counts().n_allocations - n_; }

 private:
  int64_t heap_, mapped_, n_;
};

}  // namespace vitro::testing

#ifdef VITRO_DEFINE_COUNTED_MEMORY
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace vitro::testing {

MemoryCounts& memory_counts() {
  static MemoryCounts counts;
  return counts;
}

// The size stands in front of the bytes, so that any delete knows it.
inline void* counted_new(size_t n_bytes, size_t alignment) {
  const size_t front = std::max<size_t>(alignment, 16);
  void* base = nullptr;
  if (::posix_memalign(&base, front, n_bytes + front) != 0) return nullptr;
  auto* data = static_cast<char*>(base) + front;
  std::memcpy(data - sizeof(size_t), &n_bytes, sizeof n_bytes);
  memory_counts().heap_bytes += static_cast<int64_t>(n_bytes);
  ++memory_counts().n_allocations;
  return data;
}

inline void counted_delete(void* data, size_t alignment) noexcept {
  if (data == nullptr) return;
  size_t n_bytes = 0;
  std::memcpy(&n_bytes, static_cast<char*>(data) - sizeof(size_t), sizeof n_bytes);
  memory_counts().heap_bytes -= static_cast<int64_t>(n_bytes);
  std::free(static_cast<char*>(data) - std::max<size_t>(alignment, 16));
}

inline void* new_or_throw(size_t n_bytes, size_t alignment) {
  if (void* data = counted_new(n_bytes, alignment)) return data;
  throw std::bad_alloc();
}

#if !VITRO_HAS_ASAN
// Which mappings are counted; the table is of fixed size, because it must not allocate.
struct MappingTable {
  struct Mapping {
    void* data = nullptr;
    size_t n_bytes = 0;
  };
  std::mutex mutex;
  std::array<Mapping, 1 << 14> mappings;

  void add(void* data, size_t n_bytes) {
    const std::lock_guard lock(mutex);
    const auto at = std::find_if(mappings.begin(), mappings.end(), [](const Mapping& m) { return m.data == nullptr; });
    if (at == mappings.end()) std::abort();
    *at = {data, n_bytes};
    MemoryCounts& counts = memory_counts();
    counts.mapped_bytes += static_cast<int64_t>(n_bytes);
    counts.most_mapped = std::max(counts.most_mapped.load(), counts.mapped_bytes.load());
    ++counts.n_allocations;
  }
  void remove(void* data) {
    const std::lock_guard lock(mutex);
    const auto at = std::find_if(mappings.begin(), mappings.end(), [&](const Mapping& m) { return m.data == data; });
    if (at == mappings.end()) return;
    memory_counts().mapped_bytes -= static_cast<int64_t>(at->n_bytes);
    *at = {};
  }
};
inline MappingTable& mapping_table() {
  static MappingTable table;
  return table;
}
#endif

}  // namespace vitro::testing

// Not inlined: the compiler would otherwise see malloc and free behind new and delete, and warn that they do not match.
#define VITRO_COUNTED __attribute__((noinline))
VITRO_COUNTED void* operator new(size_t n) { return vitro::testing::new_or_throw(n, 16); }
VITRO_COUNTED void* operator new[](size_t n) { return vitro::testing::new_or_throw(n, 16); }
VITRO_COUNTED void* operator new(size_t n, const std::nothrow_t&) noexcept {
  return vitro::testing::counted_new(n, 16);
}
VITRO_COUNTED void* operator new[](size_t n, const std::nothrow_t&) noexcept {
  return vitro::testing::counted_new(n, 16);
}
VITRO_COUNTED void* operator new(size_t n, std::align_val_t a) {
  return vitro::testing::new_or_throw(n, static_cast<size_t>(a));
}
VITRO_COUNTED void* operator new[](size_t n, std::align_val_t a) {
  return vitro::testing::new_or_throw(n, static_cast<size_t>(a));
}
VITRO_COUNTED void operator delete(void* p) noexcept { vitro::testing::counted_delete(p, 16); }
VITRO_COUNTED void operator delete[](void* p) noexcept { vitro::testing::counted_delete(p, 16); }
VITRO_COUNTED void operator delete(void* p, size_t) noexcept { vitro::testing::counted_delete(p, 16); }
VITRO_COUNTED void operator delete[](void* p, size_t) noexcept { vitro::testing::counted_delete(p, 16); }
VITRO_COUNTED void operator delete(void* p, std::align_val_t a) noexcept {
  vitro::testing::counted_delete(p, static_cast<size_t>(a));
}
VITRO_COUNTED void operator delete[](void* p, std::align_val_t a) noexcept {
  vitro::testing::counted_delete(p, static_cast<size_t>(a));
}
VITRO_COUNTED void operator delete(void* p, size_t, std::align_val_t a) noexcept {
  vitro::testing::counted_delete(p, static_cast<size_t>(a));
}
VITRO_COUNTED void operator delete[](void* p, size_t, std::align_val_t a) noexcept {
  vitro::testing::counted_delete(p, static_cast<size_t>(a));
}
#undef VITRO_COUNTED

#if !VITRO_HAS_ASAN
// In front of the C library's, for calls from this program; the library's own (threads, malloc) do not come here.
extern "C" void* mmap(void* where, size_t n_bytes, int protection, int flags, int file, off_t offset) noexcept {
  const long result = ::syscall(SYS_mmap, where, n_bytes, protection, flags, file, offset);
  if (result == -1) return MAP_FAILED;
  auto* data = reinterpret_cast<void*>(result);
  if ((flags & MAP_ANONYMOUS) != 0) vitro::testing::mapping_table().add(data, n_bytes);
  return data;
}
extern "C" int munmap(void* data, size_t n_bytes) noexcept {
  vitro::testing::mapping_table().remove(data);
  return static_cast<int>(::syscall(SYS_munmap, data, n_bytes));
}
#endif
#endif
