#include "store/range_worker.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "formats/quote_name.h"

namespace vitro {
namespace {

constexpr double kChunkSeconds = 2;  ///< what a killed process may lose of each connection
constexpr uint64_t kFirstChunk = uint64_t{512} << 10;

}  // namespace

Status check_answer(const HttpResponse& response, const RemoteFile& file, HttpRange range) {
  if (!file.url.ends_with(".html")) VITRO_TRY(check_no_page(response));
  if (response.status == 200) {
    if (range.begin != 0 || range.end != file.n_bytes)
      return fail(ErrorCode::kUnsupported, "the server sends no ranges");
    const std::string_view length = response.header("content-length");
    if (length.empty() || length == fmt::format("{}", file.n_bytes)) return {};
    return fail(ErrorCode::kCorrupt, "the server sends {} bytes, but had announced {}", quote_name(length),
                file.n_bytes);
  }
  const std::string expected = fmt::format("bytes {}-{}/{}", range.begin, range.end - 1, file.n_bytes);
  if (response.status == 206 && response.header("content-range") == expected) return {};
  return fail(ErrorCode::kCorrupt, "asked for {}, the server answered {} with {}", expected, response.status,
              quote_name(response.header("content-range")));
}

RangeWorker::RangeWorker(const RemoteFile& file, const FetchOptions& options, ChunkQueue& queue, bool is_alone)
    : file_(file),
      options_(options),
      queue_(queue),
      is_alone_(is_alone),
      connection_(stoppable(options.http)),
      retry_(connection_.options(), [this](const std::string& sentence) { queue_.say(sentence); }),
      source_(file.location) {}

HttpOptions RangeWorker::stoppable(HttpOptions options) const {
  options.is_cancelled = [this, is_cancelled = options.is_cancelled] {
    return queue_.is_stopped() || (is_cancelled && is_cancelled());
  };
  return options;
}

void RangeWorker::run() {
  uint64_t n_bytes = is_alone_ ? file_.n_bytes : kFirstChunk;
  while (true) {
    const ChunkQueue::Taken taken = queue_.take(n_bytes);
    if (taken.chunk == nullptr) return;
    const double start = now_seconds();
    if (Status status = fetch(taken); !status) return queue_.stop(std::move(status).error());
    const double rate =
        static_cast<double>(taken.range.end - taken.range.begin) / std::max(1e-6, now_seconds() - start);
    n_bytes = static_cast<uint64_t>(
        std::clamp(rate * kChunkSeconds, static_cast<double>(kSmallestChunk), static_cast<double>(kLargestChunk)));
  }
}

Status RangeWorker::fetch(ChunkQueue::Taken taken) {
  while (taken.range.begin < taken.range.end) {
    VITRO_TRY_ASSIGN(const HttpResponse response, request(taken));
    if (taken.range.begin == taken.range.end) break;
    VITRO_TRY_ASSIGN(const bool again, judge(response));
    if (!again) return fail(http_error(response));
  }
  return {};
}

/// Moves taken.range.begin behind what has come.
Result<HttpResponse> RangeWorker::request(ChunkQueue::Taken& taken) {
  VITRO_TRY_ASSIGN(const std::string asked, url_origin(file_.url));
  VITRO_TRY_ASSIGN(const std::string here, url_origin(source_));
  HttpRequest request{source_};
  if (here == asked) request.bearer_token = options_.token;
  const bool is_whole = taken.range.begin == 0 && taken.range.end == file_.n_bytes;
  if (!is_whole) request.range = taken.range;
  HttpSink sink;
  sink.on_head = [&](const HttpResponse& head) { return check_answer(head, file_, taken.range); };
  sink.on_body = [&](std::string_view bytes) -> Status {
    const uint64_t n_missing = taken.range.end - taken.range.begin;
    if (bytes.size() > n_missing) {
      return fail(ErrorCode::kCorrupt, "the server sends more than the {} bytes that were left to send", n_missing);
    }
    VITRO_TRY(queue_.put(taken.chunk, bytes));
    taken.range.begin += bytes.size();
    retry_.reset();
    return {};
  };
  VITRO_TRY_ASSIGN(HttpResponse response, follow(connection_, request, Redirects::kAnywhere, sink));
  if (response.is_success()) source_ = response.url;
  return response;
}

Result<bool> RangeWorker::judge(const HttpResponse& response) {
  if (is_passing(response) || response.end == HttpEnd::kUnreachable) return retry_.wait_after(response);
  if (response.is_success()) {
    return fail(ErrorCode::kCorrupt, "{}: ends before all of the bytes that it announced",
                url_for_people(response.url));
  }
  if (source_ == file_.url) return false;
  source_ = file_.url;
  return true;
}

}  // namespace vitro
