// The HTTP client against a server that misbehaves as hub_server.py's words say.
#include "net/http.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "base/clock.h"
#include "net/retry.h"
#include "testing/expect_error.h"
#include "testing/hub_server.h"

namespace vitro {
namespace {

using testing::expect_error;
using testing::HubServer;

constexpr size_t kMuch = size_t{1} << 24;

HubServer& server() {
  static HubServer instance;
  return instance;
}

HttpOptions quick() { return {.connect_s = 5, .stall_s = 5, .first_wait_s = 0.01}; }

std::string file_url(const std::string& behaviour, const std::string& file) {
  return server().endpoint(behaviour) + "/a/b/resolve/main/" + file;
}

/// A request over a connection of its own.
Result<HttpText> get(const HttpRequest& request, size_t max_bytes, const HttpOptions& options) {
  HttpConnection connection(options);
  return get_text(request, max_bytes, connection);
}

class HttpTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    server().add("a/b/small.txt", "0123456789");
    server().add("a/b/large.bin", testing::noise(300'000));
  }
};

TEST_F(HttpTest, ReadsTextHeadersAndStatus) {
  const auto answer = get({.url = file_url("", "small.txt")}, 10, quick());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->text, "0123456789");
  EXPECT_EQ(answer->response.status, 200);
  EXPECT_EQ(answer->response.header("content-length"), "10");
  EXPECT_EQ(answer->response.header("x-none"), "");
  expect_error(get({.url = file_url("", "small.txt")}, 9, quick()), ErrorCode::kCorrupt, "longer than 9 bytes");
}

TEST_F(HttpTest, AsksForRangesAndForHeadersAlone) {
  HttpConnection connection(quick());
  std::string bytes;
  HttpSink sink;
  sink.on_body = [&](std::string_view part) -> Status {
    bytes += part;
    return {};
  };
  const auto part = connection.send({.url = file_url("", "small.txt"), .range = HttpRange{2, 5}}, sink);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->status, 206);
  EXPECT_EQ(part->header("content-range"), "bytes 2-4/10");
  EXPECT_EQ(bytes, "234");
  const auto head = connection.send({.url = file_url("", "small.txt"), .is_head = true}, sink);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->header("content-length"), "10");
  EXPECT_EQ(bytes, "234");
  const auto outside = connection.send({.url = file_url("", "small.txt"), .range = HttpRange{10, 12}}, sink);
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->status, 416);
}

TEST_F(HttpTest, KeepsTheTokenOnItsHost) {
  const HttpRequest request{.url = file_url("id=token", "large.bin"), .bearer_token = "hf_secret"};
  const auto answer = get(request, kMuch, quick());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, testing::noise(300'000));
  const auto log = server().log("token");
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].host, "127.0.0.1");
  EXPECT_EQ(log[0].token, "Bearer hf_secret");
  EXPECT_EQ(log[1].host, "localhost");
  EXPECT_EQ(log[1].token, "");
}

TEST_F(HttpTest, FollowsRedirectsThatComeWithAPage) {
  for (const char* behaviour : {"page=10", "page=4096", "page=100000"}) {
    const auto answer = get({.url = file_url(behaviour, "large.bin")}, kMuch, quick());
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->text.size(), 300'000U) << behaviour;
  }
}

TEST_F(HttpTest, DoesNotGiveTheTokenBackAfterAnotherHost) {
  // 127.0.0.1 -> localhost -> 127.0.0.1; an address within an address is written with %2F, and that with %252F.
  const auto nest = [](const std::string& url) {
    std::string out;
    for (const char c : url) out += c == '/' ? "%2F" : c == '%' ? "%25" : c == ',' ? "%2C" : std::string(1, c);
    return out;
  };
  const std::string away = server().other_host() + "/~id=back,to=" + nest(file_url("id=back", "small.txt")) + "/x";
  const HttpRequest request{.url = server().endpoint("id=back,to=" + nest(away)) + "/x", .bearer_token = "hf_secret"};
  const auto answer = get(request, kMuch, quick());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, "0123456789");
  const auto log = server().log("back");
  ASSERT_EQ(log.size(), 3U);
  EXPECT_EQ(log[1].host, "localhost");
  EXPECT_EQ(log[2].host, "127.0.0.1");
  EXPECT_EQ(log[0].token, "Bearer hf_secret");
  for (size_t i = 1; i < log.size(); ++i) EXPECT_EQ(log[i].token, "") << log[i].path;
}

TEST_F(HttpTest, StopsAtTheOriginWhereAskedTo) {
  HttpConnection connection(quick());
  const auto answer =
      follow(connection, {.url = file_url("id=stop", "large.bin"), .is_head = true}, Redirects::kSameOrigin);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 302);
  EXPECT_NE(answer->redirect_to.find("http://localhost"), std::string::npos);
  EXPECT_EQ(server().log("stop").size(), 1U);
}

