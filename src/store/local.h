// What models are here: in Vitro's cache and in that of the Hugging Face tools.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/hf_cache.h"
#include "store/names.h"

namespace vitro {

/// A model in a cache: a known one, or one revision of a repository.
struct LocalModel {
  std::string name;            ///< a MODEL argument that finds it again
  std::string type;            ///< "safetensors BF16", "GGUF Q4_1 F32", "tokenizer"; of the tensors, most bytes first
  std::string license;         ///< as the model says it; empty: it does not
  uint64_t n_bytes = 0;        ///< on the disk; a blob that revisions share counts in each
  std::filesystem::path path;  ///< what a command opens
  std::string commit;          ///< of a repository; empty for a known model
  std::string problem;         ///< why it cannot be used; empty: it can
};

struct LocalModels {
  std::vector<LocalModel> models;  ///< sorted by name
  uint64_t n_bytes = 0;            ///< of all of them, each blob once
};

/// Reads both caches. A cache that is not there holds nothing; a model that is broken is listed with its problem.
LocalModels local_models();

/// The path of a model that is in a cache. NotFound names `vitro pull NAME`.
Result<std::filesystem::path> find_local(const ModelName& name);

/// What removing a model would do.
struct Removal {
  std::vector<std::filesystem::path> paths;  ///< files, links and then folders, in the order in which they go
  uint64_t n_freed_bytes = 0;                ///< blobs that other revisions use stay and do not count
};
/// Plans it; touches nothing. NotFound if the model is not there; Corrupt if one of the paths is outside its cache.
Result<Removal> plan_removal(const ModelName& name);
/// IoError with the first path that would not go; the rest of the cache is as it was.
Status remove(const Removal& removal);

}  // namespace vitro
