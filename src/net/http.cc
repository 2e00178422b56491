// The only file that knows libcurl (7.85 or newer: it initialises itself, safely from several threads).
#include "net/http.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>

#include "base/clock.h"
#include "base/letters.h"

namespace vitro {
namespace {

constexpr size_t kMaxErrorBody = 4096;
constexpr size_t kMaxUrl = 16 * 1024;

struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, UrlDeleter>;

/// Null if it is no URL.
Url parse_url(const std::string& text) {
  Url url(curl_url());
  if (!url || text.size() > kMaxUrl || text.find('\0') != std::string::npos) return nullptr;
  if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), CURLU_DISALLOW_USER) != CURLUE_OK) return nullptr;
  return url;
}

std::string part(const Url& url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url.get(), which, &text, flags) != CURLUE_OK) return {};
  std::string out(text);
  curl_free(text);
  return out;
}

/// What happens in one request, for the callbacks.
struct Exchange {
  const HttpOptions* options = nullptr;
  const HttpSink* sink = nullptr;
  HttpResponse response;
  std::optional<Error> error;  ///< ends the request
  size_t n_header_bytes = 0;
  curl_off_t n_seen = 0;
  double moved_s = now_seconds();  ///< when bytes last came
  bool is_head_told = false;
  bool is_stalled = false;

  bool refuse(Error why) {
    error = std::move(why);
    return false;
  }

  bool take_header(std::string_view line) {
    n_header_bytes += line.size();
    if (n_header_bytes > options->max_header_bytes) {
      return refuse({ErrorCode::kCorrupt, fmt::format("over {} bytes of headers", options->max_header_bytes)});
    }
    if (line.substr(0, 5) == "HTTP/") {  // another answer: what came before was "100 Continue" or the like
      response.headers.clear();
      const size_t space = line.find(' ');
      response.status = space == line.npos ? 0 : std::atoi(std::string(line.substr(space + 1, 3)).c_str());
      return true;
    }
    const size_t colon = line.find(':');
    if (colon == line.npos) return true;
    response.headers.emplace_back(lower_case(trimmed(line.substr(0, colon))), trimmed(line.substr(colon + 1)));
    return true;
  }

  bool tell_head() {
    if (is_head_told || !sink->on_head) return true;
    is_head_told = true;
    if (Status status = sink->on_head(response); !status) return refuse(std::move(status).error());
    return true;
  }

  bool take_body(std::string_view bytes) {
    if (!response.is_success()) {
      response.body.append(bytes.substr(0, kMaxErrorBody - response.body.size()));
      return response.body.size() < kMaxErrorBody;  // enough for a message; the rest is not waited for
    }
    if (!tell_head()) return false;
    if (!sink->on_body) return true;
    if (Status status = sink->on_body(bytes); !status) return refuse(std::move(status).error());
    return true;
  }

  bool goes_on(curl_off_t n_bytes) {
    if (options->is_cancelled && options->is_cancelled()) return refuse({ErrorCode::kCancelled, "stopped"});
    if (n_bytes != n_seen) moved_s = now_seconds();
    n_seen = n_bytes;
    is_stalled = now_seconds() - moved_s > options->stall_s;
    return !is_stalled;
  }
};

size_t header_callback(char* data, size_t size, size_t n, void* exchange) {
  return static_cast<Exchange*>(exchange)->take_header({data, size * n}) ? size * n : 0;
}
size_t body_callback(char* data, size_t size, size_t n, void* exchange) {
  return static_cast<Exchange*>(exchange)->take_body({data, size * n}) ? size * n : 0;
}
int progress_callback(void* exchange, curl_off_t, curl_off_t n_bytes, curl_off_t, curl_off_t) {
  return static_cast<Exchange*>(exchange)->goes_on(n_bytes) ? 0 : 1;
}

struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;

void add_header(HeaderList& list, const std::string& line) {
  curl_slist* grown = curl_slist_append(list.get(), line.c_str());
  if (grown == nullptr) return;
  (void)list.release();
  list.reset(grown);
}

HeaderList headers_of(const HttpRequest& request) {
  HeaderList list;
  add_header(list, "Accept-Encoding: identity");  // lengths and hashes are of the bytes as they are
  if (!request.bearer_token.empty()) add_header(list, "Authorization: Bearer " + request.bearer_token);
  return list;
}

void set_authorities(CURL* curl) {
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* file = std::getenv(name);
    if (file == nullptr || *file == '\0') continue;
    curl_easy_setopt(curl, CURLOPT_CAINFO, file);
    return;
  }
}

void set_request(CURL* curl, const HttpRequest& request, const HeaderList& headers) {
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_NOBODY, request.is_head ? 1L : 0L);
  if (!request.is_head) curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
  const std::string range = request.range ? fmt::format("{}-{}", request.range->begin, request.range->end - 1) : "";
  curl_easy_setopt(curl, CURLOPT_RANGE, request.range ? range.c_str() : nullptr);  // libcurl copies the text
}

void set_connection(CURL* curl, const HttpOptions& options) {
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "vitro");
  // Several ranges want several connections; one of HTTP/2 would carry no more.
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_s * 1000));
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, header_callback);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, body_callback);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, progress_callback);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  set_authorities(curl);
}

void set_exchange(CURL* curl, Exchange& exchange) {
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &exchange);
}

