#include "store/snapshot.h"

#include <algorithm>

#include "formats/mapped_file.h"
#include "formats/quote_name.h"
#include "formats/safetensors.h"
#include "store/gguf_choice.h"

namespace vitro {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMaxIndexBytes = size_t{64} << 20;  // the index of the largest released model has 9 MB
constexpr size_t kMaxListed = 12;

using Names = std::vector<std::string>;

bool has(const Names& files, std::string_view name) { return std::binary_search(files.begin(), files.end(), name); }

std::string listed(const std::vector<GgufModel>& models) {
  std::string out;
  for (size_t i = 0; i < models.size() && i < kMaxListed; ++i) out += (i > 0 ? ", " : "") + quote_name(models[i].name);
  return models.size() > kMaxListed ? out + fmt::format(" and {} more", models.size() - kMaxListed) : out;
}

/// model.safetensors, or every shard of the index.
Result<bool> has_weights(const HfCache& cache, const HubName& name, std::string_view commit, const Names& files) {
  constexpr std::string_view kIndex = "model.safetensors.index.json";
  if (has(files, "model.safetensors")) return true;
  if (!has(files, kIndex)) return false;
  VITRO_TRY_ASSIGN(const fs::path path, cache.follow(cache.snapshot(name.repo, commit) / kIndex));
  VITRO_TRY_ASSIGN(const MappedFile file, MappedFile::open(path));
  if (file.bytes().size() > kMaxIndexBytes) return fail(ErrorCode::kCorrupt, "{}: too long", path.string());
  VITRO_TRY_ASSIGN(const ShardIndex index, read_shard_index(file.text(), path.string()));
  return std::all_of(index.files.begin(), index.files.end(),
                     [&](const std::string& shard) { return has(files, shard); });
}

}  // namespace

Result<std::string> choose_gguf(const Names& files, std::string_view wanted, std::string_view where) {
  if (has(files, wanted)) return std::string(wanted);
  const std::vector<GgufModel> models = gguf_models(files);
  const std::vector<GgufModel> found = matching(models, wanted);
  if (found.size() == 1) return found[0].name;
  if (found.size() > 1) {
    return fail(ErrorCode::kInvalidArgument, "{}: which of its files? {}; name one as {}:FILE", where, listed(found),
                where);
  }
  if (models.empty()) return fail(ErrorCode::kNotFound, "{}: no .gguf file is here", where);
  return fail(ErrorCode::kNotFound, "{}: no file {} is here; there are {}", where, quote_name(wanted), listed(models));
}

Result<fs::path> find_in_snapshot(const HfCache& cache, const HubName& name, std::string_view commit,
                                  bool needs_weights) {
  VITRO_TRY_ASSIGN(const Names files, cache.files(name.repo, commit));
  const fs::path folder = cache.snapshot(name.repo, commit);
  if (name.wanted.empty() && has(files, "config.json")) {
    VITRO_TRY_ASSIGN(const bool is_whole, has_weights(cache, name, commit, files));
    if (is_whole || !needs_weights) return folder;
  }
  const auto gguf = choose_gguf(files, name.wanted, name.repo);
  if (gguf) return folder / *gguf;
  const bool is_there = !files.empty() && !needs_weights && name.wanted.empty();
  if (is_there && gguf.error().code == ErrorCode::kNotFound) return folder;
  return fail(gguf.error());
}

}  // namespace vitro
