#include "store/fetch.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/human.h"
#include "base/write_file.h"
#include "store/chunk_queue.h"
#include "store/file_lock.h"
#include "store/hasher.h"
#include "store/incomplete_file.h"
#include "store/range_worker.h"

namespace vitro {
namespace {

constexpr uint64_t kWorthAConnection = uint64_t{1} << 20;
constexpr double kProgressSeconds = 0.1;

/// Whether the whole file is there. A link to it is fine: newer huggingface_hub shares blobs so.
Result<bool> is_there(const std::filesystem::path& target, uint64_t n_bytes) {
  struct stat status {};
  if (::lstat(target.c_str(), &status) != 0 && errno == ENOENT) return false;
  if (::stat(target.c_str(), &status) != 0) {
    return fail(ErrorCode::kInvalidArgument, "{}: is a link that leads nowhere, or cannot be read ({}); remove it",
                target.string(), std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, "{}: is no regular file, expected one or nothing", target.string());
  }
  const auto n_found = static_cast<uint64_t>(status.st_size);
  if (n_found == n_bytes) return true;
  return fail(ErrorCode::kCorrupt, "{}: has {} bytes, the server's file {}; remove it to download it again",
              target.string(), n_found, n_bytes);
}

/// Workers on threads of their own; the end of this object ends them.
class Workers {
 public:
  Workers(const RemoteFile& file, const FetchOptions& options, ChunkQueue& queue, int n_workers) : queue_(queue) {
    for (int i = 0; i < n_workers; ++i) {
      threads_.emplace_back(
          [&file, &options, &queue, is_alone = n_workers == 1] { RangeWorker(file, options, queue, is_alone).run(); });
    }
  }
  ~Workers() {
    queue_.stop({ErrorCode::kCancelled, "stopped"});
    for (std::thread& thread : threads_) thread.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

 private:
  ChunkQueue& queue_;
  std::vector<std::thread> threads_;
};

/// Fills one incomplete file. The hasher has seen exactly what is in it.
class Download {
 public:
  Download(const RemoteFile& file, const FetchOptions& options, IncompleteFile& incomplete)
      : file_(file), options_(options), incomplete_(incomplete), hasher_(file.hash_kind, file.n_bytes) {}

  /// Continues what is there; from nothing once more if that beginning turns out to be wrong.
  Status run() {
    if (incomplete_.n_bytes() > file_.n_bytes) VITRO_TRY(incomplete_.clear());
    n_resumed_ = incomplete_.n_bytes();
    VITRO_TRY(incomplete_.read_into(hasher_, {options_.on_check, options_.http.is_cancelled}));
    VITRO_TRY(complete());
    if (is_right()) return {};
    if (n_resumed_ == 0) return fail_hash();
    say("the part that was there from an earlier try is damaged; starting anew");
    VITRO_TRY(start_anew());
    VITRO_TRY(complete());
    return is_right() ? Status() : fail_hash();
  }

 private:
  void say(const std::string& sentence) const {
    if (options_.on_notice) options_.on_notice(sentence);
  }
  void report() const {
    if (options_.on_progress) options_.on_progress({incomplete_.n_bytes(), file_.n_bytes, n_resumed_});
  }

  Status start_anew() {
    n_resumed_ = 0;
    hasher_ = Hasher(file_.hash_kind, file_.n_bytes);
    return incomplete_.clear();
  }

  /// All bytes; over one connection, from the start, if the server sends no ranges.
  Status complete() {
    Status status = receive(connections());
    for (int i = 1; i < options_.http.n_tries && !status && status.error().code == ErrorCode::kUnsupported; ++i) {
      VITRO_TRY(start_anew());
      status = receive(1);
    }
    return status;
  }

  int connections() const {
    const uint64_t n_missing = file_.n_bytes - incomplete_.n_bytes();
    const uint64_t most = std::max(1, options_.n_connections);
    return static_cast<int>(std::clamp<uint64_t>(n_missing / kWorthAConnection, 1, most));
  }