/// Where an answer leads, made absolute; what cannot be is left as it came, and is no URL to whoever follows it. Not
/// asked of libcurl, which says nothing where the body was not waited for.
std::string redirect_of(const HttpResponse& response) {
  constexpr std::array kStatuses = {301, 302, 303, 307, 308};
  const std::string to(response.header("location"));
  if (std::find(kStatuses.begin(), kStatuses.end(), response.status) == kStatuses.end()) return "";
  Url url = parse_url(response.url);
  if (!url || curl_url_set(url.get(), CURLUPART_URL, to.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) return to;
  return part(url, CURLUPART_URL);
}

HttpEnd end_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return HttpEnd::kWhole;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:  // only connecting has a limit of libcurl's
      return HttpEnd::kUnreachable;
    default:
      return HttpEnd::kCut;
  }
}

bool is_permanent(CURLcode code) {
  constexpr std::array kPassing = {CURLE_PARTIAL_FILE, CURLE_RECV_ERROR,        CURLE_SEND_ERROR,
                                   CURLE_GOT_NOTHING,  CURLE_SSL_CONNECT_ERROR, CURLE_AGAIN};
  return end_of(code) == HttpEnd::kCut && std::find(kPassing.begin(), kPassing.end(), code) == kPassing.end();
}

}  // namespace

struct HttpConnection::State {
  HttpOptions options;
  CURL* curl = curl_easy_init();
  std::array<char, CURL_ERROR_SIZE> words{};

  explicit State(HttpOptions o) : options(std::move(o)) {}
  ~State() { curl_easy_cleanup(curl); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::string reason(CURLcode code) const { return words[0] != '\0' ? words.data() : curl_easy_strerror(code); }

  /// Makes an answer or an error of how libcurl ended.
  Result<HttpResponse> finish(CURLcode code, Exchange& exchange) {
    HttpResponse& response = exchange.response;
    const std::string where = url_for_people(response.url);
    if (exchange.error) return fail(exchange.error->in(where));
    const bool is_enough = code == CURLE_WRITE_ERROR && response.body.size() >= kMaxErrorBody;
    if (code == CURLE_OK || is_enough) return std::move(response);
    if (exchange.is_stalled) {
      response.end = HttpEnd::kCut;
      response.end_reason = fmt::format("no byte for {:.0f} s", options.stall_s);
      return std::move(response);
    }
    if (is_permanent(code)) return fail(ErrorCode::kIoError, "{}: {}", where, reason(code));
    response.end = end_of(code);
    response.end_reason = reason(code);
    return std::move(response);
  }
};

HttpConnection::HttpConnection(HttpOptions options) : state_(std::make_unique<State>(std::move(options))) {}
HttpConnection::~HttpConnection() = default;
HttpConnection::HttpConnection(HttpConnection&&) noexcept = default;
HttpConnection& HttpConnection::operator=(HttpConnection&&) noexcept = default;

const HttpOptions& HttpConnection::options() const { return state_->options; }

Result<HttpResponse> HttpConnection::send(const HttpRequest& request, const HttpSink& sink) {
  VITRO_TRY(url_origin(request.url));
  CURL* curl = state_->curl;
  if (curl == nullptr) return fail(ErrorCode::kOutOfMemory, "libcurl could not make a connection");
  const HeaderList headers = headers_of(request);
  Exchange exchange{&state_->options, &sink};
  exchange.response.url = request.url;
  curl_easy_reset(curl);  // options only: connections stay open
  state_->words[0] = '\0';
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, state_->words.data());
  set_connection(curl, state_->options);
  set_request(curl, request, headers);
  set_exchange(curl, exchange);
  const CURLcode code = curl_easy_perform(curl);
  exchange.response.redirect_to = redirect_of(exchange.response);
  if (code == CURLE_OK && exchange.response.is_success()) exchange.tell_head();
  return state_->finish(code, exchange);
}

std::string_view HttpResponse::header(std::string_view name) const {
  const auto found = std::find_if(headers.rbegin(), headers.rend(), [&](const auto& h) { return h.first == name; });
  return found == headers.rend() ? std::string_view() : found->second;
}

Result<std::string> url_origin(const std::string& text) {
  const Url url = parse_url(text);
  const std::string scheme = url ? lower_case(part(url, CURLUPART_SCHEME)) : "";
  if (scheme != "http" && scheme != "https") {
    return fail(ErrorCode::kInvalidArgument, "'{}' is no http or https URL (user names are not allowed in it)",
                url_for_people(text).substr(0, 200));
  }
  return fmt::format("{}://{}:{}", scheme, lower_case(part(url, CURLUPART_HOST)),
                     part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT));
}

std::string url_for_people(const std::string& url) {
  std::string text = url.substr(0, url.find_first_of("?#"));
  const size_t colon = text.find(':');
  const size_t host = text.find_first_not_of('/', colon == text.npos ? 0 : colon + 1);
  const size_t at = host == text.npos ? host : text.substr(0, text.find('/', host)).rfind('@');
  if (at != text.npos && at >= host) text.erase(host, at + 1 - host);  // also of what is no URL, as far as it looks so
  for (char& c : text) c = c > ' ' && c < 0x7f ? c : '?';
  return text;
}

std::optional<double> retry_after_s(const HttpResponse& response) {
  const std::string text(response.header("retry-after"));
  if (text.empty()) return std::nullopt;
  if (text.find_first_not_of("0123456789") == text.npos) return std::strtod(text.c_str(), nullptr);
  const std::time_t date = curl_getdate(text.c_str(), nullptr);
  if (date == -1) return std::nullopt;
  return std::max(0.0, std::difftime(date, std::time(nullptr)));
}

std::string url_escape_path(std::string_view path) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string out;
  for (const char c : path) {
    if (kPlain.find(c) != kPlain.npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace vitro
