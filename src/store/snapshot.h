// What of a snapshot in the Hugging Face cache a command can open.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/hf_cache.h"
#include "store/names.h"

namespace vitro {

/// A folder (config.json and all its weights), or a .gguf file: the one that `name` wants, or the only one.
/// needs_weights: false lets a folder without weights pass, for its tokenizer or description.
/// NotFound where there is nothing of the kind (half a model is none); InvalidArgument, with their names, where one of
/// several .gguf files must be chosen; Corrupt as HfCache::files.
Result<std::filesystem::path> find_in_snapshot(const HfCache& cache, const HubName& name, std::string_view commit,
                                               bool needs_weights);

/// The file among `files` (sorted) whose path `wanted` is, else the .gguf that it names by gguf_choice.h; empty: the
/// only one. Errors as above; `where` names the repository in them.
Result<std::string> choose_gguf(const std::vector<std::string>& files, std::string_view wanted, std::string_view where);

}  // namespace vitro
