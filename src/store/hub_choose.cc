// Which files of a repository make a model, and no second form of the same weights.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/human.h"
#include "formats/json.h"
#include "formats/quote_name.h"
#include "store/gguf_choice.h"
#include "store/hub.h"
#include "store/names.h"

namespace vitro {
namespace {

constexpr size_t kMaxIndex = size_t{64} << 20;
constexpr size_t kMaxShown = 40;  ///< .gguf files that a message lists
constexpr std::string_view kIndex = "model.safetensors.index.json";
constexpr std::string_view kSingle = "model.safetensors";

/// Small files that a model in safetensors form is read with, and the card that says its licence.
constexpr std::array<std::string_view, 17> kBeside = {"config.json",
                                                      "generation_config.json",
                                                      "tokenizer.json",
                                                      "tokenizer_config.json",
                                                      "special_tokens_map.json",
                                                      "tokenizer.model",
                                                      "added_tokens.json",
                                                      "vocab.json",
                                                      "merges.txt",
                                                      "vocab.txt",
                                                      "encoder.json",
                                                      "vocab.bpe",
                                                      "chat_template.jinja",
                                                      "chat_template.json",
                                                      "spiece.model",
                                                      "README.md",
                                                      "sentencepiece.bpe.model"};

const RepoFile* find_file(const RepoListing& listing, std::string_view path) {
  const auto found =
      std::find_if(listing.files.begin(), listing.files.end(), [&](const RepoFile& file) { return file.path == path; });
  return found == listing.files.end() ? nullptr : &*found;
}

std::vector<std::string> paths_of(const RepoListing& listing) {
  std::vector<std::string> out;
  for (const RepoFile& file : listing.files) out.push_back(file.path);
  return out;
}

uint64_t bytes_of(const RepoListing& listing, const GgufModel& model) {
  uint64_t sum = 0;
  for (const std::string& part : model.parts) sum += std::min(find_file(listing, part)->n_bytes, UINT64_MAX - sum);
  return sum;
}

std::string list_models(const RepoListing& listing, const std::vector<GgufModel>& models) {
  std::string out;
  for (size_t i = 0; i < std::min(models.size(), kMaxShown); ++i) {
    const uint64_t n_bytes = bytes_of(listing, models[i]);
    const std::string size = n_bytes == 0 ? "size not said" : human_bytes(n_bytes);
    out += fmt::format("\n  {}:{}  {}{}", listing.repo, models[i].name, size,
                       models[i].is_split() ? ", split: not read" : "");
  }
  if (models.size() > kMaxShown) out += fmt::format("\n  and {} more", models.size() - kMaxShown);
  return out;
}

/// Said before gigabytes come that nothing here can read.
Result<std::vector<RepoFile>> take_model(const RepoListing& listing, const GgufModel& model) {
  if (!model.is_split()) return std::vector<RepoFile>{*find_file(listing, model.name)};
  return fail(ErrorCode::kUnsupported,
              "{}: {} is one of {} files of a split model, which is not read; name another file, or merge them first "
              "(gguf-split --merge) and name the result's path",
              listing.repo, quote_name(model.name), model.n_parts);
}

Result<std::vector<RepoFile>> choose_gguf(const RepoListing& listing, std::string_view wanted) {
  const std::vector<GgufModel> models = gguf_models(paths_of(listing));
  const std::vector<GgufModel> found = matching(models, wanted);
  if (found.size() == 1) return take_model(listing, found.front());
  if (found.empty()) {
    return fail(ErrorCode::kNotFound, "{}: no file is called {}, and no .gguf has that in its name{}{}", listing.repo,
                quote_name(wanted), models.empty() ? "" : "; there are", list_models(listing, models));
  }
  return fail(ErrorCode::kInvalidArgument, "{}: {} models in GGUF form{}; name one:{}", listing.repo, found.size(),
              wanted.empty() ? "" : fmt::format(" have {} in their name", quote_name(wanted)),
              list_models(listing, found));
}

/// Small files that are read with the weights.
bool is_beside_weights(std::string_view path) {
  const std::string_view folder = path.substr(0, path.find('/') + 1);
  if (folder == "additional_chat_templates/") return path.ends_with(".jinja");
  if (!folder.empty()) return false;
  if (path.ends_with(".tiktoken") || path.starts_with("LICENSE")) return true;
  return std::find(kBeside.begin(), kBeside.end(), path) != kBeside.end();
}

bool is_gguf(std::string_view path) { return path.ends_with(".gguf") || path.ends_with(".GGUF"); }

/// The file with that path, if it is one to read.
Result<std::vector<RepoFile>> choose_path(const RepoListing& listing, const RepoFile& file) {
  for (const GgufModel& model : gguf_models(paths_of(listing))) {
    if (std::find(model.parts.begin(), model.parts.end(), file.path) != model.parts.end()) {
      return take_model(listing, model);
    }
  }
  if (is_gguf(file.path) || file.path.ends_with(".safetensors") || file.path == kIndex ||
      is_beside_weights(file.path)) {
    return std::vector<RepoFile>{file};
  }
  return fail(ErrorCode::kUnsupported, "{}: {} is of no kind that is read here; name a .gguf file", listing.repo,
              quote_name(file.path));
}

/// Names of shards in the text of an index, each once.
Result<std::set<std::string>> shards_of(const std::string& index, const std::string& where) {
  VITRO_TRY_ASSIGN(const Value value, parse_json(index, where));
  const Value* map = value.find("weight_map");
  if (map == nullptr || map->as_object() == nullptr) return fail(ErrorCode::kCorrupt, "{}: has no weight_map", where);
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : *map->as_object()) {
    if (shard.as_string() == nullptr || !is_repo_file(*shard.as_string())) {
      return fail(ErrorCode::kCorrupt, "{}: the shard of tensor {} is no file name", where, quote_name(tensor));
    }
    shards.insert(*shard.as_string());
  }
  return shards;
}

Result<std::vector<RepoFile>> choose_weights(const Hub& hub, const RepoListing& listing, HttpConnection& connection) {
  if (const RepoFile* single = find_file(listing, kSingle)) return std::vector<RepoFile>{*single};
  const std::string where = fmt::format("{}: {}", listing.repo, kIndex);
  const HttpRequest request{.url = resolve_url(hub, listing, std::string(kIndex)), .bearer_token = hub.token};
  VITRO_TRY_ASSIGN(const HttpText index, get_text(request, kMaxIndex, connection, check_no_page));
  if (!index.response.is_success() || index.response.end != HttpEnd::kWhole) {
    return fail(http_error(index.response).in(where));
  }
  VITRO_TRY_ASSIGN(const std::set<std::string> shards, shards_of(index.text, where));
  std::vector<RepoFile> out{*find_file(listing, kIndex)};
  for (const std::string& shard : shards) {
    const RepoFile* file = find_file(listing, shard);
    if (file == nullptr) {
      return fail(ErrorCode::kCorrupt, "{}: names the shard {}, which the repository does not have", where,
                  quote_name(shard));
    }
    out.push_back(*file);
  }
  return out;
}

Result<std::vector<RepoFile>> choose_folder(const Hub& hub, const RepoListing& listing, HttpConnection& connection) {
  VITRO_TRY_ASSIGN(const std::vector<RepoFile> weights, choose_weights(hub, listing, connection));
  std::vector<RepoFile> out;
  for (const RepoFile& file : listing.files) {
    if (is_beside_weights(file.path)) out.push_back(file);
  }
  out.insert(out.end(), weights.begin(), weights.end());
  return out;
}

tl::unexpected<Error> fail_without_weights(const RepoListing& listing) {
  for (const RepoFile& file : listing.files) {
    for (const std::string_view end : {".safetensors", ".bin", ".pt", ".pth", ".onnx", ".h5", ".msgpack", ".tflite"}) {
      if (!file.path.ends_with(end)) continue;
      return fail(ErrorCode::kUnsupported,
                  "{}: has weights only in forms that are not read here ({}); needed: config.json with {} or {}, or a "
                  ".gguf file",
                  listing.repo, quote_name(file.path), kSingle, kIndex);
    }
  }
  return fail(ErrorCode::kNotFound, "{}: there are no weights in this repository ({} files)", listing.repo,
              listing.files.size());
}

}  // namespace

Result<std::vector<RepoFile>> choose_files(const Hub& hub, const RepoListing& listing, std::string_view wanted,
                                           HttpConnection& connection) {
  if (!wanted.empty()) {
    const RepoFile* file = find_file(listing, wanted);
    return file != nullptr ? choose_path(listing, *file) : choose_gguf(listing, wanted);
  }
  const bool has_weights = find_file(listing, kSingle) != nullptr || find_file(listing, kIndex) != nullptr;
  if (has_weights && find_file(listing, "config.json") != nullptr) return choose_folder(hub, listing, connection);
  if (!gguf_models(paths_of(listing)).empty()) return choose_gguf(listing, wanted);
  return fail_without_weights(listing);
}

}  // namespace vitro
