#include "store/vitro_cache.h"

#include <system_error>

#include "base/write_file.h"
#include "formats/mapped_file.h"
#include "store/hasher.h"

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

Result<std::string> sha256_of(const fs::path& path) {
  constexpr size_t kPiece = size_t{1} << 24;
  VITRO_TRY_ASSIGN(const MappedFile file, MappedFile::open(path));
  Hasher hasher(HashKind::kSha256, file.bytes().size());
  for (size_t at = 0; at < file.bytes().size(); at += kPiece) {
    hasher.add(file.text().substr(at, kPiece));
    file.release(at, kPiece);
  }
  return hasher.finish();
}

bool is_here(const KnownModel& model, const fs::path& cache) {
  for (const KnownFile& file : model.files) {
    if (!is_file_of(file_path(model, file, cache), file.n_bytes)) return false;
  }
  return true;
}

Result<bool> is_right(const KnownModel& model, const fs::path& cache) {
  if (!is_here(model, cache)) return false;
  const auto record = MappedFile::open(record_path(model, cache), LoadMode::kRead);
  if (record && record->text() == record_of(model)) return true;
  for (const KnownFile& file : model.files) {
    VITRO_TRY_ASSIGN(const std::string sum, sha256_of(file_path(model, file, cache)));
    if (sum != file.sha256) return false;
  }
  const Status ignored = write_record(model, cache);  // without it they are summed again next time
  return true;
}

Status write_record(const KnownModel& model, const fs::path& cache) {
  return write_file(record_path(model, cache), record_of(model), true);
}

}  // namespace vitro
