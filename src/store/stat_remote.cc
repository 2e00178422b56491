// What a server says of a file before its bytes, and its refusals in words.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "formats/quote_name.h"
#include "net/retry.h"
#include "store/fetch.h"
#include "store/names.h"

namespace vitro {
namespace {

/// The hub's own names for what is wrong, in a header of its answers.
struct HubReason {
  std::string_view name;
  ErrorCode code;
  std::string_view meaning;
};
constexpr HubReason kHubReasons[] = {
    {"RepoNotFound", ErrorCode::kNotFound,
     "there is no such repository, or it is private: check the name, or set HF_TOKEN to a token that may see it"},
    {"RevisionNotFound", ErrorCode::kNotFound, "the repository has no such revision"},
    {"EntryNotFound", ErrorCode::kNotFound, "the repository has no such file at this revision"},
    {"GatedRepo", ErrorCode::kInvalidArgument,
     "access to this model is given on request: accept its license on its page in a browser, then set HF_TOKEN to a "
     "token of that account"},
    {"DisabledRepo", ErrorCode::kInvalidArgument, "the hub has disabled this repository"},
};

struct StatusReason {
  int status;
  ErrorCode code;
  std::string_view meaning;
};
constexpr StatusReason kStatusReasons[] = {
    {401, ErrorCode::kInvalidArgument, "it wants a token, or does not take this one: set HF_TOKEN"},
    {403, ErrorCode::kInvalidArgument, "access refused; a gated model wants its license accepted and HF_TOKEN set"},
    {404, ErrorCode::kNotFound, "there is no such thing"},
    {410, ErrorCode::kNotFound, "it is gone"},
    {416, ErrorCode::kIoError, "the file there is shorter than was announced"},
    {429, ErrorCode::kIoError, "too many requests; wait a while, or set HF_TOKEN"},
};

std::string asked_wait(const HttpResponse& response) {
  const auto wait_s = retry_after_s(response);
  return wait_s ? fmt::format(" (it asks to wait {:.0f} s)", *wait_s) : "";
}

bool is_hex(std::string_view text, size_t n_digits) {
  return text.size() == n_digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// Without W/ and quotes.
std::string_view bare_etag(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') etag = etag.substr(1, etag.size() - 2);
  return etag;
}

Result<uint64_t> read_size(std::string_view text) {
  uint64_t n_bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n_bytes);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && !text.empty();
  constexpr uint64_t kMost = uint64_t{1} << 62;  // offsets of files are signed
  if (!is_number || n_bytes > kMost) {
    return fail(ErrorCode::kCorrupt, "the server does not say how long the file is ({})", quote_name(text));
  }
  return n_bytes;
}

Result<RemoteFile> read_metadata(const HttpResponse& response, const std::string& url) {
  if (response.redirect_to.empty()) VITRO_TRY(check_no_page(response));
  RemoteFile file{url, response.redirect_to.empty() ? response.url : response.redirect_to};
  const std::string_view linked = response.header("x-linked-etag");
  file.etag = bare_etag(linked.empty() ? response.header("etag") : linked);
  if (!is_blob_name(file.etag)) {
    return fail(ErrorCode::kCorrupt, "sends no usable ETag; is this a server for models?");
  }
  const std::string_view size = response.header("x-linked-size");
  const bool is_linked = !size.empty() || !response.redirect_to.empty();
  VITRO_TRY_ASSIGN(file.n_bytes, read_size(is_linked ? size : response.header("content-length")));
  file.commit = is_commit(response.header("x-repo-commit")) ? response.header("x-repo-commit") : "";
  if (is_hex(file.etag, 64)) file.hash_kind = HashKind::kSha256;
  if (is_hex(file.etag, 40)) file.hash_kind = HashKind::kGitSha1;
  if (file.hash_kind != HashKind::kNone) file.hash = file.etag;
  return file;
}

/// Answers that may pass are asked for again.
Result<HttpResponse> ask_remote(const HttpRequest& request, HttpConnection& connection) {
  Retry retry(connection.options());
  while (true) {
    VITRO_TRY_ASSIGN(HttpResponse response, follow(connection, request, Redirects::kSameOrigin));
    if (!is_passing(response)) return response;
    VITRO_TRY_ASSIGN(const bool again, retry.wait_after(response));
    if (!again) return response;
  }
}

/// Asks on from host to host, for mirrors send to others, until an answer tells of the file. The commit is the one that
/// the first of them told.
Result<HttpResponse> ask_until_told(HttpRequest request, HttpConnection& connection) {
  constexpr int kMaxHosts = 5;
  const std::string where = url_for_people(request.url);
  std::string commit;
  for (int i = 0; i < kMaxHosts; ++i) {
    VITRO_TRY_ASSIGN(HttpResponse response, ask_remote(request, connection));
    if (commit.empty()) commit = response.header("x-repo-commit");
    const bool is_told = response.redirect_to.empty() || !response.header("x-linked-etag").empty();
    if (response.end == HttpEnd::kWhole && !commit.empty()) response.headers.emplace_back("x-repo-commit", commit);
    if (response.end != HttpEnd::kWhole || is_told) return response;
    VITRO_TRY_ASSIGN(request, redirected(std::move(request), response));
  }
  return fail(ErrorCode::kCorrupt, "{}: over {} redirects", where, kMaxHosts);
}

}  // namespace

Status check_no_page(const HttpResponse& response) {
  if (!response.header("content-type").starts_with("text/html")) return {};
  return fail(ErrorCode::kCorrupt,
              "the server answers with a web page; is there a login page in the network, or a wrong HF_ENDPOINT?");
}

Error http_error(const HttpResponse& response) {
  const std::string where = url_for_people(response.url);
  if (response.end != HttpEnd::kWhole) {
    return {ErrorCode::kIoError, fmt::format("{}: {}", where, response.end_reason)};
  }
  const auto hub = std::find_if(std::begin(kHubReasons), std::end(kHubReasons), [&](const HubReason& reason) {
    return reason.name == response.header("x-error-code");
  });
  if (hub != std::end(kHubReasons)) return {hub->code, fmt::format("{}: {}", where, hub->meaning)};
  const auto known = std::find_if(std::begin(kStatusReasons), std::end(kStatusReasons),
                                  [&](const StatusReason& reason) { return reason.status == response.status; });
  const bool is_known = known != std::end(kStatusReasons);
  const std::string_view other = response.status >= 500 ? "the server has a problem; try again later" : "unexpected";
  return {is_known ? known->code : ErrorCode::kIoError,
          fmt::format("{}: the server answered {}: {}{}", where, response.status, is_known ? known->meaning : other,
                      asked_wait(response))};
}

Result<RemoteFile> stat_remote(const std::string& url, const std::string& token, HttpConnection& connection) {
  const HttpRequest request{.url = url, .is_head = true, .bearer_token = token};
  VITRO_TRY_ASSIGN(const HttpResponse response, ask_until_told(request, connection));
  const bool is_answer = response.is_success() || !response.redirect_to.empty();
  if (response.end != HttpEnd::kWhole || !is_answer) return fail(http_error(response));
  auto file = read_metadata(response, url);
  if (!file) return fail(file.error().in(url_for_people(url)));
  return file;
}

}  // namespace vitro
