// The MODEL argument that commands share: a path, or the name of a model that is here or can be had.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/cli11_fwd.h"
#include "store/work_folder.h"

namespace vitro {

/// What may be done for a MODEL.
struct ModelSearch {
  bool may_pull = false;      ///< --pull: get it if it is not here, also where nobody watches
  bool needs_weights = true;  ///< false: its tokenizer or description is enough
};

/// --pull, for a model that the argument `of` names.
void add_pull_flag(CLI::App& app, ModelSearch& search, const std::string& of);
/// "MODEL" with its help (`what` are the files that it may be), and --pull.
CLI::Option* add_model_option(CLI::App& app, std::string& model, ModelSearch& search, const std::string& what);

/// Makes a path of a MODEL that is a name. A model that is not here is pulled, with progress, if search.may_pull or if
/// stderr is a terminal. NotFound otherwise, which names `vitro pull`; errors as resolve_model and pull.
Status locate_model(std::string& model, const ModelSearch& search);

/// Where the description of a MODEL is.
struct LocatedDescription {
  std::filesystem::path path;
  std::optional<WorkFolder> folder = {};  ///< what was fetched for it; goes when this does
};
/// As locate_model without weights; of a repository of the hub that is not here, headers alone are fetched
/// (store/remote_headers.h), with a line that says so. An open file stays readable when the folder goes.
Result<LocatedDescription> locate_description(const std::string& model, const ModelSearch& search);

}  // namespace vitro
