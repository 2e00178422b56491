// The hashes by which servers name files, fed piece by piece. libcrypto's, which hasher.cc alone includes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "store/fetch.h"

namespace vitro {

/// What is told and asked while a long file is summed; each may be empty.
struct HashWatch {
  std::function<void(uint64_t n_done, uint64_t n_total)> on_bytes;
  std::function<bool()> is_cancelled;
};

class Hasher {
 public:
  /// n_bytes: length of the whole, which git hashes first. kNone hashes nothing.
  Hasher(HashKind kind, uint64_t n_bytes);
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  void add(std::string_view bytes);
  /// Adds the first n_bytes of a file that is open under that path. IoError, also if it has fewer; Cancelled.
  Status add_file(const UniqueFd& file, const std::filesystem::path& path, uint64_t n_bytes, const HashWatch& watch);
  /// Lower-case hexadecimal digits of all that was added; empty for kNone. Once.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// "sha256", "git sha1", "none".
std::string_view hash_kind_name(HashKind kind);

}  // namespace vitro
