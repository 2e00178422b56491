// Names of models: what a MODEL argument may be when it is no path. Pure functions of the text; nothing is looked up.
//   smollm2                       a model that we know (known_models.h)
//   owner/name                    a repository of the Hugging Face hub; its default revision is "main"
//   owner/name@revision           a branch, a tag or a commit of it
//   owner/name:file.gguf          one file of it; also owner/name@revision:folder/file.gguf
//   owner/name:Q4_K_M             the one whose name has that part
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/known_models.h"

namespace vitro {

inline constexpr std::string_view kDefaultRevision = "main";

/// A repository of the hub, and which part of it.
struct HubName {
  std::string repo;                          ///< "owner/name", or "name" for the few that have no owner
  std::optional<std::string> revision = {};  ///< branch, tag or commit; none was said: the default one
  std::string wanted = {};                   ///< a file by its path, or a part of a .gguf's name; empty: what is needed

  /// The one to read or fetch.
  std::string revision_or_default() const { return revision.value_or(std::string(kDefaultRevision)); }
};

/// Exactly one of the two is there.
struct ModelName {
  const KnownModel* known = nullptr;
  HubName hub;
};

/// NotFound, with the nearest of the known names and of `names_here`, for a word that is no known name;
/// InvalidArgument with what is wrong with any other text. (A repository without an owner is NAME@main.)
Result<ModelName> parse_model_name(std::string_view text, const std::vector<std::string>& names_here = {});
/// As parse_model_name reads it.
std::string to_string(const ModelName& name);

/// The rules of the hub: 1 to 96 of A-Z a-z 0-9 - _ . on each side of at most one '/', neither '-' nor '.' at an end of
/// either, no "--", no "..", no ".git" at the end.
bool is_repo_name(std::string_view text);
/// Of git, as far as paths and URLs are safe: A-Z a-z 0-9 and - _ . / + =, no "..", no empty part, no '-' at the front,
/// at most 255 bytes.
bool is_revision(std::string_view text);
/// 40 hexadecimal digits in lower case.
bool is_commit(std::string_view text);
/// A file name of a repository that stays in it: relative, no "." or ".." or empty part, no backslash, no control
/// byte, no part over 255 bytes, at most 1024 bytes.
bool is_repo_file(std::string_view text);
/// An ETag without quotes and "W/" that is safe as a file name: 1 to 128 of A-Z a-z 0-9 - _ .; no '.' at the front.
bool is_blob_name(std::string_view etag);

}  // namespace vitro
