#include "store/hf_cache.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <system_error>

#include "base/letters.h"
#include "base/read_file.h"
#include "base/write_file.h"
#include "store/incomplete_file.h"
#include "store/names.h"

namespace vitro {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMaxEntries = 100000;  // the largest repositories of models have some thousand files
constexpr int kMaxDepth = 16;
constexpr size_t kMaxCommits = 10000;
constexpr std::string_view kRepoPrefix = "models--";
constexpr std::string_view kCachedirTag =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# Files of the Hugging Face hub, which can be downloaded again. See https://bford.info/cachedir/\n";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_name_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/// $NAME and ${NAME} as os.path.expandvars reads them: a variable that is not set stays as it is written.
std::string expand_variables(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t dollar = std::min(text.find('$'), text.size());
    out += text.substr(0, dollar);
    text.remove_prefix(dollar);
    if (text.empty()) break;
    const bool is_braced = text.size() > 1 && text[1] == '{';
    size_t end = is_braced ? text.find('}') : 1;
    while (!is_braced && end < text.size() && is_name_byte(text[end])) ++end;
    if (end == std::string_view::npos) return out.append(text);
    const std::string name(is_braced ? text.substr(2, end - 2) : text.substr(1, end - 1));
    end += is_braced ? 1 : 0;
    const char* value = name.empty() ? nullptr : std::getenv(name.c_str());
    out += value ? std::string_view(value) : text.substr(0, end);
    text.remove_prefix(end);
  }
  return out;
}

fs::path home() {
  const std::string home = variable("HOME");
  return home.empty() ? fs::path(".") : fs::path(home);
}

/// True if `path` is `folder` or below it; both canonical.
bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [end, ignored] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

tl::unexpected<Error> fail_link(const fs::path& path, const std::error_code& error) {
  const bool is_circle = error == std::errc::too_many_symbolic_link_levels;
  return fail(ErrorCode::kCorrupt, "{}: {}; remove it and pull the model again", path.string(),
              is_circle ? "links in a circle" : "the link leads nowhere");
}

/// A name among the blobs that nobody reads, for what gets its own name in one step.
fs::path spare_name(const fs::path& blobs) {
  std::random_device random;
  return blobs / fmt::format("{:08x}{:08x}.incomplete", random(), random());
}

/// Waits until the disk has the names in a folder and in all below it.
void sync_tree(const fs::path& top) {
  sync_folder(top);
  std::error_code error;
  for (fs::recursive_directory_iterator it(top, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (fs::is_directory(it->symlink_status(ignored))) sync_folder(it->path());
  }
}

Status replace_link(const fs::path& target, const fs::path& path, const fs::path& spare) {
  std::error_code error;
  fs::create_symlink(target, spare, error);
  if (!error) fs::rename(spare, path, error);
  if (!error) return {};
  std::error_code ignored;
  fs::remove(spare, ignored);
  return fail(ErrorCode::kIoError, "{}: the link to {} cannot be made: {}", path.string(), target.string(),
              error.message());
}

}  // namespace

std::optional<fs::path> path_in_environment(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const std::string text = expand_variables(variable(name));
    if (text.empty()) continue;
    if (text == "~" || text.starts_with("~/")) return home() / text.substr(std::min<size_t>(2, text.size()));
    return fs::path(text);
  }
  return std::nullopt;
}

fs::path hf_home() {
  if (const auto folder = path_in_environment({"HF_HOME"})) return *folder;
  if (const auto folder = path_in_environment({"XDG_CACHE_HOME"})) return *folder / "huggingface";
  return home() / ".cache" / "huggingface";
}

HfCache::HfCache(const fs::path& root) : root_(root.lexically_normal()) {
  if (!root_.has_filename()) root_ = root_.parent_path();  // a slash at the end would be a part of its own
}

HfCache HfCache::from_environment() {
  const auto folder = path_in_environment({"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"});
  return HfCache(folder ? *folder : hf_home() / "hub");
}

fs::path HfCache::repo_folder(std::string_view repo) const {
  std::string name(kRepoPrefix);
  for (const char c : repo) name += c == '/' ? std::string("--") : std::string(1, c);
  return root_ / name;
}

fs::path HfCache::lock_folder(std::string_view repo) const { return root_ / ".locks" / repo_folder(repo).filename(); }

fs::path HfCache::snapshot(std::string_view repo, std::string_view commit) const {
  return repo_folder(repo) / "snapshots" / commit;
}

fs::path HfCache::ref(std::string_view repo, std::string_view revision) const {
  return repo_folder(repo) / "refs" / revision;
}

FetchPaths HfCache::blob(std::string_view repo, std::string_view etag) const {
  const fs::path target = repo_folder(repo) / "blobs" / etag;
  return {target, target.string() + ".incomplete", lock_folder(repo) / fmt::format("{}.lock", etag)};
}

