// AllocationWatch: the largest single request to operator new while it lives. A test program that uses it must link one
// file that defines VITRO_DEFINE_ALLOCATION_WATCH before including this header.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace vitro::testing {

/// Largest request of this thread since the last reset.
size_t& largest_allocation();

class AllocationWatch {
 public:
  AllocationWatch() { largest_allocation() = 0; }
  size_t largest() const { return largest_allocation(); }
};

}  // namespace vitro::testing

#ifdef VITRO_DEFINE_ALLOCATION_WATCH
namespace vitro::testing {
size_t& largest_allocation() {
  thread_local size_t largest = 0;
  return largest;
}
}  // namespace vitro::testing

// Not inlined: the compiler would otherwise see malloc and free behind new and delete, and warn that they do not match.
__attribute__((noinline)) void* operator new(size_t n_bytes) {
  size_t& largest = vitro::testing::largest_allocation();
  if (n_bytes > largest) largest = n_bytes;
  if (void* data = std::malloc(n_bytes)) return data;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* data) noexcept { std::free(data); }
__attribute__((noinline)) void operator delete(void* data, size_t) noexcept { std::free(data); }
#endif
