// Which files of a repository make a model, and no second form of the same weights.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/human.h"
#include "formats/json.h"
#include "formats/quote_name.h"
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

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

const RepoFile* find_file(const RepoListing& listing, std::string_view path) {
  const auto found =
      std::find_if(listing.files.begin(), listing.files.end(), [&](const RepoFile& file) { return file.path == path; });
  return found == listing.files.end() ? nullptr : &*found;
}

/// One model in GGUF form: a file, or parts of it.
struct GgufModel {
  std::string name;  ///< path of the file or of the first part
  std::vector<RepoFile> parts;
  size_t n_parts = 1;  ///< that there should be

  uint64_t n_bytes() const {
    uint64_t sum = 0;
    for (const RepoFile& part : parts) sum += std::min(part.n_bytes, UINT64_MAX - sum);
    return sum;
  }
};

bool is_digits(std::string_view text) { return text.find_first_not_of("0123456789") == text.npos; }

/// "x-00002-of-00003.gguf" -> {"x", 3}; of any other name {name, 1}.
std::pair<std::string, size_t> split_part(const std::string& path) {
  constexpr size_t kTail = std::string_view("-00002-of-00003.gguf").size();
  if (path.size() <= kTail) return {path, 1};
  const std::string_view tail = std::string_view(path).substr(path.size() - kTail);
  const bool is_part =
      tail[0] == '-' && is_digits(tail.substr(1, 5)) && tail.substr(6, 4) == "-of-" && is_digits(tail.substr(10, 5));
  if (!is_part) return {path, 1};
  return {path.substr(0, path.size() - kTail), std::stoul(std::string(tail.substr(10, 5)))};
}

/// All that are no companions of another one (projectors of images).
std::vector<GgufModel> gguf_models(const RepoListing& listing) {
  std::map<std::pair<std::string, size_t>, GgufModel> models;
  for (const RepoFile& file : listing.files) {
    if (!lower(file.path).ends_with(".gguf") || lower(file.path).find("mmproj") != std::string::npos) continue;
    const auto key = split_part(file.path);
    GgufModel& model = models[key];
    model.n_parts = key.second;
    model.parts.push_back(file);
  }
  std::vector<GgufModel> out;
  for (auto& [key, model] : models) {
    std::sort(model.parts.begin(), model.parts.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    model.name = model.parts.front().path;
    out.push_back(std::move(model));
  }
  return out;
}

Result<std::vector<RepoFile>> whole(const RepoListing& listing, const GgufModel& model) {
  if (model.parts.size() == model.n_parts) return model.parts;
  return fail(ErrorCode::kCorrupt, "{}: {} is one of {} parts, but only {} are there", listing.repo,
              quote_name(model.name), model.n_parts, model.parts.size());
}

std::string list_models(const RepoListing& listing, const std::vector<GgufModel>& models) {
  std::string out;
  for (size_t i = 0; i < std::min(models.size(), kMaxShown); ++i) {
    const std::string size = models[i].n_bytes() == 0 ? "size not said" : human_bytes(models[i].n_bytes());
    out += fmt::format("\n  {}:{}  {}", listing.repo, models[i].name, size);
  }
  if (models.size() > kMaxShown) out += fmt::format("\n  and {} more", models.size() - kMaxShown);
  return out;
}

/// Whether `part` stands in the name between dots, dashes or slashes: Q4_0 is no word of Q4_0_4_4.
bool has_word(std::string_view name, std::string_view part) {
  constexpr std::string_view kEnds = "-./";
  for (size_t at = name.find(part); at != name.npos; at = name.find(part, at + 1)) {
    const bool begins = at == 0 || kEnds.find(name[at - 1]) != kEnds.npos;
    const size_t end = at + part.size();
    if (begins && (end == name.size() || kEnds.find(name[end]) != kEnds.npos)) return true;
  }
  return false;
}

std::vector<GgufModel> matching(const std::vector<GgufModel>& models, std::string_view wanted) {
  const std::string part = lower(wanted);
  std::vector<GgufModel> words, others;
  for (const GgufModel& model : models) {
    const std::string name = lower(model.name);
    if (has_word(name, part)) words.push_back(model);
    if (name.find(part) != name.npos) others.push_back(model);
  }
  return words.empty() ? others : words;
}

Result<std::vector<RepoFile>> choose_gguf(const RepoListing& listing, std::string_view wanted) {
  const std::vector<GgufModel> models = gguf_models(listing);
  const std::vector<GgufModel> found = matching(models, wanted);
  if (found.size() == 1) return whole(listing, found.front());
  if (found.empty()) {
    return fail(ErrorCode::kNotFound, "{}: no file is called {}, and no .gguf has that in its name{}{}", listing.repo,
                quote_name(wanted), models.empty() ? "" : "; there are", list_models(listing, models));
  }
  return fail(ErrorCode::kInvalidArgument, "{}: {} models in GGUF form{}; name one:{}", listing.repo, found.size(),
              wanted.empty() ? "" : fmt::format(" have {} in their name", quote_name(wanted)),
              list_models(listing, found));
}

/// The file with that path; all parts if it is one.
Result<std::vector<RepoFile>> choose_path(const RepoListing& listing, const RepoFile& file) {
  for (const GgufModel& model : gguf_models(listing)) {
    for (const RepoFile& part : model.parts) {
      if (part.path == file.path) return whole(listing, model);
    }
  }
  return std::vector<RepoFile>{file};
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

Result<std::vector<RepoFile>> choose_weights(const Hub& hub, const RepoListing& listing, const HttpOptions& http) {
  if (const RepoFile* single = find_file(listing, kSingle)) return std::vector<RepoFile>{*single};
  const std::string where = fmt::format("{}: {}", listing.repo, kIndex);
  const HttpRequest request{.url = resolve_url(hub, listing, std::string(kIndex)), .bearer_token = hub.token};
  VITRO_TRY_ASSIGN(const HttpText index, get_text(request, kMaxIndex, http));
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

/// Small files that are read with the weights.
bool is_beside_weights(std::string_view path) {
  const std::string_view folder = path.substr(0, path.find('/') + 1);
  if (folder == "additional_chat_templates/") return path.ends_with(".jinja");
  if (!folder.empty()) return false;
  if (path.ends_with(".tiktoken") || path.starts_with("LICENSE")) return true;
  return std::find(kBeside.begin(), kBeside.end(), path) != kBeside.end();
}

Result<std::vector<RepoFile>> choose_folder(const Hub& hub, const RepoListing& listing, const HttpOptions& http) {
  VITRO_TRY_ASSIGN(const std::vector<RepoFile> weights, choose_weights(hub, listing, http));
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
                                           const HttpOptions& http) {
  if (!wanted.empty()) {
    const RepoFile* file = find_file(listing, wanted);
    return file != nullptr ? choose_path(listing, *file) : choose_gguf(listing, wanted);
  }
  const bool has_weights = find_file(listing, kSingle) != nullptr || find_file(listing, kIndex) != nullptr;
  if (has_weights && find_file(listing, "config.json") != nullptr) return choose_folder(hub, listing, http);
  if (!gguf_models(listing).empty()) return choose_gguf(listing, wanted);
  return fail_without_weights(listing);
}

}  // namespace vitro
