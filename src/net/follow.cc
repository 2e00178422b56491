// What is built on single requests: redirects by hand, and small answers as text.
#include <fmt/format.h>

#include "net/http.h"
#include "net/retry.h"

namespace vitro {
namespace {

constexpr int kMaxRedirects = 5;

}  // namespace

Result<HttpRequest> redirected(HttpRequest request, const HttpResponse& response) {
  VITRO_TRY_ASSIGN(const std::string from, url_origin(request.url));
  const auto to = url_origin(response.redirect_to);
  if (!to) return fail(to.error().in(url_for_people(request.url) + " redirects"));
  if (from.starts_with("https:") && to->starts_with("http:")) {
    return fail(ErrorCode::kCorrupt, "{}: redirects from https to {}, without encryption; not followed",
                url_for_people(request.url), *to);
  }
  if (from != *to) request.bearer_token.clear();
  request.url = response.redirect_to;
  return request;
}

Result<HttpResponse> follow(HttpConnection& connection, HttpRequest request, Redirects redirects,
                            const HttpSink& sink) {
  const std::string asked = request.url;
  for (int i = 0; i <= kMaxRedirects; ++i) {
    VITRO_TRY_ASSIGN(HttpResponse response, connection.send(request, sink));
    if (response.end != HttpEnd::kWhole || response.redirect_to.empty()) return response;
    VITRO_TRY_ASSIGN(HttpRequest next, redirected(request, response));
    const bool is_elsewhere = *url_origin(next.url) != *url_origin(request.url);
    if (is_elsewhere && redirects == Redirects::kSameOrigin) return response;
    request = std::move(next);
  }
  return fail(ErrorCode::kCorrupt, "{}: over {} redirects", url_for_people(asked), kMaxRedirects);
}

Result<HttpText> get_text(const HttpRequest& request, size_t max_bytes, HttpConnection& connection,
                          const std::function<Status(const HttpResponse&)>& check_head) {
  Retry retry(connection.options());
  while (true) {
    HttpText answer;
    HttpSink sink;
    sink.on_head = [&](const HttpResponse& head) -> Status {
      answer.text.clear();
      return check_head ? check_head(head) : Status();
    };
    sink.on_body = [&](std::string_view bytes) -> Status {
      if (bytes.size() > max_bytes - answer.text.size()) {
        return fail(ErrorCode::kCorrupt, "the answer is longer than {} bytes", max_bytes);
      }
      answer.text += bytes;
      return {};
    };
    VITRO_TRY_ASSIGN(answer.response, follow(connection, request, Redirects::kAnywhere, sink));
    if (!is_passing(answer.response)) return answer;
    VITRO_TRY_ASSIGN(const bool again, retry.wait_after(answer.response));
    if (!again) return answer;
  }
}

}  // namespace vitro
