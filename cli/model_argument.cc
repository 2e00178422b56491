#include "cli/model_argument.h"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include "cli/pull_progress.h"
#include "cli/terminal.h"
#include "store/hf_cache.h"
#include "store/remote_headers.h"
#include "store/resolve.h"

namespace vitro {

void add_pull_flag(CLI::App& app, ModelSearch& search, const std::string& of) {
  app.add_flag("--pull", search.may_pull,
               of + " is fetched if it is a name and not here; on a terminal that needs no --pull")
      ->group("Model");
}

CLI::Option* add_model_option(CLI::App& app, std::string& model, ModelSearch& search, const std::string& what) {
  add_pull_flag(app, search, "MODEL");
  return app.add_option("MODEL", model, what + "; or a name, as for 'vitro pull'");
}

namespace {

/// The path, after a pull if that is needed and allowed.
Result<std::filesystem::path> path_of(const Resolved& resolved, const ModelSearch& search, const Caches& caches) {
  if (!resolved.path.empty()) return resolved.path;
  if (!search.may_pull && !is_terminal(STDERR_FILENO)) {
    const std::string name = to_string(*resolved.name);
    return fail(ErrorCode::kNotFound, "{}: not here; 'vitro pull {}' fetches it, and so does this command with --pull",
                name, name);
  }
  VITRO_TRY_ASSIGN(Pulled pulled, pull_with_progress(*resolved.name, caches));
  return std::move(pulled.path);
}

/// The headers of a model on the hub, in a folder of their own.
Result<LocatedDescription> fetch_description(const ModelName& name, const HttpOptions& http) {
  VITRO_TRY_ASSIGN(const Hub hub, hub_from_environment(hf_home()));
  VITRO_TRY_ASSIGN(WorkFolder folder, WorkFolder::make(std::filesystem::temp_directory_path(), "vitro-headers-"));
  talk("{}: not here; reading its headers from the hub\n", to_string(name));
  HttpConnection connection(http);
  Progress progress(name.hub.repo + " (headers)");
  const auto on_file = [&](size_t n_done, size_t n_total) {
    progress.update(static_cast<int64_t>(n_done), static_cast<int64_t>(n_total));
  };
  VITRO_TRY_ASSIGN(std::filesystem::path path, fetch_headers(name.hub, hub, folder.path(), connection, on_file));
  return LocatedDescription{std::move(path), std::move(folder)};
}

/// The same; ctrl-C stops it in good order from before the folder is made, so that the folder goes.
Result<LocatedDescription> fetch_description_in_sight(const ModelName& name) {
  HttpOptions http;
  http.is_cancelled = [] { return is_interrupted(); };
  catch_interrupt();
  auto located = fetch_description(name, http);
  release_interrupt();
  return located;
}

}  // namespace

Status locate_model(std::string& model, const ModelSearch& search) {
  const Caches caches = Caches::from_environment();
  VITRO_TRY_ASSIGN(const Resolved resolved, resolve_model(model, search.needs_weights, caches));
  VITRO_TRY_ASSIGN(const std::filesystem::path path, path_of(resolved, search, caches));
  model = path.string();
  return {};
}

Result<LocatedDescription> locate_description(const std::string& model, const ModelSearch& search) {
  const Caches caches = Caches::from_environment();
  VITRO_TRY_ASSIGN(const Resolved resolved, resolve_model(model, false, caches));
  const bool is_remote = resolved.path.empty() && !resolved.name->known && !search.may_pull;
  if (!is_remote) {
    VITRO_TRY_ASSIGN(std::filesystem::path path, path_of(resolved, search, caches));
    return LocatedDescription{std::move(path)};
  }
  return fetch_description_in_sight(*resolved.name);
}

}  // namespace vitro
