// BoundedReader: a cursor over bytes that nobody has checked. Every read is compared with what is left; a read that
// does not fit says what was wanted, where, and how much is there. It never allocates, so a declared length costs
// nothing until its bytes are seen.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/result.h"

namespace vitro {

static_assert(std::endian::native == std::endian::little, "file formats are little-endian and read by memcpy");

/// The T at `data`, which may be unaligned. The caller has checked that its bytes are there.
template <class T>
T load_unaligned(const std::byte* data) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

class BoundedReader {
 public:
  explicit BoundedReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  uint64_t pos() const { return pos_; }
  uint64_t remaining() const { return bytes_.size() - pos_; }

  /// The next n_bytes. `what` names the field in the error (Corrupt).
  Result<std::span<const std::byte>> take(uint64_t n_bytes, std::string_view what) {
    if (n_bytes > remaining()) return cut_short(n_bytes, what);
    const auto out = bytes_.subspan(pos_, n_bytes);
    pos_ += n_bytes;
    return out;
  }

  /// One little-endian number.
  template <class T>
  Result<T> read(std::string_view what) {
    if (sizeof(T) > remaining()) return cut_short(sizeof(T), what);
    const T value = load_unaligned<T>(bytes_.data() + pos_);
    pos_ += sizeof(T);
    return value;
  }

  /// A u64 count of items that take at least min_item_bytes (> 0) each: refused if the rest of the bytes cannot hold
  /// them, so that the caller may reserve room for them.
  Result<uint64_t> read_count(uint64_t min_item_bytes, std::string_view what) {
    const uint64_t at = pos_;
    VITRO_TRY_ASSIGN(const uint64_t count, read<uint64_t>(what));
    if (count > remaining() / min_item_bytes) {
      return fail(ErrorCode::kCorrupt, "{} at offset {} is {}, but the {} bytes left cannot hold more than {}", what,
                  at, count, remaining(), remaining() / min_item_bytes);
    }
    return count;
  }

 private:
  tl::unexpected<Error> cut_short(uint64_t n_bytes, std::string_view what) const {
    return fail(ErrorCode::kCorrupt, "{} at offset {} needs {} bytes, {} are left; the file may be cut short", what,
                pos_, n_bytes, remaining());
  }

  std::span<const std::byte> bytes_;
  uint64_t pos_ = 0;
};

}  // namespace vitro