TEST_F(HttpTest, RefusesCirclesAndOtherSchemes) {
  expect_error(get({.url = server().endpoint("loop=1") + "/x"}, kMuch, quick()), ErrorCode::kCorrupt,
               "over 5 redirects");
  for (const char* to : {"file:%2F%2F%2Fetc%2Fpasswd", "ftp:%2F%2Flocalhost%2Fx", "http:%2F%2Fme:pw@localhost%2F"}) {
    expect_error(get({.url = server().endpoint(std::string("to=") + to) + "/x"}, kMuch, quick()),
                 ErrorCode::kInvalidArgument, "no http or https URL");
  }
  const auto secret = get({.url = "http://me:hunter2@localhost/x"}, kMuch, quick());
  expect_error(secret, ErrorCode::kInvalidArgument, "'http://localhost/x'");
  EXPECT_EQ(secret.error().message.find("hunter2"), std::string::npos);
  for (const char* url : {"file:///etc/passwd", "/etc/passwd", "", "http://", "gopher://x/", "http://user:pw@host/"}) {
    expect_error(get({.url = url}, kMuch, quick()), ErrorCode::kInvalidArgument, "no http or https URL");
  }
}

TEST_F(HttpTest, TrustsOnlyKnownCertificatesAndNeverLeavesEncryption) {
  ::unsetenv("SSL_CERT_FILE");
  ::unsetenv("CURL_CA_BUNDLE");
  const std::string url = server().tls_endpoint("id=tls") + "/a/b/resolve/main/";
  expect_error(get({.url = url + "small.txt", .bearer_token = "hf_secret"}, kMuch, quick()), ErrorCode::kIoError,
               "certificate");
  ::setenv("CURL_CA_BUNDLE", HubServer::certificate().c_str(), 1);
  const auto answer = get({.url = url + "small.txt"}, kMuch, quick());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->text, "0123456789");
  const std::string plain = server().tls_endpoint("id=tls,to=http:%2F%2Flocalhost%2Fx") + "/x";
  expect_error(get({.url = plain, .bearer_token = "hf_secret"}, kMuch, quick()), ErrorCode::kCorrupt,
               "without encryption");
  ::unsetenv("CURL_CA_BUNDLE");
}

TEST_F(HttpTest, BoundsWhatAServerMaySend) {
  expect_error(get({.url = server().endpoint("flood=headers") + "/x"}, kMuch, quick()), ErrorCode::kCorrupt,
               "bytes of headers");
  expect_error(get({.url = server().endpoint("flood=body") + "/api/models/a/b/revision/main"}, 100'000, quick()),
               ErrorCode::kCorrupt, "longer than 100000 bytes");
}

TEST_F(HttpTest, GoesThroughTheProxyOfTheEnvironment) {
  const HttpRequest request{.url = "http://hub.invalid/~id=proxy/a/b/resolve/main/small.txt"};
  ::setenv("http_proxy", server().other_host().c_str(), 1);
  const auto proxied = get(request, kMuch, quick());
  ::setenv("no_proxy", "hub.invalid", 1);
  const auto direct = get(request, kMuch, quick());
  ::unsetenv("http_proxy");
  ::unsetenv("no_proxy");
  ASSERT_TRUE(proxied) << proxied.error().message;
  EXPECT_EQ(proxied->text, "0123456789");
  EXPECT_EQ(server().log("proxy").at(0).host, "hub.invalid");
  ASSERT_TRUE(direct);
  EXPECT_EQ(direct->response.end, HttpEnd::kUnreachable);
}

TEST_F(HttpTest, TellsCutStalledAndUnreachableApart) {
  HttpConnection connection({.connect_s = 10, .stall_s = 2});
  const auto cut = follow(connection, {.url = file_url("cut=1000", "large.bin")}, Redirects::kAnywhere);
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_EQ(cut->end, HttpEnd::kCut) << cut->end_reason;
  const double start = now_seconds();
  const auto stalled = follow(connection, {.url = file_url("stall=1000", "large.bin")}, Redirects::kAnywhere);
  ASSERT_TRUE(stalled) << stalled.error().message;
  EXPECT_EQ(stalled->end, HttpEnd::kCut);
  EXPECT_NE(stalled->end_reason.find("no byte for"), std::string::npos) << stalled->end_reason;
  EXPECT_LT(now_seconds() - start, 15);
  const auto nobody = connection.send({.url = "http://127.0.0.1:1/"});
  ASSERT_TRUE(nobody);
  EXPECT_EQ(nobody->end, HttpEnd::kUnreachable) << nobody->end_reason;
  const auto no_host = connection.send({.url = "http://no-such-host.invalid/"});
  ASSERT_TRUE(no_host);
  EXPECT_EQ(no_host->end, HttpEnd::kUnreachable) << no_host->end_reason;
}

TEST_F(HttpTest, StopsWhenAsked) {
  std::atomic<bool> is_cancelled = false;
  HttpOptions options{.stall_s = 20};
  options.is_cancelled = [&] { return is_cancelled.load(); };
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    is_cancelled = true;
  });
  const double start = now_seconds();
  expect_error(get({.url = file_url("stall=1000", "large.bin")}, kMuch, options), ErrorCode::kCancelled, "stopped");
  EXPECT_LT(now_seconds() - start, 15);  // the server is silent for 20 s
  later.join();
}

