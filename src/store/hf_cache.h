// The cache of the Hugging Face tools, so that models they downloaded are found here and ours are found by them.
// Layout (huggingface_hub, "Understand caching"):
//   ROOT/models--owner--name/blobs/ETAG                 the bytes, once
//                           /snapshots/COMMIT/FILE      link to ../../blobs/ETAG (a file where there are no links)
//                           /refs/REVISION              the commit that a branch or tag was, without a line end
//                           /.no_exist/COMMIT/FILE      empty: the repository has no such file
//   ROOT/.locks/models--owner--name/ETAG.lock           flock'ed while the blob is written
// Names come from strangers: callers check them (names.h, hub.h) before a path is made of them; links are followed only
// to regular files below ROOT.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/fetch.h"

namespace vitro {

/// What the first of these variables of the environment says that is set and not empty, with "~" and $NAME expanded as
/// the Hugging Face tools do.
std::optional<std::filesystem::path> path_in_environment(std::initializer_list<const char*> names);

/// HF_HOME, else XDG_CACHE_HOME/huggingface, else ~/.cache/huggingface.
std::filesystem::path hf_home();

class HfCache {
 public:
  /// HF_HUB_CACHE, else HUGGINGFACE_HUB_CACHE, else hf_home()/hub.
  static HfCache from_environment();
  explicit HfCache(const std::filesystem::path& root);

  const std::filesystem::path& root() const { return root_; }

  // Where things are or will be; pure.
  std::filesystem::path repo_folder(std::string_view repo) const;
  std::filesystem::path lock_folder(std::string_view repo) const;
  std::filesystem::path snapshot(std::string_view repo, std::string_view commit) const;
  std::filesystem::path ref(std::string_view repo, std::string_view revision) const;
  /// Where fetch_file puts a blob, with the names of the Hugging Face tools.
  FetchPaths blob(std::string_view repo, std::string_view etag) const;

  /// Names of the repositories of models here, sorted. A folder whose name is none is left out.
  std::vector<std::string> repos() const;
  /// The commits of which there is a snapshot, sorted; not more than 10,000.
  std::vector<std::string> commits(std::string_view repo) const;
  /// The commit of a branch or tag as last seen, the revision itself if it is a commit, else nothing. Corrupt if the
  /// ref holds something else than a commit.
  Result<std::optional<std::string>> commit_of(std::string_view repo, std::string_view revision) const;
  /// Files of a snapshot, sorted. Corrupt with the path for a link that leads out of the cache, in a circle, or
  /// nowhere; for more than 100,000 entries or folders 16 deep.
  Result<std::vector<std::string>> files(std::string_view repo, std::string_view commit) const;
  /// Where a path of this cache leads in the end: to a regular file below the root. NotFound if there is nothing,
  /// Corrupt as in files().
  Result<std::filesystem::path> follow(const std::filesystem::path& path) const;
  /// Corrupt if the folder, or one on the way to it, leads out of the cache. One that is not there is fine.
  Status check_folder(const std::filesystem::path& folder) const;

  // Changing; every step leaves a cache that all readers understand. Blobs are made by fetch_file.
  /// Makes the folders of a repository, and CACHEDIR.TAG in the root. IoError; Corrupt as in check_folder.
  Status prepare(std::string_view repo, std::string_view commit) const;
  /// Lets the snapshot's FILE lead to the blob, in one step. IoError.
  Status link(std::string_view repo, std::string_view commit, std::string_view file, std::string_view etag) const;
  /// To be called after the links, so that no ref leads nowhere: waits until the disk has them. No ref is written for a
  /// revision that is the commit. What is half-way lies among the blobs, for readers take all below refs for refs.
  /// IoError.
  Status write_ref(std::string_view repo, std::string_view revision, std::string_view commit) const;

 private:
  std::filesystem::path root_;
};

}  // namespace vitro
