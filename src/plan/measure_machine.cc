#include "plan/measure_machine.h"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <string>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/thread_pool.h"
#include "kernels/burst/burst.h"
#include "ops/linear.h"
#include "tensor/buffer.h"
#include "tensor/quant_block.h"

namespace vitro {
namespace {

constexpr int kRuns = 5;
constexpr int64_t kMinBuffer = int64_t{64} << 20, kMaxBuffer = int64_t{1} << 30;
constexpr int64_t kRows = 2048, kCols = 2048;  ///< of the matrix: whole blocks of every type
constexpr int64_t kBurstRounds = 100'000;

/// Work a second of `work` units a call: calls are repeated until a run lasts long enough to be timed.
template <class Fn>
Rate measure(double work, double seconds_a_run, Fn&& call) {
  std::array<double, kRuns> rates = {};
  call();  // pages, caches and clocks warm up
  for (double& rate : rates) {
    const double start = now_seconds();
    double elapsed = 0;
    int64_t n_calls = 0;
    do {
      call();
      ++n_calls;
      elapsed = now_seconds() - start;
    } while (elapsed < seconds_a_run);
    rate = work * static_cast<double>(n_calls) / elapsed;
  }
  std::sort(rates.begin(), rates.end());
  return {rates[kRuns / 2], rates.back()};
}

/// The compiler must believe that a value is used.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

int64_t physical_bytes() { return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE); }

/// Twice the last-level cache, within bounds.
int64_t default_buffer_bytes() {
  const int64_t cache = std::max<int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), 0);
  const int64_t most = std::min(kMaxBuffer, physical_bytes() / 8);
  return std::clamp(2 * cache, std::min(4 * kMinBuffer, most), most) / 4096 * 4096;
}

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

/// Bytes that are normal numbers and small scales in every type (0x20 .. 0x3B), not all alike.
void fill(const Buffer& buffer) {
  uint32_t state = 1;
  for (std::byte& b : buffer.bytes()) {
    state = state * 1664525U + 1013904223U;
    b = static_cast<std::byte>(((state >> 24) & 0x1BU) | 0x20U);
  }
}

uint64_t sum_words(const uint64_t* words, int64_t begin, int64_t end) {
  std::array<uint64_t, 8> sums = {};
  for (int64_t i = begin; i + 8 <= end; i += 8) {
    for (size_t j = 0; j < sums.size(); ++j) sums[j] += words[i + static_cast<int64_t>(j)];
  }
  uint64_t sum = 0;
  for (const uint64_t s : sums) sum += s;
  return sum;
}

/// One measurement after the other, on one buffer.
class Measurer {
 public:
  Measurer(const KernelTable& kernels, const MeasureOptions& options, Buffer buffer)
      : kernels_(kernels), options_(options), buffer_(std::move(buffer)) {
    for (int n = 1; n < options.n_threads; n *= 2) counts_.push_back(n);
    counts_.push_back(options.n_threads);
    matmul_counts_ = {1};
    if (options.n_threads > 1) matmul_counts_.push_back(options.n_threads);
    n_steps_ = static_cast<int>(counts_.size() + matmul_counts_.size() * kPanelTypes.size());
  }

  Result<MachineMeasurement> run() {
    fill(buffer_);
    MachineMeasurement out = describe();
    for (const int n : counts_) {
      VITRO_TRY(step());
      out.threads.push_back(thread_rates(n));
    }
    for (const int n : matmul_counts_) {
      ThreadPool pool(n);
      for (const DType dtype : kPanelTypes) {
        VITRO_TRY(step());
        out.matmuls.push_back(matmul_rates(dtype, pool));
      }
    }
    out.loop_seconds = loop_seconds();
    return out;
  }

 private:
  Status step() {
    if (options_.progress && !options_.progress(n_done_++, n_steps_)) return fail(ErrorCode::kCancelled, "interrupted");
    return {};
  }

  MachineMeasurement describe() const {
    MachineMeasurement out;
    out.measured_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    out.processor = processor_name();
    out.kernels = kernels_.name;
    out.n_cpus = n_usable_cpus();
    out.memory_bytes = physical_bytes();
    out.buffer_bytes = static_cast<int64_t>(buffer_.size());
    return out;
  }

