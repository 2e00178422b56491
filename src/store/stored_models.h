// What models are here: in Vitro's cache and in that of the Hugging Face tools.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/hf_cache.h"

namespace vitro {

/// Where models are kept.
struct Caches {
  std::filesystem::path vitro;
  HfCache hf;

  static Caches from_environment();
};

/// A model in a cache: a known one, or a file or folder of one revision of a repository.
struct StoredModel {
  std::string name;            ///< a MODEL argument that finds it
  std::string type;            ///< "safetensors BF16", "GGUF Q4_1 F32": most bytes first; empty if it cannot be opened
  std::string license;         ///< as the model says it; empty: it does not
  uint64_t n_bytes = 0;        ///< on the disk; what revisions share counts in each
  std::filesystem::path path;  ///< what a command opens
  std::string commit;          ///< of a repository; empty for a known model
  std::string problem;         ///< why it cannot be used; empty: it can
};

struct StoredModels {
  std::vector<StoredModel> models;  ///< sorted by name
  uint64_t n_bytes = 0;             ///< of all of them, every blob once
};

/// Reads both caches. One that is not there holds nothing; a model that is broken is listed with its problem.
StoredModels list_models(const Caches& caches);

}  // namespace vitro
