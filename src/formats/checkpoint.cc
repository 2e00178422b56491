#include "formats/checkpoint.h"

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "formats/json.h"
#include "formats/llama2c.h"
#include "formats/quote_name.h"
#include "formats/safetensors.h"
#include "formats/sniff.h"
#include "formats/tensor_table.h"

namespace vitro {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kMaxJsonBytes = uint64_t{64} << 20;  ///< the index of the largest released model has 9 MB
constexpr size_t kMaxListed = 8;                        ///< names shown in one message

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// File names of a folder with one of the suffixes, sorted.
std::vector<std::string> list_files(const fs::path& folder, std::initializer_list<std::string_view> suffixes) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool is_wanted = std::any_of(suffixes.begin(), suffixes.end(), [&](std::string_view suffix) {
      return name.size() >= suffix.size() && std::string_view(name).substr(name.size() - suffix.size()) == suffix;
    });
    if (is_wanted) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// "'a', 'b' and 3 more".
std::string join_names(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size() && i < kMaxListed; ++i) out += (i > 0 ? ", " : "") + quote_name(names[i]);
  if (names.size() > kMaxListed) out += fmt::format(" and {} more", names.size() - kMaxListed);
  return out;
}

/// A JSON file that is not absurdly long, nor something else saved in its place.
Result<MappedFile> open_json(const fs::path& path, LoadMode mode) {
  VITRO_TRY_ASSIGN(MappedFile file, MappedFile::open(path, mode));
  if (file.bytes().size() > kMaxJsonBytes) {
    return fail(ErrorCode::kCorrupt, "{}: {} bytes of JSON, at most {} are read", path.string(), file.bytes().size(),
                kMaxJsonBytes);
  }
  VITRO_TRY(check_is_no_stand_in(file.bytes(), path.string()));
  return file;
}

Result<Value> read_json_object(std::string_view text, std::string_view where) {
  VITRO_TRY_ASSIGN(Value value, parse_json(text, where));
  if (value.as_object() != nullptr) return value;
  return fail(ErrorCode::kCorrupt, "{}: expected an object, found {}", where, value.kind_name());
}

Result<Value> read_json_file(const fs::path& path, LoadMode mode) {
  VITRO_TRY_ASSIGN(const MappedFile file, open_json(path, mode));
  return read_json_object(as_text(file.bytes()), path.string());
}

/// What a folder of Hugging Face files holds besides its config.
struct Weights {
  std::vector<MappedFile> files;
  WeightIndex tensors;
  bool has_bytes = false;  ///< false: the headers are there, the tensors are not (only where the caller needs none)
};

/// Checks one file whole; where no weights are needed, a sound header is enough.
Result<SafetensorsFile> read_shard(const MappedFile& file, const OpenOptions& options, bool& has_bytes) {
  const std::string where = file.path().string();
  VITRO_TRY(check_is_no_stand_in(file.bytes(), where));
  auto whole = read_safetensors(file.bytes(), where);
  if (whole || options.needs_weights) return whole;
  has_bytes = false;
  return read_safetensors(file.bytes(), where, true);
}

/// Appends a shard's tensors, which must be exactly those that the index places in it.
Status add_shard(const std::vector<std::string_view>& expected, int file_idx, WeightIndex shard, WeightIndex& tensors) {
  std::vector<std::string> missing;
  for (const std::string_view name : expected) {
    if (find_entry(shard, name) == nullptr) missing.emplace_back(name);
  }
  if (!missing.empty()) return fail(ErrorCode::kCorrupt, "lacks what the index places in it: {}", join_names(missing));
  if (shard.size() > expected.size()) {
    return fail(ErrorCode::kCorrupt, "holds {} tensors, the index places {} in it", shard.size(), expected.size());
  }
  for (WeightEntry& entry : shard) {
    entry.file_idx = file_idx;
    tensors.push_back(std::move(entry));
  }
  return {};
}

/// All shards that are not there, in one error.
Status check_shards_exist(const ShardIndex& index, const fs::path& folder) {
  std::vector<std::string> absent;
  for (const std::string& name : index.files) {
    if (!is_there(folder / name)) absent.push_back(name);
  }
  if (absent.empty()) return {};
  return fail(ErrorCode::kNotFound, "{}: {} of {} shards are missing: {}; download the rest", folder.string(),
              absent.size(), index.files.size(), join_names(absent));
}