  ThreadRates thread_rates(int n_threads) const {
    ThreadPool pool(n_threads);
    ThreadRates rates;
    rates.n_threads = n_threads;
    const auto n_words = static_cast<int64_t>(buffer_.size() / sizeof(uint64_t));
    const auto* words = buffer_.as<const uint64_t>();
    rates.read = measure(static_cast<double>(buffer_.size()), options_.seconds_a_run, [&] {
      pool.parallel_for(n_words, 4096, "read",
                        [&](int64_t begin, int64_t end, int) { keep(sum_words(words, begin, end)); });
    });
    // From one half to the other: as many bytes read as written.
    auto* target = buffer_.as<uint64_t>(buffer_.size() / 2);
    rates.copy = measure(static_cast<double>(buffer_.size()), options_.seconds_a_run, [&] {
      pool.parallel_for(n_words / 2, 4096, "copy", [&](int64_t begin, int64_t end, int) {
        std::copy(words + begin, words + end, target + begin);
      });
    });
    const Burst burst = burst_of(kernels_);
    const double flops = 2.0 * kBurstRounds * static_cast<double>(burst.n_lanes) * n_threads;
    rates.flops = measure(flops, options_.seconds_a_run, [&] {
      pool.parallel_for(n_threads, 1, "burst", [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i) keep(burst.run(0.5F, 0.5F, kBurstRounds));
      });
    });
    return rates;
  }

  /// Each call takes the next of as many matrices as the buffer holds, so that none is in a cache.
  MatmulRates matmul_rates(DType dtype, ThreadPool& pool) const {
    OpContext ctx{.kernels = &kernels_, .pool = &pool};
    const int64_t matrix_bytes = kRows / kRowsPerPanel * panel_bytes(dtype, kCols);
    const int64_t n_matrices = static_cast<int64_t>(buffer_.size()) / matrix_bytes;
    const int64_t n_prefill = options_.n_prefill_rows;
    std::vector<float> x(static_cast<size_t>(n_prefill * kCols), 0.5F), y(static_cast<size_t>(n_prefill * kRows));
    int64_t idx = 0;
    const auto product = [&](int64_t n_rows) {
      const LinearJob job{.w = {buffer_.data() + idx * matrix_bytes, dtype, kRows, kCols},
                          .y = Rows(y.data(), n_rows, kRows)};
      linear(ConstRows(x.data(), n_rows, kCols), {&job, 1}, ctx);
      idx = (idx + 1) % n_matrices;
    };
    MatmulRates rates;
    rates.dtype = dtype;
    rates.n_threads = pool.n_threads();
    rates.stream = measure(static_cast<double>(matrix_bytes), options_.seconds_a_run, [&] { product(1); });
    rates.flops = measure(2.0 * kRows * kCols * static_cast<double>(n_prefill), options_.seconds_a_run,
                          [&] { product(n_prefill); });
    return rates;
  }

  double loop_seconds() const {
    ThreadPool pool(options_.n_threads);
    const Rate loops = measure(1, options_.seconds_a_run, [&] {
      pool.parallel_for(options_.n_threads, 1, "nothing", [](int64_t begin, int64_t, int) { keep(begin); });
    });
    return 1 / loops.median;
  }

  const KernelTable& kernels_;
  const MeasureOptions& options_;
  Buffer buffer_;
  std::vector<int> counts_, matmul_counts_;
  int n_steps_ = 0;
  int n_done_ = 0;
};

}  // namespace

Result<MachineMeasurement> measure_machine(const KernelTable& kernels, const MeasureOptions& options) {
  const int64_t wanted = options.buffer_bytes > 0 ? options.buffer_bytes : default_buffer_bytes();
  VITRO_TRY_ASSIGN(Buffer buffer, Buffer::allocate(static_cast<size_t>(std::max(wanted, kMinBuffer)), "measuring"));
  return Measurer(kernels, options, std::move(buffer)).run();
}

}  // namespace vitro
