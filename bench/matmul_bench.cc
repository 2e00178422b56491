// Matmul of every kernel table and weight type on one thread: cache-cold decoding (one token, bytes/s) and prefill (8
// and 128 tokens, FLOP/s), with the fraction of this machine's own streaming read and fused multiply-add peak, measured
// first.
#include <benchmark/benchmark.h>
#include <fmt/core.h>
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "kernels/burst/burst.h"
#include "kernels/table.h"
#include "tensor/buffer.h"
#include "tensor/panel.h"
#include "tensor/quant_block.h"

namespace vitro {
namespace {

constexpr size_t kColdBytes = size_t{192} << 20;  ///< well beyond the last-level cache

struct MachinePeak {
  double read_bytes_per_s = 0;
  double flops_per_s = 0;
};

/// Processor time of this thread: other processes of a busy machine then count less.
double cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Fn>
double best_seconds(Fn fn) {
  double best = 1e30;
  for (int i = 0; i < 9; ++i) {
    const double start = cpu_seconds();
    fn();
    best = std::min(best, cpu_seconds() - start);
  }
  return best;
}

double measure_flops() {
  constexpr int64_t kRounds = 2000000;
  const Burst burst = burst_of(best_kernel_table());
  const auto run = [&] { benchmark::DoNotOptimize(burst.run(0.5F, 0.5F, kRounds)); };
  return 2.0 * static_cast<double>(burst.n_lanes) * kRounds / best_seconds(run);
}

double measure_read(const Buffer& buffer) {
  const double seconds = best_seconds([&] {
    __m128i sums[4] = {};
    const auto* p = buffer.as<const __m128i>();
    for (size_t i = 0; i + 4 <= buffer.size() / sizeof(__m128i); i += 4) {
      for (size_t j = 0; j < 4; ++j) sums[j] = _mm_xor_si128(sums[j], _mm_load_si128(p + i + j));
    }
    benchmark::DoNotOptimize(sums);
  });
  return static_cast<double>(buffer.size()) / seconds;
}

/// Random bytes of 0x20 .. 0x3B: whatever part of a block they are, floats and scales are normal numbers.
void fill(const Buffer& buffer) {
  uint32_t state = 1;
  for (std::byte& b : buffer.bytes()) {
    state = state * 1664525U + 1013904223U;
    b = static_cast<std::byte>(((state >> 24) & 0x1BU) | 0x20U);
  }
}

struct Work {
  const KernelTable* table;
  DType dtype;
  int64_t n_rows, n_cols, n_tokens;
  MachinePeak peak;
  const Buffer* weights;  ///< as many copies of the matrix as fit; each call takes the next one
};

void run_matmul(benchmark::State& state, const Work& work) {
  const int64_t matrix_bytes = (work.n_rows + kPanelRows - 1) / kPanelRows * panel_bytes(work.dtype, work.n_cols);
  const int64_t n_copies = std::max<int64_t>(1, static_cast<int64_t>(work.weights->size()) / matrix_bytes);
  std::vector<float> x(static_cast<size_t>(work.n_tokens * work.n_cols), 0.5F),
      y(static_cast<size_t>(work.n_tokens * work.n_rows));
  int64_t copy = 0;
  for (auto _ : state) {
    work.table->matmul[static_cast<size_t>(work.dtype)]({.panels = work.weights->data() + copy * matrix_bytes,
                                                         .n_rows = work.n_rows,
                                                         .n_cols = work.n_cols,
                                                         .x = x.data(),
                                                         .x_stride = work.n_cols,
                                                         .n_tokens = work.n_tokens,
                                                         .bias = nullptr,
                                                         .y = y.data(),
                                                         .y_stride = work.n_rows});
    copy = (copy + 1) % n_copies;
    benchmark::ClobberMemory();
  }
  const double calls = static_cast<double>(state.iterations());
  const double bytes = calls * static_cast<double>(matrix_bytes);
  const double flops = calls * 2.0 * static_cast<double>(work.n_rows * work.n_cols * work.n_tokens);
  using benchmark::Counter;
  state.counters["GB/s"] = Counter(bytes * 1e-9, Counter::kIsRate);
  state.counters["%read"] = Counter(100 * bytes / work.peak.read_bytes_per_s, Counter::kIsRate);
  state.counters["GFLOP/s"] = Counter(flops * 1e-9, Counter::kIsRate);
  state.counters["%fma"] = Counter(100 * flops / std::max(1.0, work.peak.flops_per_s), Counter::kIsRate);
}

void register_table(const KernelTable& table, MachinePeak peak, const Buffer& weights) {
  constexpr std::array<std::array<int64_t, 2>, 3> kShapes = {{{576, 1536}, {1536, 576}, {2048, 2048}}};
  for (const DType dtype : kPanelTypes) {
    for (const auto& [n_rows, n_cols] : kShapes) {
      if (n_cols % dtype_info(dtype).block_elements != 0) continue;
      for (const int64_t n_tokens : {1, 8, 128}) {
        const Work work = {&table, dtype, n_rows, n_cols, n_tokens, peak, &weights};
        const std::string name =
            fmt::format("{}/{}/{}x{}/tokens:{}", table.name, dtype_info(dtype).name, n_rows, n_cols, n_tokens);
        benchmark::RegisterBenchmark(name.c_str(), [work](benchmark::State& state) { run_matmul(state, work); });
      }
    }
  }
}

void run_pack(benchmark::State& state, DType dtype, const Buffer& weights) {
  constexpr int64_t kCols = 2048;
  const auto n_bytes = static_cast<size_t>(dtype_info(dtype).block_bytes) * kCols /
                       static_cast<size_t>(dtype_info(dtype).block_elements);
  Buffer panel = Buffer::allocate(static_cast<size_t>(panel_bytes(dtype, kCols)), "panel").value();
  std::array<const std::byte*, kRowsPerPanel> rows = {};
  size_t at = 0;
  for (auto _ : state) {
    if (at + rows.size() * n_bytes > weights.size()) at = 0;
    for (const std::byte*& row : rows) row = weights.data() + std::exchange(at, at + n_bytes);
    pack_panel(dtype, rows, kCols, panel.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(rows.size() * n_bytes));
}

}  // namespace
}  // namespace vitro

int main(int argc, char** argv) {
  using namespace vitro;
  benchmark::Initialize(&argc, argv);
  const Result<Buffer> weights = Buffer::allocate(kColdBytes, "benchmark weights");
  if (!weights) return 1;
  fill(*weights);
  const MachinePeak peak = {measure_read(*weights), measure_flops()};
  fmt::print(stderr, "one thread: read {:.1f} GB/s, fma {:.1f} GFLOP/s\n", peak.read_bytes_per_s * 1e-9,
             peak.flops_per_s * 1e-9);
  for (const char* name : {"avx512", "avx2", "v2", "reference"}) {
    if (const KernelTable* table = find_kernel_table(name)) register_table(*table, peak, *weights);
  }
  for (const DType dtype : kPanelTypes) {
    const std::string name = fmt::format("pack/{}", dtype_info(dtype).name);
    benchmark::RegisterBenchmark(name.c_str(),
                                 [dtype, &weights](benchmark::State& state) { run_pack(state, dtype, *weights); });
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
