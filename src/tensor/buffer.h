// Buffer: owns aligned bytes. The only place of the engine that asks the system for tensor memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"

namespace vitro {

/// Aligned bytes; movable, not copyable; empty by default.
class Buffer {
 public:
  static constexpr size_t kAlignment = 64;  ///< one cache line, one AVX-512 register

  Buffer() = default;
  /// n_bytes of zeros (pages are touched only when used), aligned to kAlignment. OutOfMemory, with the size and what it
  /// was for.
  static Result<Buffer> allocate(size_t n_bytes, const char* purpose);

  std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::span<std::byte> bytes() const { return {data_.get(), size_}; }
  /// The bytes from `offset` on as T; offset must be aligned for T.
  template <class T>
  T* as(size_t offset = 0) const {
    return reinterpret_cast<T*>(data_.get() + offset);
  }

 private:
  struct Unmap {
    size_t n_bytes;  // no initialiser: the struct must be complete inside its class
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Unmap> data_;
  size_t size_ = 0;
};

}  // namespace vitro
