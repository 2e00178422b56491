// A small HTTP client over libcurl: GET and HEAD with ranges, bounded answers, timeouts, cancelling. Redirects are
// never followed by libcurl: follow() does it hop by hop, so that a token stays with the host it was given for. Proxies
// and their exceptions come from the environment as curl documents them (https_proxy, all_proxy, no_proxy, ...), other
// certificate authorities from CURL_CA_BUNDLE or SSL_CERT_FILE.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace vitro {

/// Bytes [begin, end) of a file; end > begin.
struct HttpRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// How patient, how much, and whether to go on. The defaults suit a download.
struct HttpOptions {
  double connect_s = 15;                ///< until connected, TLS included
  double stall_s = 30;                  ///< without a byte: the connection counts as cut
  size_t max_header_bytes = 64 * 1024;  ///< all header lines of one answer
  int n_tries = 5;                      ///< of what may work if tried again (retry.h)
  double first_wait_s = 0.5;            ///< before the second try; twice as long before each further one
  std::function<bool()> is_cancelled;   ///< asked at least once a second from the thread that sends; may be empty
};

struct HttpRequest {
  std::string url;  ///< http:// or https://, nothing else
  bool is_head = false;
  std::optional<HttpRange> range;
  std::string bearer_token;  ///< goes to the origin of `url` only; empty: none
};

/// How an answer ended.
enum class HttpEnd : uint8_t {
  kWhole,        ///< everything that was announced has come
  kCut,          ///< the connection broke or stalled: the same may work if tried again
  kUnreachable,  ///< no such host, nobody listens, no route
};

/// One answer. Header names are lower case; of several headers with one name the last counts.
struct HttpResponse {
  int status = 0;  ///< 0 where no answer came
  std::vector<std::pair<std::string, std::string>> headers;
  std::string url;          ///< that answered
  std::string redirect_to;  ///< absolute; empty unless the status is a redirect
  std::string body;         ///< of answers that are no success: their first 4 KiB, for messages
  HttpEnd end = HttpEnd::kWhole;
  std::string end_reason;  ///< in words, unless kWhole

  /// Value of a header by its lower-case name; empty if there is none.
  std::string_view header(std::string_view name) const;
  bool is_success() const { return status >= 200 && status < 300; }
};

/// Where the body of a success goes. An error from either function ends the request and becomes its result.
struct HttpSink {
  std::function<Status(const HttpResponse&)> on_head;  ///< status and headers, before any byte; may be empty
  std::function<Status(std::string_view)> on_body;     ///< may be empty: then bytes are dropped
};

/// A connection that is kept open between requests. One thread at a time. Movable.
class HttpConnection {
 public:
  explicit HttpConnection(HttpOptions options);
  ~HttpConnection();
  HttpConnection(HttpConnection&&) noexcept;
  HttpConnection& operator=(HttpConnection&&) noexcept;

  /// One request, one answer; redirects are answers. A status such as 404 or a cut connection is no error here.
  /// Errors: InvalidArgument for a URL that is none; Cancelled; Corrupt for too many header bytes; IoError for TLS
  /// (certificates) and other permanent refusals; what the sink returned.
  Result<HttpResponse> send(const HttpRequest& request, const HttpSink& sink = {});
  const HttpOptions& options() const;

 private:
  struct State;  ///< libcurl's handle, in http.cc
  std::unique_ptr<State> state_;
};

/// How far follow() goes.
enum class Redirects : uint8_t {
  kSameOrigin,  ///< within scheme, host and port; an answer that leads elsewhere is the result
  kAnywhere,    ///< the token is dropped on the way out and does not come back
};

/// As send, over at most five redirects. Errors besides: Corrupt for a sixth, and for one from https to http.
Result<HttpResponse> follow(HttpConnection& connection, HttpRequest request, Redirects redirects,
                            const HttpSink& sink = {});

/// The request for where an answer leads to; its token stays with its origin. InvalidArgument for what is no http or
/// https URL; Corrupt for one from https to http.
Result<HttpRequest> redirected(HttpRequest request, const HttpResponse& response);

/// The whole body of a success as text; `max_bytes` more are Corrupt. Tries again as retry.h says; an answer that is no
/// success is returned for its status, with an empty text. check_head judges the headers of a success before its bytes.
struct HttpText {
  HttpResponse response;
  std::string text;
};
Result<HttpText> get_text(const HttpRequest& request, size_t max_bytes, HttpConnection& connection,
                          const std::function<Status(const HttpResponse&)>& check_head = {});

/// "https://host:port" of a URL, lower case, the port always said. InvalidArgument if it is no http or https URL, or
/// holds a user name.
Result<std::string> url_origin(const std::string& url);

/// A URL without its query, which may be a signature, and without user and password: for messages.
std::string url_for_people(const std::string& url);

/// Seconds that Retry-After asks to wait, from a number or a date; nothing if there is none.
std::optional<double> retry_after_s(const HttpResponse& response);

/// Bytes of a path made safe for a URL: all but letters, digits and "-._~/" as %XX.
std::string url_escape_path(std::string_view path);

}  // namespace vitro
