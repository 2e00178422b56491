#include "store/stored_models.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/cache_folder.h"
#include "base/read_file.h"
#include "formats/checkpoint.h"
#include "formats/tensor_table.h"
#include "store/model_card.h"
#include "store/names.h"
#include "store/snapshot.h"
#include "store/vitro_cache.h"

namespace vitro {
namespace fs = std::filesystem;
namespace {

uint64_t size_of(const fs::path& path) {
  std::error_code error;
  const uintmax_t n = fs::file_size(path, error);
  return error ? 0 : n;
}

/// The licence that a GGUF file's own metadata tells.
std::string license_of_gguf(const GgufFile& file) {
  for (const char* key : {"general.license.name", "general.license"}) {
    if (const std::string_view* text = file.find_string(key)) return std::string(text->substr(0, 200));
  }
  return "";
}

std::string license_of_folder(const fs::path& folder) {
  const auto readme = read_beginning(folder / "README.md", kMaxFrontMatter);
  return readme ? license_of_card(*readme) : "";
}

/// Fills in what the files themselves tell.
void describe(StoredModel& model) {
  const auto checkpoint = Checkpoint::open(model.path, {.needs_weights = false});
  if (!checkpoint) {
    model.problem = checkpoint.error().message;
    return;
  }
  const GgufFile* gguf = checkpoint->gguf();
  model.type = fmt::format("{} {}", gguf ? "GGUF" : "safetensors", type_names(checkpoint->tensors()));
  if (!checkpoint->has_weights()) model.problem = "the weights are not whole";
  if (model.license.empty() && gguf) model.license = license_of_gguf(*gguf);
}

StoredModel known_entry(const KnownModel& known, const fs::path& cache) {
  StoredModel out;
  out.name = known.name;
  out.license = known.license;
  out.n_bytes = known.n_bytes();
  out.path = cache / known.entry();
  describe(out);
  return out;
}

/// Blobs of the cache that were counted already.
class BlobSum {
 public:
  /// The file's size; n_total() counts the blob behind it once.
  uint64_t add(const fs::path& blob) {
    const uint64_t n = size_of(blob);
    if (seen_.insert(blob).second) n_total_ += n;
    return n;
  }
  uint64_t n_total() const { return n_total_; }

 private:
  std::set<fs::path> seen_;
  uint64_t n_total_ = 0;
};

/// Reads one repository of the Hugging Face cache.
class RepoReader {
 public:
  RepoReader(const HfCache& cache, std::string repo, BlobSum& blobs, std::vector<StoredModel>& out)
      : cache_(cache), repo_(std::move(repo)), blobs_(blobs), out_(out) {}

  void read() {
    const size_t n_before = out_.size();
    const auto main = cache_.commit_of(repo_, kDefaultRevision);
    for (const std::string& commit : cache_.commits(repo_)) {
      const bool is_main = main && *main == commit;
      read_snapshot(commit, is_main ? repo_ : fmt::format("{}@{}", repo_, commit));
    }
    if (out_.size() == n_before) add_unfinished();
  }

 private:
  void read_snapshot(const std::string& commit, const std::string& name) {
    const auto files = cache_.files(repo_, commit);
    if (files && files->empty()) return;  // nothing of it has come yet
    StoredModel model{.name = name, .path = cache_.snapshot(repo_, commit), .commit = commit};
    if (!files) {
      model.problem = files.error().message;
      out_.push_back(std::move(model));
      return;
    }
    model.license = license_of_folder(model.path);
    add_files(*files, std::move(model));
  }

  /// Each .gguf file is a model, and all other files together are one.
  void add_files(const std::vector<std::string>& files, StoredModel common) {
    std::vector<StoredModel> ggufs;
    StoredModel folder = common;
    for (const std::string& file : files) {
      const bool is_gguf = file.ends_with(".gguf");
      const auto blob = cache_.follow(common.path / file);
      const uint64_t n_bytes = blob ? blobs_.add(*blob) : 0;
      if (!is_gguf) folder.n_bytes += n_bytes;
      if (!is_gguf) continue;
      StoredModel& gguf = ggufs.emplace_back(common);
      gguf.name += ":" + file;
      gguf.path /= file;
      gguf.n_bytes = n_bytes;
      describe(gguf);
    }
    const bool is_folder = std::binary_search(files.begin(), files.end(), "config.json");
    if (ggufs.size() == 1 && !is_folder) ggufs[0].name = common.name;
    if (is_folder || ggufs.empty()) add_folder(std::move(folder));
    for (StoredModel& gguf : ggufs) out_.push_back(std::move(gguf));
  }

  void add_folder(StoredModel folder) {
    const HubName name{.repo = repo_, .revision = folder.commit};
    const auto whole = find_in_snapshot(cache_, name, folder.commit, true);
    describe(folder);
    if (!whole) folder.problem = fmt::format("no whole weights; 'vitro pull {}' gets them", folder.name);
    out_.push_back(std::move(folder));
  }

  /// Blobs alone: a download that was never finished.
  void add_unfinished() {
    StoredModel model{.name = repo_, .path = cache_.repo_folder(repo_)};
    model.problem = fmt::format("not finished; 'vitro pull {}' goes on", repo_);
    for (const char* part : {"blobs", "snapshots"}) {
      if (const Status status = cache_.check_folder(model.path / part); !status) model.problem = status.error().message;
    }
    std::error_code error;
    for (fs::directory_iterator it(model.path / "blobs", error), end; !error && it != end; it.increment(error)) {
      model.n_bytes += blobs_.add(it->path());
    }
    out_.push_back(std::move(model));
  }

  const HfCache& cache_;
  const std::string repo_;
  BlobSum& blobs_;
  std::vector<StoredModel>& out_;
};

}  // namespace

Caches Caches::from_environment() { return {cache_folder(), HfCache::from_environment()}; }

StoredModels list_models(const Caches& caches) {
  StoredModels out;
  for (const KnownModel& known : known_models()) {
    if (!is_here(known, caches.vitro)) continue;
    out.models.push_back(known_entry(known, caches.vitro));
    out.n_bytes += known.n_bytes();
  }
  BlobSum blobs;
  for (const std::string& repo : caches.hf.repos()) RepoReader(caches.hf, repo, blobs, out.models).read();
  out.n_bytes += blobs.n_total();
  std::sort(out.models.begin(), out.models.end(),
            [](const StoredModel& a, const StoredModel& b) { return a.name < b.name; });
  return out;
}

}  // namespace vitro