std::vector<std::string> HfCache::repos() const {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(root_, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!name.starts_with(kRepoPrefix)) continue;
    name.erase(0, kRepoPrefix.size());
    if (const size_t at = name.find("--"); at != std::string::npos) name.replace(at, 2, "/");
    if (is_repo_name(name)) out.push_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> HfCache::commits(std::string_view repo) const {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(snapshot(repo, ""), error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (is_commit(name)) out.push_back(name);
    if (out.size() == kMaxCommits) break;
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::optional<std::string>> HfCache::commit_of(std::string_view repo, std::string_view revision) const {
  constexpr size_t kMaxRefBytes = 256;
  if (is_commit(revision)) return std::string(revision);
  const auto path = follow(ref(repo, revision));
  if (!path && path.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!path) return fail(path.error());
  VITRO_TRY_ASSIGN(const std::string text, read_beginning(*path, kMaxRefBytes));
  if (const std::string_view commit = trimmed(text); is_commit(commit)) return std::string(commit);
  return fail(ErrorCode::kCorrupt, "{}: expected a commit (40 hexadecimal digits); pull the model again",
              path->string());
}

Result<std::vector<std::string>> HfCache::files(std::string_view repo, std::string_view commit) const {
  const fs::path folder = snapshot(repo, commit);
  VITRO_TRY(check_folder(folder));
  std::vector<std::string> out;
  std::error_code error;
  size_t n_entries = 0;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (++n_entries > kMaxEntries || it.depth() > kMaxDepth) {
      return fail(ErrorCode::kCorrupt, "{}: more than {} entries, or folders more than {} deep", folder.string(),
                  kMaxEntries, kMaxDepth);
    }
    std::error_code ignored;
    if (fs::is_directory(it->symlink_status(ignored))) continue;
    VITRO_TRY(follow(it->path()));
    out.push_back(it->path().lexically_relative(folder).generic_string());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return fail(ErrorCode::kIoError, "{}: cannot be read: {}", folder.string(), error.message());
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<fs::path> HfCache::follow(const fs::path& path) const {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  if (error) {
    std::error_code ignored;
    const bool is_link = fs::is_symlink(fs::symlink_status(path, ignored));
    if (is_link || error == std::errc::too_many_symbolic_link_levels) return fail_link(path, error);
    const bool is_missing = error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
    return fail(is_missing ? ErrorCode::kNotFound : ErrorCode::kIoError, "{}: {}", path.string(), error.message());
  }
  const fs::path root = fs::canonical(root_, error);
  if (error || !is_below(target, root)) {
    return fail(ErrorCode::kCorrupt, "{}: leads out of the cache, to {}; name that place instead if it is yours",
                path.string(), target.string());
  }
  if (fs::is_regular_file(target, error)) return target;
  return fail(ErrorCode::kCorrupt, "{}: is no regular file, expected one", path.string());
}

Status HfCache::check_folder(const fs::path& folder) const {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(folder, error);
  if (error) return fail_link(folder, error);
  const fs::path root = fs::weakly_canonical(root_, error);
  if (!error && is_below(target, root)) return {};
  return fail(ErrorCode::kCorrupt, "{}: leads out of the cache, to {}; name that place instead if it is yours",
              folder.string(), target.string());
}

Status HfCache::prepare(std::string_view repo, std::string_view commit) const {
  for (const fs::path& folder : {repo_folder(repo) / "blobs", lock_folder(repo), snapshot(repo, commit)}) {
    VITRO_TRY(check_folder(folder));
    VITRO_TRY(make_folders(folder));
  }
  const fs::path tag = root_ / "CACHEDIR.TAG";
  std::error_code error;
  if (fs::exists(fs::symlink_status(tag, error))) return {};
  const Status status = write_file(tag, kCachedirTag, false);
  return status || status.error().code == ErrorCode::kInvalidArgument ? Status() : status;  // another was first
}

Status HfCache::link(std::string_view repo, std::string_view commit, std::string_view file,
                     std::string_view etag) const {
  const fs::path path = snapshot(repo, commit) / file;
  const fs::path blob_path = blob(repo, etag).target;
  const fs::path target = blob_path.lexically_relative(path.parent_path());
  VITRO_TRY(check_folder(path.parent_path()));
  VITRO_TRY(make_folders(path.parent_path()));
  std::error_code error;
  if (fs::read_symlink(path, error) == target) return {};
  return replace_link(target, path, spare_name(blob_path.parent_path()));
}

Status HfCache::write_ref(std::string_view repo, std::string_view revision, std::string_view commit) const {
  sync_tree(snapshot(repo, commit));
  if (revision == commit) return {};
  const fs::path path = ref(repo, revision), blobs = repo_folder(repo) / "blobs";
  for (const fs::path& folder : {path.parent_path(), blobs}) {
    VITRO_TRY(check_folder(folder));
    VITRO_TRY(make_folders(folder));
  }
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(path, error))) VITRO_TRY(follow(path));
  VITRO_TRY_ASSIGN(IncompleteFile file, IncompleteFile::open(spare_name(blobs)));
  Status status = file.append(commit);
  if (status) status = file.rename_to(path);
  if (!status) file.remove();
  return status;
}

}  // namespace vitro
