#include "base/thread_pool.h"

#include <algorithm>
#include <system_error>

#include "base/check.h"
#include "base/checked_math.h"

namespace vitro {
namespace {

// Polls before sleeping: about 20 us (a pause takes some 40 to 50 ns on current processors), longer than the gap
// between two loops of one forward pass, shorter than anyone would notice.
constexpr int kSpins = 400;
// Then polls that give the processor away: where there are more threads than free processors, the one waited for needs
// it.
constexpr int kYields = 50;

void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Returns once `value` differs from `seen`: first by polling, then asleep in the kernel.
uint32_t wait_for_change(const std::atomic<uint32_t>& value, uint32_t seen) {
  for (int i = 0; i < kSpins + kYields; ++i) {
    if (const uint32_t now = value.load(std::memory_order_acquire); now != seen) return now;
    if (i < kSpins) {
      spin_pause();
    } else {
      std::this_thread::yield();
    }
  }
  value.wait(seen, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(int n_threads) : n_threads_(n_threads) {
  VITRO_CHECK(n_threads >= 1);
  // The system may refuse threads; results do not depend on their number, so the team is then smaller.
  try {
    for (int worker = 1; worker < n_threads; ++worker) threads_.emplace_back([this, worker] { worker_loop(worker); });
  } catch (const std::system_error&) {
    n_threads_ = static_cast<int>(threads_.size()) + 1;
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
}

void ThreadPool::run(RangeTask task, int64_t n_items, int64_t grain, [[maybe_unused]] const char* name) {
  if (n_items <= 0) return;
  if (n_threads_ == 1 || n_items <= grain) {
    task.fn(task.context, 0, n_items, 0);
    return;
  }
  task_ = task;
  n_items_ = n_items;
  grain_ = grain;
  n_pending_.store(static_cast<uint32_t>(n_threads_ - 1), std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  run_share(0);
  for (uint32_t pending = n_pending_.load(std::memory_order_acquire); pending != 0;) {
    pending = wait_for_change(n_pending_, pending);
  }
}

void ThreadPool::run_share(int worker) const {
  const int64_t n_grains = ceil_div(n_items_, grain_);
  const int64_t begin = n_grains * worker / n_threads_ * grain_;
  const int64_t end = std::min(n_grains * (worker + 1) / n_threads_ * grain_, n_items_);
  if (begin < end) task_.fn(task_.context, begin, end, worker);
}

void ThreadPool::worker_loop(int worker) {
  uint32_t seen = 0;
  while (true) {
    seen = wait_for_change(generation_, seen);
    if (stopping_.load(std::memory_order_relaxed)) return;
    run_share(worker);
    if (n_pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) n_pending_.notify_one();
  }
}

}  // namespace vitro
