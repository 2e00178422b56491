// The hashes by which servers name files, fed piece by piece. libcrypto's, which hasher.cc alone includes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "store/fetch.h"

namespace vitro {

class Hasher {
 public:
  /// n_bytes: length of the whole, which git hashes first. kNone hashes nothing.
  Hasher(HashKind kind, uint64_t n_bytes);
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  void add(std::string_view bytes);
  /// Lower-case hexadecimal digits of all that was added; empty for kNone. Once.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// "sha256", "git sha1", "none".
std::string_view hash_kind_name(HashKind kind);

}  // namespace vitro
