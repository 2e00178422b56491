#include "store/names.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "embedded/embedded_model.h"
#include "formats/quote_name.h"

namespace vitro {
namespace {

constexpr size_t kMaxPart = 255;        // of a file system
constexpr size_t kMaxRepoPart = 96;     // of the hub
constexpr size_t kMaxRepoFile = 1024;   // of UTF-8; longer ones are no honest names
constexpr size_t kMaxNameBytes = 2048;  // longer ones are no names

constexpr std::string_view kShapes =
    "a known name such as smollm2, or owner/name, owner/name@revision, owner/name:file.gguf";

bool is_alphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

/// Parts between slashes, each judged by `is_good`.
template <class Judge>
bool all_parts(std::string_view text, Judge is_good) {
  while (true) {
    const size_t slash = text.find('/');
    if (!is_good(text.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    text.remove_prefix(slash + 1);
  }
}

bool is_plain_part(std::string_view part) {
  return !part.empty() && part.size() <= kMaxPart && part != "." && part != "..";
}

tl::unexpected<Error> fail_unknown(std::string_view text, std::vector<std::string> names) {
  for (const KnownModel& model : known_models()) names.emplace_back(model.name);
  names.emplace_back(kEmbeddedModel);
  std::string near;
  for (const std::string& name : nearest_names(text, names, 3)) near += (near.empty() ? "" : " or ") + name;
  if (!near.empty())
    return fail(ErrorCode::kNotFound, "{}: no model of that name; did you mean {}?", quote_name(text), near);
  return fail(ErrorCode::kNotFound, "{}: no model of that name; expected {}", quote_name(text), kShapes);
}

/// "owner/name@revision:wanted" cut at ':' and then at '@'.
HubName cut(std::string_view text) {
  HubName out;
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) out.wanted = text.substr(colon + 1);
  const std::string_view front = text.substr(0, colon);
  const size_t at = front.find('@');
  out.repo = front.substr(0, at);
  if (at != std::string_view::npos) out.revision = front.substr(at + 1);
  return out;
}

}  // namespace

bool is_repo_name(std::string_view text) {
  const auto is_end = [](char c) { return is_alphanumeric(c) || c == '_'; };
  const auto is_safe = [&](char c) { return is_end(c) || c == '-' || c == '.'; };
  const auto is_part = [&](std::string_view part) {
    return !part.empty() && part.size() <= kMaxRepoPart && is_end(part.front()) && is_end(part.back()) &&
           std::all_of(part.begin(), part.end(), is_safe);
  };
  return std::count(text.begin(), text.end(), '/') <= 1 && all_parts(text, is_part) && !text.ends_with(".git") &&
         text.find("--") == std::string_view::npos && text.find("..") == std::string_view::npos;
}

bool is_revision(std::string_view text) {
  constexpr std::string_view kOthers = "-_./+=";
  const auto is_safe = [&](char c) { return is_alphanumeric(c) || kOthers.find(c) != std::string_view::npos; };
  return text.size() <= kMaxPart && std::all_of(text.begin(), text.end(), is_safe) && all_parts(text, is_plain_part) &&
         text.find("..") == std::string_view::npos && text[0] != '-';
}

bool is_commit(std::string_view text) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == 40 && std::all_of(text.begin(), text.end(), is_digit);
}

bool is_repo_file(std::string_view text) {
  const auto is_safe = [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F && c != '\\'; };
  return text.size() <= kMaxRepoFile && std::all_of(text.begin(), text.end(), is_safe) &&
         all_parts(text, is_plain_part);
}

bool is_blob_name(std::string_view etag) {
  const auto is_safe = [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; };
  return !etag.empty() && etag.size() <= 128 && etag[0] != '.' && std::all_of(etag.begin(), etag.end(), is_safe);
}

Result<ModelName> parse_model_name(std::string_view text, const std::vector<std::string>& names_here) {
  if (const KnownModel* known = find_known_model(text)) return ModelName{known, {}};
  if (text.size() > kMaxNameBytes)
    return fail(ErrorCode::kInvalidArgument, "{}: too long for a name", quote_name(text));
  const HubName name = cut(text);
  if (name.repo == text && text.find('/') == std::string_view::npos) return fail_unknown(text, names_here);
  if (!is_repo_name(name.repo)) {
    return fail(ErrorCode::kInvalidArgument, "{}: neither a file nor a model's name; expected {}", quote_name(text),
                kShapes);
  }
  if (name.revision && !is_revision(*name.revision)) {
    return fail(ErrorCode::kInvalidArgument, "{}: {} is no revision; expected a branch, a tag or a commit after '@'",
                quote_name(text), quote_name(*name.revision));
  }
  const bool has_colon = text.find(':') != std::string_view::npos;
  if (has_colon && !is_repo_file(name.wanted)) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: {} is no file name; expected a .gguf file, or a part of its name, after ':'", quote_name(text),
                quote_name(name.wanted));
  }
  return ModelName{nullptr, name};
}

std::string to_string(const ModelName& name) {
  if (name.known) return std::string(name.known->name);
  const HubName& hub = name.hub;
  return hub.repo + (hub.revision ? "@" + *hub.revision : "") + (hub.wanted.empty() ? "" : ":" + hub.wanted);
}

}  // namespace vitro
