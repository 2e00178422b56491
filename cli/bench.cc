// vitro bench: measurements. `vitro bench machine` is the first; each is a subcommand of its own.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "base/human.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "plan/measure_machine.h"

namespace vitro {
namespace {

struct MachineArgs {
  std::optional<int> n_threads;
  std::string out;
  bool is_json = false;
  bool is_dry = false;  ///< keep nothing
};

std::string giga(double rate) { return fmt::format("{:.1f}", rate / 1e9); }
std::string percent(double part, double whole) { return fmt::format("{:.0f} %", 100 * part / whole); }

const ThreadRates& rates_at(const MachineMeasurement& machine, int n_threads) {
  const auto found = std::find_if(machine.threads.begin(), machine.threads.end(),
                                  [&](const ThreadRates& rates) { return rates.n_threads == n_threads; });
  return found == machine.threads.end() ? machine.threads.front() : *found;
}

void print_threads(const MachineMeasurement& machine) {
  Table table(">>>>");
  table.add({"threads", "read GB/s", "copy GB/s", "float32 GFLOP/s"});
  for (const ThreadRates& rates : machine.threads) {
    table.add({fmt::format("{}", rates.n_threads), giga(rates.read.median), giga(rates.copy.median),
               giga(rates.flops.median)});
  }
  table.print();
}

void print_matmuls(const MachineMeasurement& machine) {
  Table table("<>>>>>");
  table.add({"weights", "threads", "1 row GB/s", "of read", "128 rows GFLOP/s", "of peak"});
  for (const MatmulRates& rates : machine.matmuls) {
    const ThreadRates& most = rates_at(machine, rates.n_threads);
    table.add({std::string(dtype_info(rates.dtype).name), fmt::format("{}", rates.n_threads), giga(rates.stream.median),
               percent(rates.stream.median, most.read.median), giga(rates.flops.median),
               percent(rates.flops.median, most.flops.median)});
  }
  table.print();
}

// The largest of best / median - 1: how much other work was in the way.
double spread(const MachineMeasurement& machine) {
  double largest = 0;
  const auto see = [&](const Rate& rate) { largest = std::max(largest, rate.best / rate.median - 1); };
  for (const ThreadRates& rates : machine.threads) {
    for (const Rate& rate : {rates.read, rates.copy, rates.flops}) see(rate);
  }
  for (const MatmulRates& rates : machine.matmuls) {
    for (const Rate& rate : {rates.stream, rates.flops}) see(rate);
  }
  return largest;
}

void print_machine(const MachineMeasurement& machine) {
  put("{}, {} processors, {} of memory, {} kernels, {}\n", machine.processor, machine.n_cpus,
      human_bytes(static_cast<uint64_t>(machine.memory_bytes)), machine.kernels, machine.measured_at);
  put("GB are 10^9 bytes; medians of 5 runs; read and copy go through {}; a parallel loop takes {:.1f} us\n\n",
      human_bytes(static_cast<uint64_t>(machine.buffer_bytes)), 1e6 * machine.loop_seconds);
  print_threads(machine);
  put("\nmatrix kernels: 1 row of activations (decoding) against read, 128 rows (prefill) against the peak\n");
  print_matmuls(machine);
  if (spread(machine) > 0.25)
    put("\nsome runs were up to {:.0f} % faster than their median: other work was in the way; measure a quiet "
        "machine\n",
        100 * spread(machine));
}

Result<MachineMeasurement> measure(const MachineArgs& args) {
  VITRO_TRY_ASSIGN(const Engine engine, open_threads(args.n_threads));
  Progress progress("measuring");
  catch_interrupt();
  MeasureOptions options;
  options.n_threads = engine.pool->n_threads();
  options.progress = [&](int n_done, int n_steps) {
    progress.update(n_done, n_steps);
    return !is_interrupted();
  };
  Result<MachineMeasurement> machine = measure_machine(*engine.ctx.kernels, options);
  release_interrupt();
  return machine;
}

Status save(const MachineMeasurement& machine, const MachineArgs& args) {
  if (args.is_dry) return {};
  const std::filesystem::path path = args.out.empty() ? machine_path() : std::filesystem::path(args.out);
  VITRO_TRY(save_machine(machine, path));
  talk("kept in {}\n", path.string());
  return {};
}

int machine_command(std::span<const std::string> args) {
  MachineArgs options;
  CLI::App app(
      "Measures this machine in less than 30 seconds: memory bandwidth, float32 peak, and the engine's matrix kernels "
      "by\n"
      "weight type. The result is kept where 'vitro plan' finds it. Let nothing else run meanwhile.");
  app.add_option("--threads", options.n_threads, "threads, 1 to 1024 (default: all processors)");
  app.add_option("--out", options.out,
                 "file to keep the result in (default: machine.json in ~/.cache/vitro, or VITRO_CACHE)")
      ->type_name("FILE");
  app.add_flag("--dry-run", options.is_dry, "print the result, keep nothing");
  app.add_flag("--json", options.is_json, "one JSON object")->group("Output");
  app.footer("Example:\n  vitro bench machine\n");
  if (const auto code = parse_args(app, "bench machine", args)) return *code;
  const Result<MachineMeasurement> machine = measure(options);
  if (!machine) return report_error("bench machine", machine.error());
  if (options.is_json) {
    put_json(machine_json(*machine));
  } else {
    print_machine(*machine);
  }
  if (const Status saved = save(*machine, options); !saved) return report_error("bench machine", saved.error());
  return 0;
}

struct Bench {
  std::string_view name;
  int (*run)(std::span<const std::string>);
  std::string_view help;
};
constexpr std::array kBenches = {
    Bench{"machine", machine_command, "bandwidth, peaks and matrix kernels of this machine"}};

std::string bench_help() {
  std::string out = "usage: vitro bench WHAT [ARGUMENTS]\n\n";
  for (const Bench& bench : kBenches) out += fmt::format("  {:<10}{}\n", bench.name, bench.help);
  return out + "\n'vitro bench WHAT --help' shows its options and an example.\n";
}

}  // namespace

int bench_command(std::span<const std::string> args) {
  if (args.empty()) {
    talk("{}", bench_help());
    return 2;
  }
  if (args[0] == "--help" || args[0] == "-h") {
    put_text(bench_help());
    return 0;
  }
  for (const Bench& bench : kBenches) {
    if (bench.name == args[0]) return bench.run(args.subspan(1));
  }
  talk("vitro bench: unknown '{}'; did you mean '{}'? 'vitro bench --help' lists them all\n", args[0],
       nearest_entry(kBenches, args[0]).name);
  return 2;
}

}  // namespace vitro