  Status receive(int n_workers) {
    report();
    if (incomplete_.n_bytes() == file_.n_bytes) return {};
    ChunkQueue queue({incomplete_.n_bytes(), file_.n_bytes}, n_workers);
    const Workers workers(file_, options_, queue, n_workers);
    double reported_s = now_seconds();
    while (!queue.is_done()) {
      VITRO_TRY(take(queue));
      if (now_seconds() - reported_s < kProgressSeconds) continue;
      reported_s = now_seconds();
      report();
    }
    report();
    return {};
  }

  Status take(ChunkQueue& queue) {
    auto bytes = queue.next(kProgressSeconds);
    for (const std::string& sentence : queue.sentences()) say(sentence);
    if (!bytes) return fail(bytes.error());
    if (options_.http.is_cancelled && options_.http.is_cancelled()) return fail(ErrorCode::kCancelled, "stopped");
    const uint64_t n_before = incomplete_.n_bytes();
    const Status status = incomplete_.append(*bytes);
    hasher_.add(std::string_view(*bytes).substr(0, incomplete_.n_bytes() - n_before));
    return status;
  }

  bool is_right() {
    found_ = hasher_.finish();
    return file_.hash_kind == HashKind::kNone || found_ == file_.hash;
  }

  Status fail_hash() const {
    incomplete_.remove();
    return fail(ErrorCode::kCorrupt,
                "{}: {} of the {} bytes that came is {}, expected {}; they were removed, try again",
                url_for_people(file_.url), hash_kind_name(file_.hash_kind), file_.n_bytes, found_, file_.hash);
  }

  const RemoteFile& file_;
  const FetchOptions& options_;
  IncompleteFile& incomplete_;
  Hasher hasher_;
  std::string found_;
  uint64_t n_resumed_ = 0;
};

/// With the lock held and nothing at the target.
Status fetch_locked(const RemoteFile& file, const FetchPaths& paths, const FetchOptions& options) {
  VITRO_TRY_ASSIGN(IncompleteFile incomplete, IncompleteFile::open(paths.incomplete));
  Status status = check_room(paths.incomplete.parent_path(), n_missing_bytes(paths, file.n_bytes));
  if (status) status = Download(file, options, incomplete).run();
  if (status) status = incomplete.rename_to(paths.target);
  if (!status && incomplete.n_bytes() == 0) incomplete.remove();
  return status;
}

}  // namespace

Result<Fetched> fetch_file(const RemoteFile& file, const FetchPaths& paths, const FetchOptions& options) {
  for (const auto& path : {paths.target, paths.incomplete, paths.lock}) VITRO_TRY(make_folders(path.parent_path()));
  VITRO_TRY_ASSIGN(const bool was_there, is_there(paths.target, file.n_bytes));
  if (was_there) return Fetched::kAlreadyThere;
  const auto on_wait = [&] {
    if (options.on_notice) options.on_notice("another process is downloading this file; waiting for it");
  };
  VITRO_TRY_ASSIGN(const FileLock lock, FileLock::acquire(paths.lock, options.http.is_cancelled, on_wait));
  VITRO_TRY_ASSIGN(const bool is_now_there, is_there(paths.target, file.n_bytes));
  if (is_now_there) return Fetched::kAlreadyThere;
  VITRO_TRY(fetch_locked(file, paths, options));
  return Fetched::kNow;
}

uint64_t n_missing_bytes(const FetchPaths& paths, uint64_t n_bytes) {
  std::error_code error;
  if (std::filesystem::is_regular_file(paths.target, error)) return 0;
  const bool is_begun = std::filesystem::is_regular_file(paths.incomplete, error);
  const uintmax_t n_here = is_begun ? std::filesystem::file_size(paths.incomplete, error) : 0;
  return error || n_here > n_bytes ? n_bytes : n_bytes - n_here;
}

Status check_room(const std::filesystem::path& folder, uint64_t n_bytes) {
  std::error_code error;
  std::filesystem::path there = std::filesystem::absolute(folder, error);
  while (!std::filesystem::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  const auto space = std::filesystem::space(there, error);
  if (error || space.available >= n_bytes) return {};
  return fail(ErrorCode::kIoError, "{}: no space: {} more are needed, {} are free; 'vitro models rm NAME' makes room",
              folder.string(), human_bytes(n_bytes), human_bytes(space.available));
}

}  // namespace vitro
