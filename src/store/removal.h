// Removing a model from its cache: planned first, so that it can be shown and asked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "base/result.h"
#include "store/names.h"
#include "store/stored_models.h"

namespace vitro {

/// What goes.
struct Removal {
  std::vector<std::filesystem::path> paths;  ///< files and links, then folders, in the order in which they go
  uint64_t n_freed_bytes = 0;
  std::filesystem::path top;  ///< all of them are below it, or are it
  /// Of some of the paths the lock that whoever writes them holds. The locks themselves stay.
  std::map<std::filesystem::path, std::filesystem::path> locks;
};

/// smollm2: its files. owner/name: all revisions of the repository. owner/name@revision: that one, and the blobs that
/// no other uses. owner/name:file.gguf: that file in that revision, and its blob if no other file is the same; with its
/// last file a revision goes. Touches nothing. NotFound if it is not here; Corrupt if a ref holds no commit, or
/// the link of a file leads out of the cache or nowhere; InvalidArgument if a folder on the way is a link.
Result<Removal> plan_removal(const ModelName& name, const Caches& caches);

/// IoError before anything goes if another process downloads one of them; with the first path that would not go: those
/// after it are left.
Status remove_paths(const Removal& removal);

}  // namespace vitro
