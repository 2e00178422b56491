// Models from the Hugging Face hub, into the cache of the Hugging Face tools: blobs, then links, weights last, then the
// ref. Whoever looks in between finds the old revision, or files that are whole.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "base/human.h"
#include "store/fetch.h"
#include "store/hub.h"
#include "store/pull.h"
#include "store/resolve.h"
#include "store/snapshot.h"

namespace vitro {
namespace fs = std::filesystem;
namespace {

/// A file that is to come, and its place in the repository.
struct Wanted {
  std::string path;
  RemoteFile remote;
};

bool is_weights(std::string_view path) { return path.ends_with(".safetensors") || path.ends_with(".gguf"); }

void say(const PullEvents& events, const std::string& line) {
  if (events.say) events.say(line);
}

class HubPull {
 public:
  HubPull(const HubName& name, const HfCache& cache, Hub hub, const PullEvents& events)
      : name_(name),
        cache_(cache),
        hub_(std::move(hub)),
        events_(events),
        http_({.is_cancelled = events.is_cancelled}),
        connection_(http_) {}

  Result<Pulled> run() {
    auto listing_or = list_repo(hub_, name_.repo, name_.revision_or_default(), connection_);
    was_answered_ = listing_or || (!hub_.is_offline && listing_or.error().code != ErrorCode::kIoError);
    VITRO_TRY_ASSIGN(const RepoListing listing, std::move(listing_or));
    VITRO_TRY_ASSIGN(const std::vector<Wanted> files, ask_for_files(listing));
    VITRO_TRY_ASSIGN(const bool is_new, fetch_missing(listing, files));
    VITRO_TRY(cache_.write_ref(name_.repo, listing.revision, listing.commit));
    VITRO_TRY_ASSIGN(fs::path path, find_in_snapshot(cache_, name_, listing.commit, true));
    return Pulled{std::move(path), is_new};
  }

  /// False if the hub could not be asked: the model may be there or not.
  bool was_answered() const { return was_answered_; }

 private:
  /// Sizes and hashes of what a model needs, weights last.
  Result<std::vector<Wanted>> ask_for_files(const RepoListing& listing) {
    VITRO_TRY_ASSIGN(std::vector<RepoFile> chosen, choose_files(hub_, listing, name_.wanted, connection_));
    std::stable_partition(chosen.begin(), chosen.end(), [](const RepoFile& file) { return !is_weights(file.path); });
    std::vector<Wanted> out;
    for (const RepoFile& file : chosen) {
      VITRO_TRY_ASSIGN(RemoteFile remote, stat_hub_file(hub_, listing, file, connection_));
      out.push_back({file.path, std::move(remote)});
    }
    return out;
  }

  bool is_here(const Wanted& file) const {
    std::error_code error;
    const fs::path blob = cache_.blob(name_.repo, file.remote.etag).target;
    return fs::file_size(blob, error) == file.remote.n_bytes && !error;
  }

  /// True if something was missing.
  Result<bool> fetch_missing(const RepoListing& listing, const std::vector<Wanted>& files) {
    uint64_t n_to_come = 0;
    for (const Wanted& file : files) {
      const FetchPaths paths = cache_.blob(name_.repo, file.remote.etag);
      n_to_come = checked_add(n_to_come, n_missing_bytes(paths, file.remote.n_bytes)).value_or(UINT64_MAX);
      if (!is_here(file)) n_total_ = checked_add(n_total_, file.remote.n_bytes).value_or(UINT64_MAX);
    }
    if (n_total_ > 0) VITRO_TRY(check_room(cache_.root(), n_to_come));
    VITRO_TRY(cache_.prepare(name_.repo, listing.commit));
    const std::string license = listing.license.empty() ? "not told" : listing.license;
    if (n_total_ > 0)
      say(events_, fmt::format("{}: {} to download; license: {}", name_.repo, human_bytes(n_to_come), license));
    for (const Wanted& file : files) {
      VITRO_TRY(fetch(file));
      VITRO_TRY(cache_.link(name_.repo, listing.commit, file.path, file.remote.etag));
    }
    return n_total_ > 0;
  }

  Status fetch(const Wanted& file) {
    if (is_here(file)) return {};
    FetchOptions options;
    options.token = hub_.token;
    options.http = http_;
    options.on_progress = [this](const FetchProgress& progress) {
      if (events_.progress) events_.progress(n_done_ + progress.n_done, n_total_);
    };
    options.on_check = events_.checking;
    options.on_notice = [&](const std::string& line) { say(events_, fmt::format("{}: {}", file.path, line)); };
    const auto fetched = fetch_file(file.remote, cache_.blob(name_.repo, file.remote.etag), options);
    if (!fetched) return fail(fetched.error().in(file.path));
    n_done_ += file.remote.n_bytes;
    return {};
  }

  const HubName& name_;
  const HfCache& cache_;
  const Hub hub_;
  const PullEvents& events_;
  const HttpOptions http_;
  HttpConnection connection_;  ///< of all questions before the bytes
  bool was_answered_ = false;
  uint64_t n_done_ = 0;   ///< bytes of files that are through
  uint64_t n_total_ = 0;  ///< bytes of all that were missing
};

}  // namespace

Result<Pulled> pull_hub(const HubName& name, const Caches& caches, const PullEvents& events) {
  VITRO_TRY_ASSIGN(Hub hub, hub_from_environment(hf_home()));
  HubPull hub_pull(name, caches.hf, std::move(hub), events);
  auto pulled = hub_pull.run();
  if (pulled || hub_pull.was_answered()) return pulled;
  const auto here = find_stored({nullptr, name}, true, caches);
  if (!here || !*here) return pulled;
  say(events, fmt::format("{}; taking what is here", pulled.error().message));
  return Pulled{**here, false};
}

}  // namespace vitro
