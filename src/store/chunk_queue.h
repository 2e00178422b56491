// Puts ranges that arrive in any order into one order. Workers take chunks of a file and put their bytes as they come;
// the writer gets the bytes from the first to the last. What is early waits in memory, bounded by a window of chunks.
//
//   bytes of the file   |...on the disk...|== chunk ==|== chunk ==|== chunk ==|   not handed out yet   |
//   got so far                             ####        #########   ##
//   next() gives                           ####  and then waits for the rest of this chunk
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http.h"

namespace vitro {

inline constexpr uint64_t kSmallestChunk = uint64_t{256} << 10;
inline constexpr uint64_t kLargestChunk = uint64_t{8} << 20;

/// Thread-safe.
class ChunkQueue {
 public:
  /// A part of the file that one worker fetches; its members belong to the queue.
  struct Chunk;

  /// For bytes [begin, end) and so many workers. At most 3 chunks for two workers are handed out at a time.
  ChunkQueue(HttpRange bytes, int n_workers);
  ~ChunkQueue();

  /// For workers: the next chunk, of at most n_bytes and of no more than a worker's share of the rest; waits while too
  /// many are under way. Null chunk when there is no more, or after a stop.
  struct Taken {
    Chunk* chunk = nullptr;  ///< until its last byte was put
    HttpRange range;
  };
  Taken take(uint64_t n_bytes);
  /// The next bytes of a chunk, no more than are missing in it; waits while the writer is far behind. Cancelled after a
  /// stop.
  Status put(Chunk* chunk, std::string_view bytes);
  /// Ends it for all. The first error counts.
  void stop(Error why);
  bool is_stopped() const;
  /// A sentence for the user, who is told by the writer's thread.
  void say(std::string sentence);

  /// For the writer: the next bytes in order; waits for some, but no longer than `seconds`, and may return none. After
  /// a stop: what is in order, then the error.
  Result<std::string> next(double seconds);
  /// True once next() has given everything.
  bool is_done() const;
  /// What say() was told since the last call, in order.
  std::deque<std::string> sentences();

 private:
  bool has_bytes() const;  ///< with mutex_ held

  const uint64_t end_;
  const uint64_t n_workers_;
  const size_t max_chunks_;
  mutable std::mutex mutex_;
  std::condition_variable for_workers_, for_writer_;
  // guarded by mutex_
  uint64_t next_begin_;
  std::deque<std::unique_ptr<Chunk>> chunks_;  ///< under way, in the order of the file
  std::deque<std::string> sentences_;
  std::optional<Error> error_;
};

}  // namespace vitro