Result<Weights> read_sharded(const fs::path& index_path, const OpenOptions& options) {
  const fs::path folder = index_path.parent_path();
  VITRO_TRY_ASSIGN(const MappedFile index_file, open_json(index_path, options.mode));
  VITRO_TRY_ASSIGN(const ShardIndex index, read_shard_index(as_text(index_file.bytes()), index_path.string()));
  if (auto status = check_shards_exist(index, folder); !status) {
    if (!options.needs_weights) return Weights{};
    return fail(status.error());
  }
  std::vector<std::vector<std::string_view>> expected(index.files.size());
  for (const auto& [name, file_idx] : index.tensor_file) expected[static_cast<size_t>(file_idx)].push_back(name);

  Weights weights;
  weights.has_bytes = true;
  for (size_t i = 0; i < index.files.size(); ++i) {
    VITRO_TRY_ASSIGN(MappedFile file, MappedFile::open(folder / index.files[i], options.mode));
    VITRO_TRY_ASSIGN(SafetensorsFile shard, read_shard(file, options, weights.has_bytes));
    auto status = add_shard(expected[i], static_cast<int>(i), std::move(shard.tensors), weights.tensors);
    if (!status) return fail(status.error().in(file.path().string()));
    weights.files.push_back(std::move(file));
  }
  VITRO_TRY(sort_by_name(weights.tensors));
  return weights;
}

Result<Weights> read_single(MappedFile file, const OpenOptions& options) {
  Weights weights;
  weights.has_bytes = true;
  VITRO_TRY_ASSIGN(SafetensorsFile contents, read_shard(file, options, weights.has_bytes));
  weights.tensors = std::move(contents.tensors);
  weights.files.push_back(std::move(file));
  return weights;
}

/// A folder without safetensors: says what is there instead and what to do about it.
tl::unexpected<Error> fail_no_weights(const fs::path& folder, bool has_config) {
  const std::string where = folder.string();
  if (const auto pickles = list_files(folder, {".bin", ".pt", ".pth", ".ckpt"}); !pickles.empty()) {
    return fail(
        ErrorCode::kUnsupported,
        "{}: only pickled weights ({}); pickle files can run code and are not read. Convert them to safetensors, "
        "or download the model's safetensors files",
        where, join_names(pickles));
  }
  if (const auto ggufs = list_files(folder, {".gguf"}); !ggufs.empty()) {
    return fail(ErrorCode::kInvalidArgument, "{}: name the file to open: {}", where, join_names(ggufs));
  }
  return fail(ErrorCode::kNotFound,
              "{}: no {}; expected a folder with config.json and model.safetensors, or a .gguf file", where,
              has_config ? "model.safetensors or model.safetensors.index.json" : "config.json");
}

Result<Weights> read_weights(const fs::path& folder, const OpenOptions& options) {
  if (is_there(folder / "model.safetensors")) {
    VITRO_TRY_ASSIGN(MappedFile file, MappedFile::open(folder / "model.safetensors", options.mode));
    return read_single(std::move(file), options);
  }
  if (is_there(folder / "model.safetensors.index.json"))
    return read_sharded(folder / "model.safetensors.index.json", options);
  if (!options.needs_weights) return Weights{};
  return fail_no_weights(folder, true);
}

/// A shard of a split GGUF model knows how many there are.
Status check_not_split(const GgufFile& gguf, std::string_view where) {
  const int64_t* n_split = gguf.find_int("split.count");
  if (n_split == nullptr || *n_split <= 1) return {};
  return fail(ErrorCode::kUnsupported,
              "[gguf] {}: one of {} files of a split model; merge them first (llama-gguf-split --merge)", where,
              *n_split);
}

}  // namespace

/// Builds Checkpoints; a member type so that it may fill in the private parts.
struct Checkpoint::Opener {
  const OpenOptions& options;

  static void take(Weights weights, Checkpoint& out) {
    out.files_ = std::move(weights.files);
    out.tensors_ = std::move(weights.tensors);
    out.has_weights_ = weights.has_bytes;
  }

  Result<Checkpoint> open_folder(const fs::path& folder) const {
    if (!is_there(folder / "config.json")) return open_folder_without_config(folder);
    Checkpoint out;
    out.path_ = folder;
    VITRO_TRY_ASSIGN(out.config_, read_json_file(folder / "config.json", options.mode));
    if (is_there(folder / "generation_config.json")) {
      VITRO_TRY_ASSIGN(out.generation_config_, read_json_file(folder / "generation_config.json", options.mode));
    }
    VITRO_TRY_ASSIGN(Weights weights, read_weights(folder, options));
    take(std::move(weights), out);
    return out;
  }

  Result<Checkpoint> open_memory(const MemoryFolder& folder) const {
    Checkpoint out;
    out.path_ = folder.name;
    VITRO_TRY_ASSIGN(out.config_, read_json_object(folder.config, fmt::format("{}/config.json", folder.name)));
    const std::string name = fmt::format("{}/model.safetensors", folder.name);
    VITRO_TRY_ASSIGN(Weights weights, read_single(MappedFile::in_memory(folder.weights, name), options));
    take(std::move(weights), out);
    return out;
  }

