#include "store/hub.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/letters.h"
#include "base/read_file.h"
#include "formats/json.h"
#include "formats/quote_name.h"
#include "store/hf_cache.h"
#include "store/names.h"

namespace vitro {
namespace {

constexpr size_t kMaxListing = size_t{32} << 20;  // 100,000 files with hashes are about 30 MB
constexpr size_t kMaxToken = 4096;

std::string environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

bool is_true(const std::string& name) {
  const std::string text = lower_case(environment(name.c_str()));
  return text == "1" || text == "on" || text == "yes" || text == "true";
}

/// The token of a login, if there is one. A file of it that cannot be read is an error: without it a gated model would
/// seem not to be there.
Result<std::string> read_token(const std::filesystem::path& hf_home) {
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    const std::string text = environment(name);
    if (const std::string_view token = trimmed(text); !token.empty()) return std::string(token);
  }
  const auto path = path_in_environment({"HF_TOKEN_PATH"});
  const auto text = read_small_file(path ? *path : hf_home / "token", kMaxToken);
  if (text) return std::string(trimmed(*text));
  if (text.error().code == ErrorCode::kNotFound) return "";
  return fail(text.error().in("the file of the login token"));
}

Status check_token(const std::string& token) {
  for (const char c : token) {
    if (c <= ' ' || c >= 0x7f) {
      return fail(ErrorCode::kInvalidArgument,
                  "HF_TOKEN (or the token file) holds a character that no token has; set it anew");
    }
  }
  return {};
}

tl::unexpected<Error> fail_answer(std::string_view what) {
  return fail(ErrorCode::kCorrupt, "the hub's answer {}; is HF_ENDPOINT a Hugging Face hub?", what);
}

const std::string* text_member(const Value& object, std::string_view key) {
  const Value* member = object.find(key);
  return member == nullptr ? nullptr : member->as_string();
}

/// cardData.license, else a tag "license:...".
std::string read_license(const Value& answer) {
  const Value* card = answer.find("cardData");
  const std::string* license = card == nullptr ? nullptr : text_member(*card, "license");
  if (license != nullptr) return *license;
  const Value* tags = answer.find("tags");
  const Value::Array* list = tags == nullptr ? nullptr : tags->as_array();
  if (list == nullptr) return {};
  constexpr std::string_view kPrefix = "license:";
  for (const Value& tag : *list) {
    if (tag.as_string() != nullptr && tag.as_string()->starts_with(kPrefix))
      return tag.as_string()->substr(kPrefix.size());
  }
  return {};
}

Result<RepoFile> read_file_entry(const Value& entry) {
  const std::string* path = text_member(entry, "rfilename");
  if (path == nullptr) return fail_answer("has a file without a name");
  if (!is_repo_file(*path)) {
    return fail(ErrorCode::kCorrupt, "the hub's answer names a file {} that would leave its folder or cannot be a name",
                quote_name(*path));
  }
  const Value* size = entry.find("size");
  const int64_t* n_bytes = size == nullptr ? nullptr : size->as_int();
  return RepoFile{*path, n_bytes != nullptr && *n_bytes > 0 ? static_cast<uint64_t>(*n_bytes) : 0};
}

Result<RepoListing> read_listing(const Value& answer, const std::string& repo, const std::string& revision) {
  RepoListing listing{.repo = repo, .revision = revision};
  const std::string* id = text_member(answer, "id");
  if (id != nullptr && is_repo_name(*id)) listing.repo = *id;
  const std::string* commit = text_member(answer, "sha");
  if (commit == nullptr || !is_commit(*commit)) return fail_answer("has no commit");
  listing.commit = *commit;
  listing.license = trimmed(read_license(answer).substr(0, 200));
  const Value* files = answer.find("siblings");
  if (files == nullptr || files->as_array() == nullptr) return fail_answer("has no list of files");
  for (const Value& entry : *files->as_array()) {
    VITRO_TRY_ASSIGN(RepoFile file, read_file_entry(entry));
    listing.files.push_back(std::move(file));
  }
  return listing;
}

Status check_online(const Hub& hub, std::string_view what) {
  if (!hub.is_offline) return {};
  return fail(ErrorCode::kNotFound, "{}: not asked for, because HF_HUB_OFFLINE is set", what);
}

}  // namespace

Result<Hub> hub_from_environment(const std::filesystem::path& hf_home) {
  Hub hub;
  const std::string endpoint = environment("HF_ENDPOINT");
  if (!trimmed(endpoint).empty()) hub.endpoint = trimmed(endpoint);
  while (hub.endpoint.ends_with('/')) hub.endpoint.pop_back();
  if (auto origin = url_origin(hub.endpoint); !origin) return fail(origin.error().in("HF_ENDPOINT"));
  if (!is_true("HF_HUB_DISABLE_IMPLICIT_TOKEN")) {
    VITRO_TRY_ASSIGN(hub.token, read_token(hf_home));
  }
  VITRO_TRY(check_token(hub.token));
  hub.is_offline = is_true("HF_HUB_OFFLINE") || is_true("TRANSFORMERS_OFFLINE");
  return hub;
}

Result<RepoListing> list_repo(const Hub& hub, const std::string& repo, const std::string& revision,
                              HttpConnection& connection) {
  const std::string name = revision == kDefaultRevision ? repo : repo + "@" + revision;
  VITRO_TRY(check_online(hub, name));
  if (!is_repo_name(repo) || !is_revision(revision)) {
    return fail(ErrorCode::kInvalidArgument, "{} is no name of a repository and revision", quote_name(name));
  }
  // A revision is one part of the path, whatever slashes it has.
  std::string escaped;
  for (const char c : url_escape_path(revision)) escaped += c == '/' ? std::string("%2F") : std::string(1, c);
  const HttpRequest request{
      .url = fmt::format("{}/api/models/{}/revision/{}?blobs=true", hub.endpoint, url_escape_path(repo), escaped),
      .bearer_token = hub.token};
  VITRO_TRY_ASSIGN(const HttpText answer, get_text(request, kMaxListing, connection, check_no_page));
  if (!answer.response.is_success() || answer.response.end != HttpEnd::kWhole) {
    return fail(http_error(answer.response).in(name));
  }
  auto value = parse_json(answer.text, name + ": the hub's answer");
  if (!value) return fail(value.error());
  auto listing = read_listing(*value, repo, revision);
  if (!listing) return fail(listing.error().in(name));
  return listing;
}

std::string resolve_url(const Hub& hub, const RepoListing& listing, const std::string& path) {
  return fmt::format("{}/{}/resolve/{}/{}", hub.endpoint, listing.repo, listing.commit, url_escape_path(path));
}

Result<RemoteFile> stat_hub_file(const Hub& hub, const RepoListing& listing, const RepoFile& file,
                                 HttpConnection& connection) {
  const std::string name = listing.repo + ": " + file.path;
  VITRO_TRY(check_online(hub, name));
  auto remote = stat_remote(resolve_url(hub, listing, file.path), hub.token, connection);
  if (!remote) return fail(remote.error().in(name));
  if (remote->commit != listing.commit) {
    return fail(ErrorCode::kCorrupt, "{}: the server sends it from commit '{}', asked for {}", name, remote->commit,
                listing.commit);
  }
  return remote;
}

}  // namespace vitro
