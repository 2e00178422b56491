#include "store/chunk_queue.h"

#include <algorithm>
#include <chrono>

namespace vitro {

struct ChunkQueue::Chunk {
  uint64_t n_missing;
  std::string pending;  ///< got, and not given to the writer yet
};

ChunkQueue::ChunkQueue(HttpRange bytes, int n_workers)
    : end_(bytes.end),
      n_workers_(static_cast<uint64_t>(n_workers)),
      max_chunks_(static_cast<size_t>((3 * n_workers + 1) / 2)),
      next_begin_(bytes.begin) {}
ChunkQueue::~ChunkQueue() = default;

ChunkQueue::Taken ChunkQueue::take(uint64_t n_bytes) {
  std::unique_lock lock(mutex_);
  for_workers_.wait(lock, [&] { return error_ || next_begin_ == end_ || chunks_.size() < max_chunks_; });
  if (error_ || next_begin_ == end_) return {};
  // The rest is shared out, so that all workers end at about the same time.
  const uint64_t n_left = end_ - next_begin_;
  const uint64_t n_share = std::max(n_left / n_workers_, std::min(n_left, kSmallestChunk));
  const HttpRange range{next_begin_, next_begin_ + std::min(n_bytes, n_share)};
  next_begin_ = range.end;
  chunks_.push_back(std::make_unique<Chunk>(Chunk{range.end - range.begin, {}}));
  return {chunks_.back().get(), range};
}

Status ChunkQueue::put(Chunk* chunk, std::string_view bytes) {
  std::unique_lock lock(mutex_);
  // Only a chunk that is larger than kLargestChunk, a whole file in one, can have to wait here, and it is the first.
  for_workers_.wait(lock, [&] { return error_ || chunk->pending.size() < kLargestChunk; });
  if (error_) return fail(ErrorCode::kCancelled, "stopped");
  chunk->pending += bytes;
  chunk->n_missing -= bytes.size();
  if (chunk == chunks_.front().get()) for_writer_.notify_one();
  return {};
}

void ChunkQueue::stop(Error why) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(why);
  for_workers_.notify_all();
  for_writer_.notify_all();
}

bool ChunkQueue::is_stopped() const {
  const std::lock_guard lock(mutex_);
  return error_.has_value();
}

void ChunkQueue::say(std::string sentence) {
  const std::lock_guard lock(mutex_);
  sentences_.push_back(std::move(sentence));
}

bool ChunkQueue::has_bytes() const { return !chunks_.empty() && !chunks_.front()->pending.empty(); }

Result<std::string> ChunkQueue::next(double seconds) {
  std::unique_lock lock(mutex_);
  for_writer_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return error_ || has_bytes(); });
  std::string bytes;
  if (has_bytes()) {
    bytes.swap(chunks_.front()->pending);
    if (chunks_.front()->n_missing == 0) chunks_.pop_front();
    for_workers_.notify_all();
  } else if (error_) {
    return fail(*error_);
  }
  return bytes;
}

bool ChunkQueue::is_done() const {
  const std::lock_guard lock(mutex_);
  return chunks_.empty() && next_begin_ == end_;
}

std::deque<std::string> ChunkQueue::sentences() {
  const std::lock_guard lock(mutex_);
  return std::exchange(sentences_, {});
}

}  // namespace vitro
