#include "store/resolve.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "embedded/embedded_model.h"
#include "store/snapshot.h"
#include "store/vitro_cache.h"

namespace vitro {
namespace fs = std::filesystem;
namespace {

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found;  // a link that leads nowhere is there
}

/// Nothing that a repository is called; the model in the program is opened by its name (embedded/open_model.h).
bool must_be_path(std::string_view text) {
  constexpr std::array<std::string_view, 8> kEnds = {".gguf",  ".json",  ".bin",      ".safetensors",
                                                     ".model", ".jinja", ".tiktoken", ".txt"};
  if (text == kEmbeddedModel) return true;
  if (text.empty() || text[0] == '/' || text[0] == '.' || text[0] == '~' || text.ends_with('/')) return true;
  const std::string_view repo = text.substr(0, text.find_first_of(":@"));
  if (std::count(repo.begin(), repo.end(), '/') > 1) return true;
  return repo == text &&
         std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) { return text.ends_with(end); });
}

}  // namespace

Result<ModelName> find_name(std::string_view text, const Caches& caches) {
  if (text == kEmbeddedModel) {
    return fail(ErrorCode::kInvalidArgument, "{}: is part of this program; there is nothing to fetch or to remove",
                text);
  }
  const std::vector<std::string> here = caches.hf.repos();
  const bool is_here = std::binary_search(here.begin(), here.end(), text);
  if (is_here && find_known_model(text) == nullptr) return ModelName{nullptr, {.repo = std::string(text)}};
  return parse_model_name(text, here);
}

Result<std::optional<fs::path>> find_stored(const ModelName& name, bool needs_weights, const Caches& caches) {
  if (name.known) {
    if (!is_here(*name.known, caches.vitro)) return std::nullopt;
    return caches.vitro / name.known->entry();
  }
  VITRO_TRY_ASSIGN(const std::optional<std::string> commit,
                   caches.hf.commit_of(name.hub.repo, name.hub.revision_or_default()));
  if (!commit) return std::nullopt;
  auto path = find_in_snapshot(caches.hf, name.hub, *commit, needs_weights);
  if (!path && path.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!path) return fail(std::move(path).error());
  return *std::move(path);
}

Result<Resolved> resolve_model(std::string_view text, bool needs_weights, const Caches& caches) {
  if (must_be_path(text) || is_there(text)) return Resolved{fs::path(text), std::nullopt};
  VITRO_TRY_ASSIGN(const ModelName name, find_name(text, caches));
  VITRO_TRY_ASSIGN(const std::optional<fs::path> path, find_stored(name, needs_weights, caches));
  if (path) return Resolved{*path, name};
  return Resolved{{}, name};
}

}  // namespace vitro
