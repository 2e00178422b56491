// A fixed team of threads that runs one loop at a time. Items are divided statically, so who computes what depends only
// on the number of threads; what is computed never does (each item writes its own outputs).
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace vitro {

/// Calls `fn(context, begin, end)`; a plain pair of pointers, so that starting a loop allocates nothing.
struct RangeTask {
  void (*fn)(void* context, int64_t begin, int64_t end, int worker) = nullptr;
  void* context = nullptr;
};

/// A team of `n_threads` workers, the caller being worker 0. One owner calls parallel_for; not reentrant.
class ThreadPool {
 public:
  /// n_threads >= 1; 1 makes no thread at all. If the system refuses threads the team is smaller: see n_threads().
  explicit ThreadPool(int n_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int n_threads() const { return n_threads_; }

  /// Runs body(begin, end, worker) over [0, n_items) in at most n_threads contiguous ranges whose borders are multiples
  /// of `grain` (except the last). Returns when all are done. `name` is what profiles call the loop.
  template <class Body>
  void parallel_for(int64_t n_items, int64_t grain, const char* name, Body&& body) {
    auto call = [](void* context, int64_t begin, int64_t end, int worker) {
      (*static_cast<std::remove_reference_t<Body>*>(context))(begin, end, worker);
    };
    run({call, &body}, n_items, grain, name);
  }

 private:
  void run(RangeTask task, int64_t n_items, int64_t grain, const char* name);
  void worker_loop(int worker);
  void run_share(int worker) const;

  // Constant after construction.
  int n_threads_;

  // Written by the owner before `generation_` is advanced, read by the workers after they see it.
  RangeTask task_;
  int64_t n_items_ = 0;
  int64_t grain_ = 1;

  // Shared; each on its own cache line, because both are polled.
  alignas(64) std::atomic<uint32_t> generation_{0};
  alignas(64) std::atomic<uint32_t> n_pending_{0};
  alignas(64) std::atomic<bool> stopping_{false};

  // Last, so that the threads are joined before anything they read goes away.
  std::vector<std::jthread> threads_;
};

}  // namespace vitro
