#include "store/remote_headers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/human.h"
#include "base/write_file.h"
#include "formats/gguf.h"
#include "store/fetch.h"
#include "store/range_worker.h"

namespace vitro {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kFirstBytes = uint64_t{1} << 20;  // holds the header of most files
constexpr uint64_t kMaxHeaderBytes = uint64_t{256} << 20;

bool is_safetensors(std::string_view path) { return path.ends_with(".safetensors"); }
bool is_gguf(std::string_view path) { return path.ends_with(".gguf"); }
/// One of the files that a description is read from.
bool is_told_by_headers(std::string_view path) {
  return is_safetensors(path) || is_gguf(path) || path.ends_with("config.json") || path.ends_with(".index.json");
}

/// One file of the repository, fetched from its beginning on.
class Beginning {
 public:
  Beginning(const Hub& hub, RemoteFile file, HttpConnection& connection)
      : hub_(hub), file_(std::move(file)), connection_(connection) {}

  /// At least the first `n_bytes`, or the whole file if it is shorter.
  Status reach(uint64_t n_bytes) {
    if (n_bytes > kMaxHeaderBytes) {
      return fail(ErrorCode::kCorrupt, "{}: its header is longer than {}", url_for_people(file_.url),
                  human_bytes(kMaxHeaderBytes));
    }
    const HttpRange range{bytes_.size(), std::min(n_bytes, file_.n_bytes)};
    if (range.end <= range.begin) return {};
    const HttpRequest request{.url = file_.url, .range = range, .bearer_token = hub_.token};
    const auto check = [&](const HttpResponse& head) { return check_answer(head, file_, range); };
    VITRO_TRY_ASSIGN(const HttpText answer, get_text(request, range.end - range.begin, connection_, check));
    if (!answer.response.is_success()) return fail(http_error(answer.response));
    if (answer.text.size() != range.end - range.begin) {
      return fail(ErrorCode::kIoError, "{}: {} bytes came in place of the {} that were asked for",
                  url_for_people(file_.url), answer.text.size(), range.end - range.begin);
    }
    bytes_ += answer.text;
    return {};
  }

  const std::string& bytes() const { return bytes_; }
  bool is_whole() const { return bytes_.size() >= file_.n_bytes; }
  uint64_t n_file_bytes() const { return file_.n_bytes; }

 private:
  const Hub& hub_;
  RemoteFile file_;
  HttpConnection& connection_;
  std::string bytes_;
};

/// Eight bytes that say how long the JSON behind them is.
Status reach_safetensors_header(Beginning* file) {
  static_assert(std::endian::native == std::endian::little);
  VITRO_TRY(file->reach(kFirstBytes));
  uint64_t n_header = 0;
  if (file->bytes().size() < sizeof n_header) return {};  // the reader says what is wrong with it
  std::memcpy(&n_header, file->bytes().data(), sizeof n_header);
  return file->reach(n_header > kMaxHeaderBytes ? kMaxHeaderBytes + 1 : n_header + sizeof n_header);
}

/// A GGUF header does not say its length: it is read again with four times as much until it is whole.
Status reach_gguf_header(Beginning* file) {
  for (uint64_t n_bytes = 4 * kFirstBytes;; n_bytes *= 4) {
    VITRO_TRY(file->reach(std::min(n_bytes, kMaxHeaderBytes)));
    const auto bytes = std::as_bytes(std::span(file->bytes()));
    const bool is_last = file->is_whole() || n_bytes >= kMaxHeaderBytes;
    if (is_last || read_gguf(bytes, "header", true)) return {};
  }
}

/// The bytes, and a hole up to the file's length.
Status write_with_hole(const fs::path& path, const Beginning& file) {
  VITRO_TRY(write_file(path, file.bytes(), true));
  std::error_code error;
  fs::resize_file(path, file.n_file_bytes(), error);
  if (!error) return {};
  return fail(ErrorCode::kIoError, "{}: cannot be made {} long: {}", path.string(), human_bytes(file.n_file_bytes()),
              error.message());
}

Status fetch_header(const Hub& hub, RemoteFile remote, const fs::path& target, HttpConnection& connection) {
  Beginning file(hub, std::move(remote), connection);
  if (is_safetensors(target.native())) {
    VITRO_TRY(reach_safetensors_header(&file));
  } else if (is_gguf(target.native())) {
    VITRO_TRY(reach_gguf_header(&file));
  } else {
    VITRO_TRY(file.reach(file.n_file_bytes()));
  }
  VITRO_TRY(make_folders(target.parent_path()));
  return write_with_hole(target, file);
}

}  // namespace

Result<fs::path> fetch_headers(const HubName& name, const Hub& hub, const fs::path& folder, HttpConnection& connection,
                               const std::function<void(size_t n_done, size_t n_total)>& on_file) {
  VITRO_TRY_ASSIGN(const RepoListing listing, list_repo(hub, name.repo, name.revision_or_default(), connection));
  VITRO_TRY_ASSIGN(std::vector<RepoFile> files, choose_files(hub, listing, name.wanted, connection));
  std::erase_if(files, [](const RepoFile& file) { return !is_told_by_headers(file.path); });
  fs::path to_open = folder;
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string& path = files[i].path;
    VITRO_TRY_ASSIGN(RemoteFile remote, stat_hub_file(hub, listing, files[i], connection));
    VITRO_TRY(fetch_header(hub, std::move(remote), folder / path, connection));
    if (is_gguf(path) && to_open == folder) to_open = folder / path;
    if (on_file) on_file(i + 1, files.size());
  }
  return to_open;
}

}  // namespace vitro
