// One of the connections over which a file comes.
#pragma once

#include <functional>
#include <string>

#include "net/http.h"
#include "net/retry.h"
#include "store/chunk_queue.h"
#include "store/fetch.h"

namespace vitro {

/// What the headers of a success must say before a byte of it is taken: the range that was asked for, or the whole file
/// where that is all of it. Unsupported for the whole file in a range's place; Corrupt.
Status check_answer(const HttpResponse& response, const RemoteFile& file, HttpRange range);

/// Fetches chunks of a file until there are no more. The first error stops the queue for all; Unsupported means that
/// the server sends no ranges.
class RangeWorker {
 public:
  /// is_alone: takes the whole rest as one chunk, and a whole file without asking for a range.
  RangeWorker(const RemoteFile& file, const FetchOptions& options, ChunkQueue& queue, bool is_alone);
  void run();

 private:
  Status fetch(ChunkQueue::Taken taken);
  Result<HttpResponse> request(ChunkQueue::Taken& taken);
  /// True: ask again.
  Result<bool> judge(const HttpResponse& response);
  HttpOptions stoppable(HttpOptions options) const;

  const RemoteFile& file_;
  const FetchOptions& options_;
  ChunkQueue& queue_;
  const bool is_alone_;
  HttpConnection connection_;
  Retry retry_;
  std::string source_;  ///< where the bytes were last; signed addresses expire, and then `file.url` is asked anew
};

}  // namespace vitro
