#include "store/vitro_cache.h"

#include <system_error>

#include "base/read_file.h"
#include "base/write_file.h"

namespace vitro {
namespace fs = std::filesystem;
namespace {

/// The record's text, as sha256sum writes it.
std::string record_of(const KnownModel& model) {
  std::string out;
  for (const KnownFile& file : model.files) {
    out += fmt::format("{}  {}\n", file.sha256, file_path(model, file, "").string());
  }
  return out;
}

bool is_file_of(const fs::path& path, uint64_t n_bytes) {
  std::error_code error;
  return fs::is_regular_file(path, error) && fs::file_size(path, error) == n_bytes && !error;
}

}  // namespace

fs::path file_path(const KnownModel& model, const KnownFile& file, const fs::path& cache) {
  return model.folder.empty() ? cache / file.name : cache / model.folder / file.name;
}

fs::path record_path(const KnownModel& model, const fs::path& cache) {
  return cache / fmt::format("{}.sha256", model.entry());
}

fs::path known_lock(const fs::path& cache) { return cache / ".fetch.lock"; }

Result<std::string> sha256_of(const fs::path& path, const HashWatch& watch) {
  VITRO_TRY_ASSIGN(const UniqueFd file, open_to_read(path));
  VITRO_TRY_ASSIGN(const uint64_t n_bytes, size_of(file, path));
  Hasher hasher(HashKind::kSha256, n_bytes);
  VITRO_TRY(hasher.add_file(file, path, n_bytes, watch));
  return hasher.finish();
}

bool is_here(const KnownModel& model, const fs::path& cache) {
  for (const KnownFile& file : model.files) {
    if (!is_file_of(file_path(model, file, cache), file.n_bytes)) return false;
  }
  return true;
}

Result<bool> is_right(const KnownModel& model, const fs::path& cache, const HashWatch& watch) {
  if (!is_here(model, cache)) return false;
  const std::string expected = record_of(model);
  if (read_small_file(record_path(model, cache), expected.size()) == expected) return true;
  uint64_t n_done = 0;
  HashWatch of_file = watch;
  if (watch.on_bytes) of_file.on_bytes = [&](uint64_t n, uint64_t) { watch.on_bytes(n_done + n, model.n_bytes()); };
  for (const KnownFile& file : model.files) {
    VITRO_TRY_ASSIGN(const std::string sum, sha256_of(file_path(model, file, cache), of_file));
    if (sum != file.sha256) return false;
    n_done += file.n_bytes;
  }
  const Status ignored = write_record(model, cache);  // without it they are summed again next time
  return true;
}

Status write_record(const KnownModel& model, const fs::path& cache) {
  return write_file(record_path(model, cache), record_of(model), true);
}

}  // namespace vitro