  Result<Checkpoint> open_folder_without_config(const fs::path& folder) const {
    const auto ggufs = list_files(folder, {".gguf"});
    if (ggufs.size() == 1) return open_file(folder / ggufs[0]);
    return fail_no_weights(folder, false);
  }

  Result<Checkpoint> open_file(const fs::path& path) const {
    VITRO_TRY_ASSIGN(MappedFile file, MappedFile::open(path, options.mode));
    VITRO_TRY(check_is_no_stand_in(file.bytes(), path.string()));
    switch (sniff(file.bytes())) {
      case FileKind::kGguf:
        return open_gguf(std::move(file));
      case FileKind::kJson:
        return open_config(path);
      case FileKind::kLlama2c:
        return open_llama2c(std::move(file));
      case FileKind::kSafetensors:
        return fail(ErrorCode::kInvalidArgument,
                    "{}: weights alone do not describe a model; give the folder that also holds config.json",
                    path.string());
      case FileKind::kPickle:
        return fail(
            ErrorCode::kUnsupported,
            "{}: a pickle file, which can run code and is not read; convert it to safetensors, or download the model's "
            "safetensors files",
            path.string());
      case FileKind::kOldGgml:
        return fail(ErrorCode::kUnsupported, "{}: a GGML file from before GGUF; convert the model anew", path.string());
      case FileKind::kUnknown:
        break;
    }
    return fail(ErrorCode::kUnsupported,
                "{}: not a model file; expected GGUF, a llama2.c .bin, or a folder with config.json and "
                "model.safetensors",
                path.string());
  }

  Result<Checkpoint> open_config(const fs::path& path) const {
    if (options.needs_weights) {
      return fail(ErrorCode::kNotFound,
                  "{}: describes a model without its weights; give the folder that also holds model.safetensors",
                  path.string());
    }
    Checkpoint out;
    out.path_ = path;
    VITRO_TRY_ASSIGN(out.config_, read_json_file(path, options.mode));
    return out;
  }

  Result<Checkpoint> open_gguf(MappedFile file) const {
    const std::string where = file.path().string();
    Checkpoint out;
    out.format_ = SourceFormat::kGguf;
    out.path_ = file.path();
    auto gguf = read_gguf(file.bytes(), where);
    out.has_weights_ = gguf.has_value();
    if (!gguf && !options.needs_weights) gguf = read_gguf(file.bytes(), where, true);
    if (!gguf) return fail(gguf.error());
    VITRO_TRY(check_not_split(*gguf, where));
    out.config_ = gguf_config(*gguf);
    out.tensors_ = gguf->tensors;
    out.gguf_ = std::make_unique<GgufFile>(std::move(*gguf));
    out.files_.push_back(std::move(file));
    return out;
  }

  Result<Checkpoint> open_llama2c(MappedFile file) const {
    Checkpoint out;
    out.format_ = SourceFormat::kLlama2c;
    out.path_ = file.path();
    VITRO_TRY_ASSIGN(Llama2cFile contents, read_llama2c(file.bytes(), file.path().string()));
    out.config_ = std::move(contents.config);
    out.tensors_ = std::move(contents.tensors);
    out.has_weights_ = true;
    out.files_.push_back(std::move(file));
    return out;
  }
};

Result<Checkpoint> Checkpoint::open(const fs::path& path, const OpenOptions& options) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    return fail(ErrorCode::kNotFound,
                "{}: no such file or folder; give a model folder, a .gguf file or a known model's name", path.string());
  }
  const Opener opener{options};
  return fs::is_directory(status) ? opener.open_folder(path) : opener.open_file(path);
}

Result<Checkpoint> Checkpoint::open(const MemoryFolder& folder) { return Opener{OpenOptions{}}.open_memory(folder); }

uint64_t Checkpoint::file_bytes() const {
  uint64_t total = 0;
  for (const MappedFile& file : files_) total += file.bytes().size();
  return total;
}

const WeightEntry* Checkpoint::find(std::string_view name) const { return find_entry(tensors_, name); }

ConstTensorView Checkpoint::view(const WeightEntry& entry) const {
  VITRO_CHECK(has_weights_);
  return {files_[static_cast<size_t>(entry.file_idx)].bytes().data() + entry.begin, entry.dtype, entry.shape};
}

void Checkpoint::release(const WeightEntry& entry, uint64_t first, uint64_t n_bytes) const {
  files_[static_cast<size_t>(entry.file_idx)].release(entry.begin + first, n_bytes);
}

}  // namespace vitro
