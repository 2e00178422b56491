#include "inspect/verify_golden.h"

#include <algorithm>
#include <system_error>

#include "model/differences.h"
#include "model/words.h"

namespace vitro {
namespace {

bool is_unsupported(const Result<VerifyReport>& report) {
  return !report && report.error().code == ErrorCode::kUnsupported;
}

Result<ModelDescription> describe(const std::filesystem::path& path) {
  VITRO_TRY_ASSIGN(const Checkpoint checkpoint, Checkpoint::open(path, {.needs_weights = false}));
  return describe_model(checkpoint);
}

/// Whether the file itself gave the value that goes by this name.
bool is_said(const ModelConfig& config, std::string_view name) {
  return std::any_of(config.values.begin(), config.values.end(), [&](const ConfigValue& value) {
    return value.name == name && value.origin == ValueOrigin::kFile;
  });
}

void compare_descriptions(const ModelConfig& golden, const ModelConfig& twin, GoldenVerdict* verdict) {
  for (std::string& name : config_differences(golden, twin))
    (is_said(twin, name) ? verdict->twin_contradicts : verdict->twin_cannot_say).push_back(std::move(name));
}

}  // namespace

bool GoldenVerdict::is_implemented() const { return !is_unsupported(report); }

bool GoldenVerdict::has_failed() const {
  if (!is_implemented()) return false;
  if (!report || !report->passed()) return true;
  if (!twin || is_unsupported(*twin)) return false;
  const bool is_excused = !twin_cannot_say.empty() && twin_contradicts.empty();
  return !*twin || (!(*twin)->passed() && !is_excused);
}

Result<std::vector<std::filesystem::path>> golden_folders(const std::filesystem::path& dir) {
  std::vector<std::filesystem::path> folders;
  std::error_code error;
  for (std::filesystem::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    if (exists(it->path() / "config.json", error) && exists(it->path() / "expected.safetensors", error))
      folders.push_back(it->path());
    error.clear();
  }
  if (error) return fail(ErrorCode::kNotFound, "{}: cannot be listed: {}", dir.string(), error.message());
  if (folders.empty()) {
    return fail(ErrorCode::kNotFound, "{}: no folder in it has config.json and expected.safetensors", dir.string());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

GoldenVerdict verify_golden(const std::filesystem::path& folder, const std::filesystem::path& twin_path,
                            const VerifyOptions& options, OpContext ctx) {
  GoldenVerdict verdict{.folder = folder, .report = verify_folder(folder, options, ctx)};
  const auto description = describe(folder);
  if (description) {
    verdict.arch = description->arch;
    verdict.attention = attention_kind(description->config);
    verdict.positions = position_kind(description->config);
  }
  if (!verdict.report || twin_path.empty()) return verdict;
  VerifyOptions with_twin = options;
  with_twin.model = twin_path;
  verdict.twin = verify_folder(folder, with_twin, ctx);
  const auto twin = describe(twin_path);
  if (description && twin) compare_descriptions(description->config, twin->config, &verdict);
  return verdict;
}

}  // namespace vitro
