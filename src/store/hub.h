// The Hugging Face hub's HTTP interface: what a repository holds, which of its files make a model, where they are. All
// that it answers is hostile: bounded, checked, names that would leave their folder refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http.h"
#include "store/fetch.h"

namespace vitro {

/// Which hub, as whom.
struct Hub {
  std::string endpoint = "https://huggingface.co";  ///< no slash at its end
  std::string token;                                ///< empty: none
  bool is_offline = false;  ///< every function below then returns NotFound that names HF_HUB_OFFLINE
};

/// HF_ENDPOINT; HF_TOKEN, else the file HF_TOKEN_PATH, else `hf_home`/token; HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE
/// (1, on, yes, true); no token at all with HF_HUB_DISABLE_IMPLICIT_TOKEN. InvalidArgument for an endpoint that is no
/// URL, a token with characters that no header holds; Corrupt for a token file that is too long; as open_to_read for
/// one that is there and cannot be read.
Result<Hub> hub_from_environment(const std::filesystem::path& hf_home);

struct RepoFile {
  std::string path;      ///< as is_repo_file (names.h) allows
  uint64_t n_bytes = 0;  ///< 0 where the hub does not say
};

/// A repository at one revision.
struct RepoListing {
  std::string repo;      ///< "owner/name", as the hub spells it
  std::string revision;  ///< as asked for: branch, tag or commit
  std::string commit;    ///< 40 hex digits
  std::string license;   ///< e.g. "apache-2.0"; empty where it does not say
  std::vector<RepoFile> files;
};

/// GET /api/models/{repo}/revision/{revision}?blobs=true. Errors: NotFound that says whether it is the repository or
/// the revision; InvalidArgument for 401 and for gated models (accept the licence, set HF_TOKEN); Corrupt; as get_text.
Result<RepoListing> list_repo(const Hub& hub, const std::string& repo, const std::string& revision,
                              HttpConnection& connection);

/// The files of a model that are needed, and no other form of the same weights: with safetensors, config.json, the
/// weights (the shards of the index, which is fetched to read it, or the single file), generation_config.json,
/// tokenizer files, chat template; else one .gguf. `wanted` names a .gguf by path, or by a part of its name that no
/// other has ("Q4_K_M", see gguf_choice.h); empty: whatever the repository is. Errors: InvalidArgument that lists the
/// .gguf files with sizes where one must be chosen; NotFound, with the .gguf files that there are, where `wanted` is
/// not; Unsupported where there are weights only in forms that this program does not read (.bin, .pt, .onnx), and for
/// a split .gguf.
Result<std::vector<RepoFile>> choose_files(const Hub& hub, const RepoListing& listing, std::string_view wanted,
                                           HttpConnection& connection);

/// {endpoint}/{repo}/resolve/{commit}/{path}
std::string resolve_url(const Hub& hub, const RepoListing& listing, const std::string& path);

/// stat_remote of resolve_url. Corrupt if the server sends it from another commit.
Result<RemoteFile> stat_hub_file(const Hub& hub, const RepoListing& listing, const RepoFile& file,
                                 HttpConnection& connection);

}  // namespace vitro
