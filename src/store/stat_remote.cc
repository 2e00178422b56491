// What a server says of a file before its bytes, and its refusals in words.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "net/retry.h"
#include "store/fetch.h"
#include "store/names.h"

namespace vitro {
namespace {

std::string_view meaning(int status) {
  switch (status) {
    case 401: return "it wants a token: set HF_TOKEN";
    case 403: return "access refused";
    case 404:
    case 410: return "there is no such file";
    case 416: return "the file there is shorter than was announced";
    case 429: return "too many requests; wait a while, or set HF_TOKEN";
    default: break;
  }
  return status >= 500 ? "the server has a problem; try again later" : "unexpected";
}

ErrorCode code_of(int status) {
  if (status == 404 || status == 410) return ErrorCode::kNotFound;
  return status == 401 || status == 403 ? ErrorCode::kInvalidArgument : ErrorCode::kIoError;
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

bool is_safe_etag(std::string_view etag) {
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
  return !etag.empty() && etag.size() <= 128 && etag[0] != '.' && etag.find_first_not_of(kAllowed) == etag.npos;
}

Result<uint64_t> read_size(std::string_view text) {
  uint64_t n_bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n_bytes);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && !text.empty();
  constexpr uint64_t kMost = uint64_t{1} << 62;  // offsets of files are signed
  if (!is_number || n_bytes > kMost) {
    return fail(ErrorCode::kCorrupt, "the server does not say how long the file is ('{}')", text.substr(0, 40));
  }
  return n_bytes;
}

Result<RemoteFile> read_metadata(const HttpResponse& response, const std::string& url) {
  if (response.redirect_to.empty() && response.header("content-type").starts_with("text/html")) {
    return fail(ErrorCode::kCorrupt,
                "answers with a web page, not a file; is there a login page in the network, or a wrong HF_ENDPOINT?");
  }
  RemoteFile file{url, response.redirect_to.empty() ? response.url : response.redirect_to};
  const std::string_view linked = response.header("x-linked-etag");
  file.etag = bare_etag(linked.empty() ? response.header("etag") : linked);
  if (!is_safe_etag(file.etag)) {
    return fail(ErrorCode::kCorrupt, "sends no usable ETag; is this a server for models?");
  }
  const std::string_view size = response.header("x-linked-size");
  const bool is_linked = !size.empty() || !response.redirect_to.empty();
  VITRO_TRY_ASSIGN(file.n_bytes, read_size(is_linked ? size : response.header("content-length")));
  file.commit = is_hex(response.header("x-repo-commit"), 40) ? response.header("x-repo-commit") : "";
  if (is_hex(file.etag, 64)) file.hash_kind = HashKind::kSha256;
  if (is_hex(file.etag, 40)) file.hash_kind = HashKind::kGitSha1;
  if (file.hash_kind != HashKind::kNone) file.hash = file.etag;
  return file;
}

}  // namespace

Error http_error(const HttpResponse& response) {
  const std::string where = url_for_people(response.url);
  if (response.end != HttpEnd::kWhole) {
    return {ErrorCode::kIoError, fmt::format("{}: {}", where, response.end_reason)};
  }
  return {code_of(response.status), fmt::format("{}: the server answered {}: {}", where, response.status, meaning(response.status))};
}

Result<HttpResponse> ask_remote(const HttpRequest& request, const HttpOptions& http) {
  HttpConnection connection(http);
  Retry retry(http);
  while (true) {
    VITRO_TRY_ASSIGN(HttpResponse response, follow(connection, request, Redirects::kSameOrigin));
    if (!is_passing(response)) return response;
    VITRO_TRY_ASSIGN(const bool again, retry.wait_after(response));
    if (!again) return response;
  }
}

Result<RemoteFile> stat_remote(const std::string& url, const std::string& token, const HttpOptions& http) {
  HttpRequest request{url, .is_head = true, .bearer_token = token};
  VITRO_TRY_ASSIGN(const HttpResponse response, ask_remote(request, http));
  const bool is_answer = response.is_success() || !response.redirect_to.empty();
  if (response.end != HttpEnd::kWhole || !is_answer) return fail(http_error(response));
  auto file = read_metadata(response, url);
  if (!file) return fail(file.error().in(url_for_people(url)));
  return file;
}

}  // namespace vitro
