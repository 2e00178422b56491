#include "cli/model_argument.h"

#include <unistd.h>

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

Status locate_model(std::string& model, const ModelSearch& search) {
  const Caches caches = Caches::from_environment();
  VITRO_TRY_ASSIGN(const Resolved resolved, resolve_model(model, search.needs_weights, caches));
  if (!resolved.path.empty()) {
    model = resolved.path.string();
    return {};
  }
  if (!search.may_pull && !is_terminal(STDERR_FILENO)) {
    const std::string name = to_string(*resolved.name);
    return fail(ErrorCode::kNotFound, "{}: not here; 'vitro pull {}' fetches it, and so does this command with --pull",
                name, name);
  }
  VITRO_TRY_ASSIGN(const Pulled pulled, pull_with_progress(*resolved.name, caches));
  model = pulled.path.string();
  return {};
}

Result<LocatedDescription> locate_description(const std::string& model, const ModelSearch& search) {
  const Caches caches = Caches::from_environment();
  VITRO_TRY_ASSIGN(const Resolved resolved, resolve_model(model, false, caches));
  const bool is_remote = resolved.path.empty() && !resolved.name->known && !search.may_pull;
  if (!is_remote) {
    std::string place = model;
    VITRO_TRY(locate_model(place, {.may_pull = search.may_pull, .needs_weights = false}));
    return LocatedDescription{place};
  }
  VITRO_TRY_ASSIGN(const Hub hub, hub_from_environment(hf_home()));
  VITRO_TRY_ASSIGN(WorkFolder folder, WorkFolder::make(std::filesystem::temp_directory_path(), "vitro-headers-"));
  talk("{}: not here; reading its headers from the hub\n", to_string(*resolved.name));
  VITRO_TRY_ASSIGN(std::filesystem::path path, fetch_headers(resolved.name->hub, hub, folder.path()));
  return LocatedDescription{std::move(path), std::move(folder)};
}

}  // namespace vitro
