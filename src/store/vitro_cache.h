// Vitro's own cache (base/cache_folder.h): where the models that we know (known_models.h) lie. A record beside a model,
// NAME.sha256 in the format of sha256sum, says that its bytes were summed.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "store/hasher.h"
#include "store/known_models.h"

namespace vitro {

/// All files are there with their sizes. Bytes are not looked at.
bool is_here(const KnownModel& model, const std::filesystem::path& cache);
/// As is_here, and the sums are right: as recorded, else by reading the files (they are recorded then). The bytes that
/// `watch` is told of are the model's. IoError, Cancelled.
Result<bool> is_right(const KnownModel& model, const std::filesystem::path& cache, const HashWatch& watch = {});

/// Where a model's file lies, and its record.
std::filesystem::path file_path(const KnownModel& model, const KnownFile& file, const std::filesystem::path& cache);
std::filesystem::path record_path(const KnownModel& model, const std::filesystem::path& cache);
/// The lock of whoever changes the cache.
std::filesystem::path known_lock(const std::filesystem::path& cache);
/// Writes the record. IoError.
Status write_record(const KnownModel& model, const std::filesystem::path& cache);

/// SHA-256 of a file in lower-case hexadecimal. Errors as open_to_read (base/read_file.h); IoError, also for a file
/// that becomes shorter meanwhile; Cancelled.
Result<std::string> sha256_of(const std::filesystem::path& path, const HashWatch& watch);

}  // namespace vitro