TEST_F(HttpTest, TriesAgainAsLongAsTheServerSays) {
  const double start = now_seconds();
  const auto answer = get({.url = file_url("id=busy,fail=429:2,wait=1", "large.bin")}, kMuch, quick());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text.size(), 300'000U);
  EXPECT_GE(now_seconds() - start, 2);
  size_t n_refused = 0;
  for (const auto& request : server().log("busy")) n_refused += request.status == "429";
  EXPECT_EQ(n_refused, 2U);
}

TEST_F(HttpTest, GivesUpInTime) {
  HttpOptions options = quick();
  options.n_tries = 3;
  const auto broken = get({.url = file_url("id=broken,fail=500:99", "large.bin")}, kMuch, options);
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->response.status, 500);
  EXPECT_EQ(broken->text, "");
  size_t n_tries = 0;
  for (const auto& request : server().log("broken")) n_tries += request.status == "500";
  EXPECT_EQ(n_tries, 3U);
  const double start = now_seconds();
  const auto patient = get({.url = file_url("id=later,fail=503:99,wait=3600", "large.bin")}, kMuch, options);
  ASSERT_TRUE(patient);
  EXPECT_EQ(patient->response.status, 503);
  EXPECT_EQ(patient->response.body, "failing");
  EXPECT_LT(now_seconds() - start, 60);  // it asked for an hour
}

TEST(Url, HasAnOrigin) {
  EXPECT_EQ(url_origin("HTTPS://Example.ORG/a?b").value_or("?"), "https://example.org:443");
  EXPECT_EQ(url_origin("http://example.org:8080").value_or("?"), "http://example.org:8080");
  EXPECT_EQ(url_origin("http://example.org").value_or("?"), "http://example.org:80");
  EXPECT_NE(url_origin("http://example.org:80").value_or("?"), url_origin("https://example.org:80").value_or("!"));
}

TEST(Url, IsEscapedAndPrintable) {
  EXPECT_EQ(url_escape_path("a b/c#d?e%\xc3\xa9"), "a%20b/c%23d%3Fe%25%C3%A9");
  EXPECT_EQ(url_for_people("https://cdn/x\x1b[31m?Signature=secret"), "https://cdn/x?[31m");
  for (const char* url : {"http://me:pw@host/x", "http:/me:pw@host/x", "http:me:pw@host/x", "http://a@me:pw@host/x"}) {
    const std::string shown = url_for_people(url);
    EXPECT_TRUE(shown.ends_with("host/x") && shown.find("pw") == shown.npos) << shown;
  }
  EXPECT_EQ(url_for_people("https://host/a@b/c"), "https://host/a@b/c");
}

TEST(Retry, SaysWhyItWaits) {
  std::vector<std::string> said;
  std::atomic<bool> is_cancelled = false;
  HttpOptions options{.n_tries = 3};
  options.is_cancelled = [&] { return is_cancelled.load(); };
  Retry retry(options, [&](const std::string& sentence) {
    said.push_back(sentence);
    is_cancelled = true;
  });
  const HttpResponse busy{.status = 429, .headers = {{"retry-after", "90"}}};
  expect_error(retry.wait_after(busy), ErrorCode::kCancelled, "stopped");
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0], "the server answered 429; trying again in 90 s");
}

TEST(Retry, KnowsWhatPasses) {
  for (const int status : {408, 429, 500, 502, 503, 504}) EXPECT_TRUE(is_passing({.status = status})) << status;
  for (const int status : {200, 206, 302, 400, 401, 403, 404, 410, 416, 501}) {
    EXPECT_FALSE(is_passing({.status = status})) << status;
  }
  EXPECT_TRUE(is_passing({.status = 200, .end = HttpEnd::kCut}));
  EXPECT_FALSE(is_passing({.end = HttpEnd::kUnreachable}));
}

TEST(RetryAfter, IsANumberOrADate) {
  const auto with = [](const char* text) { return HttpResponse{.headers = {{"retry-after", text}}}; };
  EXPECT_EQ(retry_after_s({}), std::nullopt);
  EXPECT_EQ(retry_after_s(with("7")), 7.0);
  EXPECT_EQ(retry_after_s(with("soon")), std::nullopt);
  EXPECT_EQ(retry_after_s(with("Wed, 21 Oct 2015 07:28:00 GMT")), 0.0);
  const auto far = retry_after_s(with("Wed, 21 Oct 2099 07:28:00 GMT"));
  ASSERT_TRUE(far);
  EXPECT_GT(*far, 1e8);
}

}  // namespace
}  // namespace vitro
