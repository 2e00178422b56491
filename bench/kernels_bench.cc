// One line a kernel and table: bytes/s for what streams, FLOP/s and the part of the measured peak for what computes.
// Matmul has a program of its own (matmul_bench.cc).
//   kernels_bench --benchmark_filter=attend
#include <benchmark/benchmark.h>

#include <cmath>
#include <ctime>
#include <string>
#include <vector>

#include "base/rng.h"
#include "kernels/burst/burst.h"
#include "kernels/table.h"

namespace {

using vitro::KernelTable;

/// What one core can do at most.
double measured_peak_flops() {
  constexpr int64_t kRounds = 10'000'000;
  const vitro::Burst burst = vitro::burst_of(vitro::best_kernel_table());
  const std::clock_t start = std::clock();  // processor time, so that a busy machine does not lower the peak
  benchmark::DoNotOptimize(burst.run(0.5F, 0.5F, kRounds));
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return 2.0 * static_cast<double>(burst.n_lanes * kRounds) / seconds;
}

std::vector<float> random_values(int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(vitro::uniform_at(1, 0, i)) - 0.5F;
  return values;
}

void report_flops(benchmark::State& state, double flops_a_call) {
  static const double peak = measured_peak_flops();
  const double total = flops_a_call * static_cast<double>(state.iterations());
  state.counters["FLOP/s"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  if (peak > 0) state.counters["of_peak"] = benchmark::Counter(total / peak, benchmark::Counter::kIsRate);
}

void report_bytes(benchmark::State& state, double bytes_a_call) {
  state.SetBytesProcessed(static_cast<int64_t>(bytes_a_call * static_cast<double>(state.iterations())));
}

struct AttendCase {
  int64_t n_rows, n_keys, d_head, page_size;
  vitro::CacheType type = vitro::CacheType::kF32;
  float softcap = 0;
};

/// Pages of one head with random keys and values, as the cache lays them out.
class Pages {
 public:
  Pages(const AttendCase& c) : page_bytes_(2 * c.page_size * vitro::cache_row_bytes(c.type, c.d_head)) {
    const int64_t n_pages = (c.n_keys + c.page_size - 1) / c.page_size;
    const int64_t half_bytes = c.page_size * c.d_head * vitro::cache_type_info(c.type).element_bytes;
    const int64_t n_scales = vitro::cache_n_scales(c.type, c.d_head);
    bytes_.resize(static_cast<size_t>(n_pages * page_bytes_));
    // All positions are alike, and elements are stored in the order of values: for the time it makes no difference.
    const std::vector<float> x = random_values(c.d_head);
    for (int64_t row = 0; row < n_pages * 2 * c.page_size; ++row) {
      std::byte* page = &bytes_[static_cast<size_t>(row / (2 * c.page_size) * page_bytes_)];
      const int64_t at = row % (2 * c.page_size);
      vitro::best_kernel_table().encode[static_cast<int>(c.type)](
          {.x = x.data(),
           .n = c.d_head,
           .scale_block = vitro::cache_scale_block(c.type, c.d_head),
           .elements = page + at * (half_bytes / c.page_size),
           .scales = page + 2 * half_bytes + at * n_scales * 2});
    }
    for (int64_t p = 0; p < n_pages; ++p) page_ids_.push_back(static_cast<int32_t>(p));
    head_ = {.k_base = bytes_.data(),
             .v_base = bytes_.data() + half_bytes,
             .k_scales = bytes_.data() + 2 * half_bytes,
             .v_scales = bytes_.data() + 2 * half_bytes + c.page_size * n_scales * 2,
             .page_ids = page_ids_.data(),
             .page_stride = page_bytes_,
             .page_size = c.page_size,
             .d_head = c.d_head,
             .scale_block = vitro::cache_scale_block(c.type, c.d_head)};
  }
  const vitro::KvHead& head() const { return head_; }

 private:
  int64_t page_bytes_;
  std::vector<std::byte> bytes_;
  std::vector<int32_t> page_ids_;
  vitro::KvHead head_;
};

void bench_attend(benchmark::State& state, const KernelTable& table, AttendCase c) {
  const Pages pages(c);
  const std::vector<float> q = random_values(c.n_rows * c.d_head);
  std::vector<float> z(q.size()), lse(static_cast<size_t>(c.n_rows));
  std::vector<float> scratch(static_cast<size_t>(vitro::attend_scratch_floats(c.d_head)));
  std::vector<vitro::AttendRow> rows;
  for (int64_t r = 0; r < c.n_rows; ++r) {
    rows.push_back({&q[static_cast<size_t>(r * c.d_head)], &z[static_cast<size_t>(r * c.d_head)],
                    &lse[static_cast<size_t>(r)], 0, c.n_keys - 1});
  }
  const vitro::AttendArgs args{.kv = pages.head(),
                               .rows = rows.data(),
                               .n_rows = c.n_rows,
                               .scale = 1 / std::sqrt(static_cast<float>(c.d_head)),
                               .softcap = c.softcap,
                               .scratch = scratch.data()};
  for (auto _ : state) table.attend[static_cast<int>(c.type)](args);
  report_flops(state, 4.0 * static_cast<double>(c.n_rows * c.n_keys * c.d_head));
  report_bytes(state, 2.0 * static_cast<double>(c.n_keys * vitro::cache_row_bytes(c.type, c.d_head)));
}

void register_attend_case(const KernelTable& table, const AttendCase& c) {
  std::string name = std::string("attend/") + table.name + "/rows:" + std::to_string(c.n_rows) +
                     "/keys:" + std::to_string(c.n_keys) + "/d_head:" + std::to_string(c.d_head) +
                     "/page:" + std::to_string(c.page_size);
  if (c.softcap != 0) name += "/softcap";
  if (c.type != vitro::CacheType::kF32) name += "/" + std::string(vitro::cache_type_info(c.type).name);
  benchmark::RegisterBenchmark(name.c_str(), [&table, c](benchmark::State& state) { bench_attend(state, table, c); });
}

void register_attend(const KernelTable& table) {
  for (const AttendCase& c : {AttendCase{16, 512, 64, 16},
                              {16, 512, 128, 16},
                              {16, 512, 64, 8},
                              {12, 512, 64, 16},
                              {16, 4096, 64, 16},
                              {1, 4096, 64, 16},
                              {1, 4096, 128, 16},
                              {3, 4096, 64, 16},
                              {4, 4096, 256, 16},
                              {16, 512, 64, 16, vitro::CacheType::kF32, 30}}) {
    register_attend_case(table, c);
  }
  for (int type = 0; type < vitro::kNCacheTypes; ++type) {
    for (AttendCase c : {AttendCase{16, 512, 64, 16}, {1, 4096, 128, 16}, {1, 32768, 128, 16}}) {
      if (type == 0 && c.n_keys < 32768) continue;  // is above
      c.type = static_cast<vitro::CacheType>(type);
      register_attend_case(table, c);
    }
  }
}

/// A kernel over one row of n values that touches bytes_a_value of memory for each.
template <class Call>
void register_row(const KernelTable& table, const char* kernel, int64_t n, double bytes_a_value, Call call) {
  const std::string name = std::string(kernel) + "/" + table.name + "/n:" + std::to_string(n);
  benchmark::RegisterBenchmark(name.c_str(), [=, &table](benchmark::State& state) {
    const std::vector<float> x = random_values(n), y = random_values(n);
    std::vector<float> out(x.size());
    for (auto _ : state) {
      call(table, x.data(), y.data(), n, out.data());
      benchmark::ClobberMemory();
    }
    report_bytes(state, bytes_a_value * static_cast<double>(n));
  });
}

void register_encode(const KernelTable& table) {
  for (int type = 0; type < vitro::kNCacheTypes; ++type) {
    const auto info = vitro::cache_type_info(static_cast<vitro::CacheType>(type));
    register_row(table, ("encode_" + std::string(info.name)).c_str(), 128,
                 4.0 + static_cast<double>(info.element_bytes),
                 [type](const KernelTable& t, const float* x, const float*, int64_t n, float* out) {
                   alignas(2) std::byte scales[2 * 128];
                   t.encode[type]({.x = x,
                                   .n = n,
                                   .scale_block = vitro::cache_scale_block(static_cast<vitro::CacheType>(type), n),
                                   .elements = reinterpret_cast<std::byte*>(out),
                                   .scales = scales});
                 });
  }
}

void register_rows(const KernelTable& table) {
  using F = float;
  using T = KernelTable;
  register_row(table, "rms_norm", 2048, 16, [](const T& t, const F* x, const F* gain, int64_t n, F* out) {
    t.rms_norm({.x = x, .gain = gain, .eps = 1e-5F, .n = n, .out = out});
  });
  register_row(table, "layer_norm", 2048, 20, [](const T& t, const F* x, const F* gain, int64_t n, F* out) {
    t.layer_norm({.x = x, .gain = gain, .bias = gain, .eps = 1e-5F, .n = n, .out = out});
  });
  for (const bool is_adjacent : {false, true}) {
    register_row(table, is_adjacent ? "rope_adjacent" : "rope_halves", 32 * 64, 8,
                 [=](const T& t, const F* cos, const F* sin, int64_t n, F* x) {
                   t.rope({x, n / 64, 64, 32, cos, sin, is_adjacent});
                 });
  }
  static constexpr const char* kNames[] = {"silu_gate", "gelu_tanh_gate",    "gelu_erf_gate",
                                           "relu_gate", "relu_squared_gate", "quick_gelu_gate"};
  for (int f = 0; f < vitro::kNActivations; ++f) {
    register_row(table, kNames[f], 8192, 12, [f](const T& t, const F* gate, const F* up, int64_t n, F* out) {
      t.activate_gate[f](gate, up, n, out);
    });
  }
  register_row(table, "add", 8192, 12,
               [](const T& t, const F* a, const F* b, int64_t n, F* out) { t.add(a, b, n, out); });
  register_row(table, "scale", 8192, 8,
               [](const T& t, const F* x, const F*, int64_t n, F* out) { t.scale(x, 0.5F, n, out); });
  register_row(table, "softcap", 8192, 8,
               [](const T& t, const F* x, const F*, int64_t n, F* out) { t.softcap(x, 30, n, out); });
  register_row(table, "clamp", 8192, 8,
               [](const T& t, const F* x, const F*, int64_t n, F* out) { t.clamp(x, 0.3F, n, out); });
  register_row(table, "log_sum_exp", 49152, 8,
               [](const T& t, const F* x, const F*, int64_t n, F*) { benchmark::DoNotOptimize(t.log_sum_exp(x, n)); });
}

}  // namespace

int main(int argc, char** argv) {
  for (const char* name : {"avx512", "avx2", "v2", "reference"}) {
    const KernelTable* table = vitro::find_kernel_table(name);
    if (table != nullptr) register_attend(*table), register_encode(*table), register_rows(*table);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
