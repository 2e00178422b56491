// Verification of many goldens: each checkpoint of a folder and, where there is one, its GGUF twin (the same weights,
// as a converter writes them) against the same expectations.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "inspect/verify.h"
#include "model/arch/architecture.h"

namespace vitro {

/// What was found about one golden. Whatever cannot run yet (Unsupported) is neither passed nor failed.
struct GoldenVerdict {
  std::filesystem::path folder;
  const Architecture* arch = nullptr;  ///< null where the description cannot be read
  std::string attention, positions;    ///< in words; empty where the description cannot be read
  Result<VerifyReport> report;
  std::optional<Result<VerifyReport>> twin;  ///< nothing: there is no twin, or the golden itself cannot run
  /// Knobs (of config_differences) that the twin sets otherwise: because its file is silent about them, or by its word.
  std::vector<std::string> twin_cannot_say = {}, twin_contradicts = {};

  bool is_implemented() const;
  /// The golden does not agree with the reference, or its twin does not. A twin whose file is silent about a fact, as
  /// GGUF is about some, only has to run.
  bool has_failed() const;
};

/// The sub-folders of `dir` with config.json and expected.safetensors, by name. NotFound if there is none.
Result<std::vector<std::filesystem::path>> golden_folders(const std::filesystem::path& dir);

/// Verifies one golden, and twin_path as well unless it is empty. Errors are part of the verdict.
GoldenVerdict verify_golden(const std::filesystem::path& folder, const std::filesystem::path& twin_path,
                            const VerifyOptions& options, OpContext ctx);

}  // namespace vitro
