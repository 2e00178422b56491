#include "store/removal.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <system_error>

#include "store/file_lock.h"
#include "store/snapshot.h"
#include "store/vitro_cache.h"

namespace vitro {
namespace fs = std::filesystem;
namespace {

using Paths = std::vector<fs::path>;

tl::unexpected<Error> fail_absent(std::string_view name) {
  return fail(ErrorCode::kNotFound, "{}: not here; 'vitro models' lists what is", name);
}

fs::file_status status_of(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error);
}

/// The path itself, or all below it and then it; links are not followed. Nothing if it is not there.
Paths tree_of(const fs::path& top) {
  if (!fs::exists(status_of(top))) return {};
  Paths files, folders;
  (fs::is_directory(status_of(top)) ? folders : files).push_back(top);
  std::error_code error;
  for (fs::recursive_directory_iterator it(folders.empty() ? fs::path() : top, error), end; !error && it != end;
       it.increment(error)) {
    (fs::is_directory(status_of(it->path())) ? folders : files).push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  std::sort(folders.rbegin(), folders.rend());  // inner ones before outer ones
  files.insert(files.end(), folders.begin(), folders.end());
  return files;
}

/// The lists one after the other, each path once, with the bytes of its regular files.
Removal removal_of(const std::vector<Paths>& lists) {
  Removal out;
  std::set<fs::path> seen;
  for (const Paths& list : lists) {
    for (const fs::path& path : list) {
      const fs::file_status status = status_of(path);
      if (!fs::exists(status) || !seen.insert(path).second) continue;
      std::error_code error;
      if (fs::is_regular_file(status)) out.n_freed_bytes += fs::file_size(path, error);
      out.paths.push_back(path);
    }
  }
  return out;
}

Result<Removal> plan_known(const KnownModel& model, const fs::path& cache) {
  std::vector<Paths> lists = {{record_path(model, cache)}};  // first: half a model must not count as right
  lists.push_back(tree_of(cache / model.entry()));
  Removal out = removal_of(lists);
  if (out.paths.empty()) return fail_absent(model.name);
  out.top = cache;
  for (const fs::path& path : out.paths) out.locks[path] = known_lock(cache);
  return out;
}

/// InvalidArgument if a folder of the cache is a link, or behind one: what it leads to is another repository's, with
/// locks of its own, or no cache's.
Status check_no_link(const fs::path& folder, const HfCache& cache) {
  for (fs::path path = folder; path != cache.root() && path.has_relative_path(); path = path.parent_path()) {
    if (!fs::is_symlink(status_of(path))) continue;
    return fail(ErrorCode::kInvalidArgument, "{}: is a link that no tool made, and stays; remove it yourself",
                path.string());
  }
  return {};
}

/// One repository of the Hugging Face cache. Refs go first, so that no reader follows one to what is gone.
class RepoRemoval {
 public:
  RepoRemoval(const HfCache& cache, const HubName& name)
      : cache_(cache), name_(name), folder_(cache.repo_folder(name.repo)) {}

  Result<Removal> all() const {
    if (!fs::is_directory(status_of(folder_))) return fail_absent(name_.repo);
    return removal_of({tree_of(folder_ / "refs"), tree_of(folder_ / "snapshots"), tree_of(folder_)});
  }

  Result<Removal> revision(const std::string& commit) const {
    const std::vector<std::string> commits = cache_.commits(name_.repo);
    if (!std::binary_search(commits.begin(), commits.end(), commit)) return fail_absent(name_.repo + "@" + commit);
    if (commits.size() == 1) return all();
    std::set<fs::path> goes = blobs_of(commit);
    for (const std::string& other : commits) {
      if (other == commit) continue;
      for (const fs::path& blob : blobs_of(other)) goes.erase(blob);
    }
    return removal_of({refs_to(commit),
                       tree_of(cache_.snapshot(name_.repo, commit)),
                       tree_of(folder_ / ".no_exist" / commit),
                       {goes.begin(), goes.end()}});
  }

  /// One file of a revision: its link, and the blob if nothing else leads to it.
  Result<Removal> file(const std::string& commit) const {
    VITRO_TRY_ASSIGN(const fs::path pointer, find_in_snapshot(cache_, name_, commit, false));
    VITRO_TRY_ASSIGN(const std::vector<std::string> files, cache_.files(name_.repo, commit));
    if (files.size() == 1) return revision(commit);
    int n_users = 0;
    const fs::path blob = first_hop(pointer);
    for (const std::string& other : cache_.commits(name_.repo)) {
      for (const fs::path& path : tree_of(cache_.snapshot(name_.repo, other)))
        n_users += first_hop(path) == blob ? 1 : 0;
    }
    if (n_users > 1 || !is_blob(blob)) return removal_of({{pointer}});
    return removal_of({{pointer}, {blob}});
  }

 private:
  /// What a link says, from the place where it lies; any other path as it is. (A blob may itself be a link into a store
  /// that repositories share: that store is not ours to clear.)
  static fs::path first_hop(const fs::path& path) {
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    return error ? path : (path.parent_path() / target).lexically_normal();
  }
  bool is_blob(const fs::path& path) const { return path.parent_path() == (folder_ / "blobs").lexically_normal(); }

  std::set<fs::path> blobs_of(const std::string& commit) const {
    std::set<fs::path> out;
    for (const fs::path& path : tree_of(cache_.snapshot(name_.repo, commit))) {
      if (const fs::path blob = first_hop(path); is_blob(blob)) out.insert(blob);
    }
    return out;
  }

  Paths refs_to(const std::string& commit) const {
    Paths out;
    for (const fs::path& path : tree_of(folder_ / "refs")) {
      if (fs::is_directory(status_of(path))) continue;
      const auto there = cache_.commit_of(name_.repo, path.lexically_relative(folder_ / "refs").generic_string());
      if (there && *there == commit) out.push_back(path);
    }
    return out;
  }

  const HfCache& cache_;
  const HubName& name_;
  const fs::path folder_;
};

Result<Removal> plan_hub(const HubName& name, const HfCache& cache) {
  VITRO_TRY(check_no_link(cache.repo_folder(name.repo), cache));
  const RepoRemoval removal(cache, name);
  if (name.wanted.empty() && !name.revision) return removal.all();
  const std::string revision = name.revision_or_default();
  VITRO_TRY_ASSIGN(const std::optional<std::string> commit, cache.commit_of(name.repo, revision));
  if (!commit) return fail_absent(fmt::format("{}@{}", name.repo, revision));
  return name.wanted.empty() ? removal.revision(*commit) : removal.file(*commit);
}

/// Of the blobs among the paths, whole or half.
std::map<fs::path, fs::path> locks_of(const Paths& paths, const HubName& name, const HfCache& cache) {
  constexpr std::string_view kHalf = ".incomplete";
  std::map<fs::path, fs::path> out;
  for (const fs::path& path : paths) {
    if (path.parent_path() != cache.blob(name.repo, "x").target.parent_path()) continue;
    std::string etag = path.filename().string();
    if (etag.ends_with(kHalf)) etag.resize(etag.size() - kHalf.size());
    out[path] = cache.blob(name.repo, etag).lock;
  }
  return out;
}

/// Nothing for a lock file that is not there: nobody holds it.
Result<std::optional<FileLock>> take_lock(const fs::path& path) {
  if (path.empty() || !fs::exists(status_of(path))) return std::nullopt;
  auto lock = FileLock::acquire(path, [] { return true; }, {});  // gives up at once
  if (lock) return std::optional<FileLock>(*std::move(lock));
  if (lock.error().code != ErrorCode::kCancelled) return fail(lock.error());
  return fail(ErrorCode::kIoError, "{}: another process holds this lock and downloads; stop it, or wait for it",
              path.string());
}

}  // namespace

Result<Removal> plan_removal(const ModelName& name, const Caches& caches) {
  if (name.known) return plan_known(*name.known, caches.vitro);
  VITRO_TRY_ASSIGN(Removal out, plan_hub(name.hub, caches.hf));
  out.top = caches.hf.repo_folder(name.hub.repo);
  out.locks = locks_of(out.paths, name.hub, caches.hf);
  std::set<fs::path> folders;
  for (const fs::path& path : out.paths) folders.insert(path.parent_path());
  for (const fs::path& folder : folders) VITRO_TRY(check_no_link(folder, caches.hf));
  return out;
}

Status remove_paths(const Removal& removal) {
  std::set<fs::path> locks;
  for (const auto& [path, lock] : removal.locks) locks.insert(lock);
  for (const fs::path& lock : locks) VITRO_TRY(take_lock(lock));
  for (const fs::path& path : removal.paths) {
    const auto locked = removal.locks.find(path);
    VITRO_TRY_ASSIGN(const std::optional<FileLock> lock,
                     take_lock(locked == removal.locks.end() ? fs::path() : locked->second));
    std::error_code error;
    fs::remove(path, error);
    if (error) return fail(ErrorCode::kIoError, "{}: cannot be removed: {}", path.string(), error.message());
  }
  return {};
}

}  // namespace vitro
