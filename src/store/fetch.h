// One file from a URL to a path. The bytes go to `<target>.incomplete`, which is at every moment a beginning of the
// file: ranges that arrive early wait in memory. So its length alone says what is there, and a killed
// process loses seconds. The final name appears by a rename, once length and hash are those that the server promised
// and the disk has every byte.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http.h"

namespace vitro {

enum class HashKind : uint8_t {
  kNone,     ///< only the length is checked
  kSha256,   ///< of the bytes
  kGitSha1,  ///< sha1 of "blob <length>\0" and the bytes, as git names them
};

/// What is known of a file before its bytes.
struct RemoteFile {
  std::string url;       ///< as asked for; the token goes to its origin only
  std::string location;  ///< where the bytes are: url, or where it leads
  uint64_t n_bytes = 0;
  std::string etag;    ///< without quotes and W/; letters, digits, "-_." only, at most 128: safe as a file name
  std::string commit;  ///< X-Repo-Commit: 40 hex digits, or empty
  HashKind hash_kind = HashKind::kNone;
  std::string hash;  ///< lower-case hex; may be set by a caller who knows better (a pinned sha256)
};

/// Asks for a file's metadata (HEAD) without going to the host that stores its bytes: X-Linked-Etag and X-Linked-Size
/// of a redirect, else ETag and Content-Length. A redirect to another host that has neither is followed, without the
/// token. An etag of 64 hex digits is a sha256, of 40 a git sha1.
/// Errors: as follow() and http_error(); Corrupt where length or etag are missing, and for an HTML page.
Result<RemoteFile> stat_remote(const std::string& url, const std::string& token, HttpConnection& connection);

/// Corrupt for an HTML page where none was asked for: login pages of networks answer so, whatever is asked.
Status check_no_page(const HttpResponse& response);

/// A refusal in words. Codes: NotFound 404 and 410, InvalidArgument 401 and 403, IoError otherwise.
Error http_error(const HttpResponse& response);

/// Where things go. All three on one file system; missing folders are made.
struct FetchPaths {
  std::filesystem::path target;
  std::filesystem::path incomplete;
  std::filesystem::path lock;  ///< held by flock(2) meanwhile, as huggingface_hub does; stays as an empty file
};

struct FetchProgress {
  uint64_t n_done = 0;  ///< on the disk, from earlier tries too
  uint64_t n_total = 0;
  uint64_t n_resumed = 0;  ///< of n_done, from earlier tries
};

struct FetchOptions {
  std::string token;                                      ///< sent to the origin of RemoteFile::url only
  int n_connections = 8;                                  ///< at most
  HttpOptions http;                                       ///< timeouts, cancelling (from several threads at once)
  std::function<void(const FetchProgress&)> on_progress;  ///< from the calling thread, a few times a second
  /// As on_progress: bytes of an earlier try that are read again, of all of them, before anything is asked for.
  std::function<void(uint64_t n_done, uint64_t n_total)> on_check;
  std::function<void(const std::string&)> on_notice;  ///< a sentence for the user (waiting, trying again); same thread
};

enum class Fetched : uint8_t {
  kNow,           ///< downloaded, or the rest of it
  kAlreadyThere,  ///< target was there, with the right length
};

/// Downloads `file` to paths.target. If another process is at it, waits for it. Nothing but paths.incomplete is written
/// before the file is whole; that stays after a failure, for the next try, unless its bytes are proven wrong.
/// Errors: IoError for the disk (no space: said before the first byte, with numbers; no permission), for the network
/// after five tries without a byte, for refusals of the server; Corrupt for a wrong hash or length, for an HTML page;
/// Cancelled; InvalidArgument where target or incomplete is a folder or a link that leads nowhere.
Result<Fetched> fetch_file(const RemoteFile& file, const FetchPaths& paths, const FetchOptions& options);

/// Bytes of a file of `n_bytes` that are still to come: all but those of an earlier try; 0 if the target is there.
uint64_t n_missing_bytes(const FetchPaths& paths, uint64_t n_bytes);

/// IoError with the numbers if the file system of a folder, which may not be there yet, has less room.
Status check_room(const std::filesystem::path& folder, uint64_t n_bytes);

}  // namespace vitro
