// The cache of the Hugging Face tools, so that models they downloaded are found here and ours are found by them.
// Layout (huggingface_hub, "Understand caching"):
//   ROOT/models--owner--name/blobs/ETAG                 the bytes, once
//                           /snapshots/COMMIT/FILE      link to ../../blobs/ETAG (a file where there are no links)
//                           /refs/REVISION              the commit that a branch or tag was, without a line end
//                           /.no_exist/COMMIT/FILE      empty: the repository has no such file
//   ROOT/.locks/models--owner--name/ETAG.lock           flock'ed while the blob is written
// Names come from strangers: they are checked here (names.h) before a path is made of them, and a link is followed only
// to a regular file below ROOT.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace vitro {

class HfCache {
 public:
  /// HF_HUB_CACHE, else HUGGINGFACE_HUB_CACHE, else HF_HOME/hub, else XDG_CACHE_HOME/huggingface/hub, else
  /// ~/.cache/huggingface/hub; "~" and $NAME are expanded as those tools do.
  static HfCache from_environment();
  explicit HfCache(std::filesystem::path root) : root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }

  // Where things are or will be; pure. The names must have been checked (names.h; an ETag by is_blob_name).
  std::filesystem::path repo_folder(std::string_view repo) const;
  std::filesystem::path blob(std::string_view repo, std::string_view etag) const;
  std::filesystem::path lock(std::string_view repo, std::string_view etag) const;
  std::filesystem::path snapshot(std::string_view repo, std::string_view commit) const;
  std::filesystem::path pointer(std::string_view repo, std::string_view commit, std::string_view file) const;

  /// The commit of a branch or tag as last seen, the revision itself if it is a commit, else nothing. Corrupt if the
  /// ref holds something else than a commit.
  Result<std::optional<std::string>> commit_of(std::string_view repo, std::string_view revision) const;
  /// Files of a snapshot, sorted, as far as they lead to regular files below the root. Corrupt with the path for a link
  /// that leads elsewhere, in a circle, or nowhere; for more than 100,000 files or folders 16 deep.
  Result<std::vector<std::string>> files(std::string_view repo, std::string_view commit) const;
  /// The file behind a name of a snapshot; nothing if it is not there. Corrupt as in files().
  Result<std::optional<std::filesystem::path>> find(std::string_view repo, std::string_view commit,
                                                    std::string_view file) const;
  /// True if a puller noted that the repository has no such file.
  bool is_known_missing(std::string_view repo, std::string_view commit, std::string_view file) const;

  // Changing; each step leaves a cache that every reader understands. Callers make blobs (fetch.h).
  /// Makes the folders for a repository's blobs and locks, and CACHEDIR.TAG in the root. IoError.
  Status prepare(std::string_view repo) const;
  /// Lets the snapshot's FILE lead to the blob; replaces what was there in one step. IoError.
  Status link(std::string_view repo, std::string_view commit, std::string_view file, std::string_view etag) const;
  /// After the links, so that no ref leads nowhere. Nothing for a revision that is the commit. IoError.
  Status write_ref(std::string_view repo, std::string_view revision, std::string_view commit) const;

 private:
  std::filesystem::path root_;
};

/// An ETag without quotes and "W/" that is safe as a file name: 1 to 128 of A-Z a-z 0-9 - _ .; no '.' at the front.
bool is_blob_name(std::string_view etag);

}  // namespace vitro
