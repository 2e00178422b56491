#include "store/hasher.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "base/check.h"
#include "base/read_file.h"

namespace vitro {

struct Hasher::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() = default;
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Hasher::Hasher(HashKind kind, uint64_t n_bytes) {
  if (kind == HashKind::kNone) return;
  state_ = std::make_unique<State>();
  const EVP_MD* algorithm = kind == HashKind::kSha256 ? EVP_sha256() : EVP_sha1();
  VITRO_CHECK(EVP_DigestInit_ex(state_->context, algorithm, nullptr) == 1);
  if (kind == HashKind::kGitSha1) add(fmt::format("blob {}{}", n_bytes, '\0'));
}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::add(std::string_view bytes) {
  if (state_) EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

Status Hasher::add_file(const UniqueFd& file, const std::filesystem::path& path, uint64_t n_bytes,
                        const HashWatch& watch) {
  uint64_t n_done = 0;
  const auto take = [&](std::string_view piece) -> Status {
    if (watch.is_cancelled && watch.is_cancelled()) return fail(ErrorCode::kCancelled, "stopped");
    add(piece);
    n_done += piece.size();
    if (watch.on_bytes) watch.on_bytes(n_done, n_bytes);
    return {};
  };
  VITRO_TRY_ASSIGN(const uint64_t n_read, read_pieces(file, path, n_bytes, take));
  if (n_read == n_bytes) return {};
  return fail(ErrorCode::kIoError, "{}: became shorter while it was read", path.string());
}

std::string Hasher::finish() {
  if (!state_) return {};
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned n_bytes = 0;
  EVP_DigestFinal_ex(state_->context, digest.data(), &n_bytes);
  std::string out;
  for (unsigned i = 0; i < n_bytes; ++i) out += fmt::format("{:02x}", digest[i]);
  return out;
}

std::string_view hash_kind_name(HashKind kind) {
  switch (kind) {
    case HashKind::kSha256:
      return "sha256";
    case HashKind::kGitSha1:
      return "git sha1";
    case HashKind::kNone:
      break;
  }
  return "none";
}

}  // namespace vitro
