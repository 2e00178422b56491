// From a MODEL argument to what can be opened, with what is on this machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "store/names.h"
#include "store/stored_models.h"

namespace vitro {

/// What a MODEL argument leads to.
struct Resolved {
  std::filesystem::path path;     ///< to open; empty: the name is one, but its model is not here
  std::optional<ModelName> name;  ///< the text is one, and no path: what to pull if it is not here
};

/// A path that exists is taken as it is, and so is what can only be a path (it begins with '/', '.' or '~', has two or
/// more slashes, or ends like a model file): opening it says what is wrong. All else is a name: see names.h.
/// NotFound, with the nearest names of models here and known ones, for a word that is no name; InvalidArgument and
/// Corrupt as parse_model_name and find_in_snapshot.
Result<Resolved> resolve_model(std::string_view text, bool needs_weights, const Caches& caches);

/// The name that the text is: a repository that is here under this very name (also one without an owner), else as
/// parse_model_name. InvalidArgument for the model in the program, which is in no cache.
Result<ModelName> find_name(std::string_view text, const Caches& caches);

/// The path of a model that is here, nothing if it is not. Errors as find_in_snapshot.
Result<std::optional<std::filesystem::path>> find_stored(const ModelName& name, bool needs_weights,
                                                         const Caches& caches);

}  // namespace vitro
