// Where tests find data: what the repository carries (tests/data, tests/golden) and, where it is present, the shared
// folder beside it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace vitro::testing {

/// A path below the repository, e.g. repo_path("tests/golden/llama-gqa").
inline std::filesystem::path repo_path(std::string_view relative) {
  return std::filesystem::path(VITRO_SOURCE_DIR) / relative;
}

/// A path below the shared folder (environment VITRO_SHARED, else ../shared beside the repository), or nothing where it
/// is absent.
inline std::optional<std::filesystem::path> shared_path(std::string_view relative) {
  const char* override_dir = std::getenv("VITRO_SHARED");
  const std::filesystem::path root =
      override_dir ? override_dir : std::filesystem::path(VITRO_SOURCE_DIR) / "../shared";
  const std::filesystem::path path = root / relative;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path;
}

/// The folder where the project's scripts keep downloaded models (environment VITRO_CACHE, else ~/.cache/vitro).
inline std::filesystem::path model_cache() {
  if (const char* dir = std::getenv("VITRO_CACHE")) return dir;
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home ? home : ".") / ".cache" / "vitro";
}

/// A downloaded model file, or nothing (the test then skips with one line).
inline std::optional<std::filesystem::path> cached_model(std::string_view file) {
  const std::filesystem::path path = model_cache() / file;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path;
}

}  // namespace vitro::testing
