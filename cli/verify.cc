// vitro verify: compare models with stored results of a reference.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "formats/json.h"
#include "inspect/verify.h"

namespace vitro {
namespace {

constexpr std::string_view kExample = "Example:\n  vitro verify tests/golden/llama-gqa tests/golden/gpt2\n";

struct VerifyArgs {
  std::vector<std::string> folders;
  std::string model;
  int n_threads = kAllThreads;
  VerifyOptions options;
  bool is_json = false;
};

struct Outcome {
  std::string folder;
  Result<VerifyReport> report;
  bool passed() const { return report && report->passed(); }
};

std::string number(double value) { return value < 0 ? "-" : fmt::format("{:.1e}", value); }

void print_row(const Outcome& outcome) {
  const VerifyReport& r = *outcome.report;
  fmt::print("{:<6} {:<28} {:<9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6} {:>9} {:6.2f}\n",
             r.passed() ? "pass" : "FAIL", r.name, r.family, number(r.logits_error), number(r.hidden_error),
             number(r.attention_error), number(r.rope_error), number(r.top_error), number(r.nll_error), r.n_step_rows,
             fmt::format("{}/{}", r.n_greedy_equal, r.n_greedy), r.seconds);
  for (const std::string& note : r.notes) fmt::print("       note: {}\n", note);
  for (const std::string& failure : r.failures) fmt::print("       {}\n", failure);
}

std::string string_list(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ",") + json_quote(item);
  return "[" + out + "]";
}

void print_json_row(const Outcome& outcome) {
  if (!outcome.report) {
    fmt::print("{{\"folder\":{},\"passed\":false,\"error\":{}}}\n", json_quote(outcome.folder),
               json_quote(outcome.report.error().message));
    return;
  }
  const VerifyReport& r = *outcome.report;
  const auto value = [](double x) { return x < 0 ? std::string("null") : fmt::format("{:.6g}", x); };
  fmt::print(
      "{{\"folder\":{},\"name\":{},\"family\":{},\"passed\":{},\"logits_error\":{},\"hidden_error\":{},\"attention_"
      "error\":{},"
      "\"rope_error\":{},\"top_error\":{},\"nll_error\":{},\"step_rows_identical\":{},\"greedy_equal\":{},\"greedy\":{}"
      ","
      "\"notes\":{},\"failures\":{},\"seconds\":{:.3f}}}\n",
      json_quote(outcome.folder), json_quote(r.name), json_quote(r.family), r.passed(), value(r.logits_error),
      value(r.hidden_error), value(r.attention_error), value(r.rope_error), value(r.top_error), value(r.nll_error),
      r.n_step_rows, r.n_greedy_equal, r.n_greedy, string_list(r.notes), string_list(r.failures), r.seconds);
}

void print_outcome(const Outcome& outcome, bool is_json) {
  if (is_json) return print_json_row(outcome);
  if (outcome.report) return print_row(outcome);
  fmt::print("FAIL   {}: {}\n", outcome.folder, outcome.report.error().message);
}

Result<bool> verify_all(const VerifyArgs& args) {
  VITRO_TRY_ASSIGN(const Engine engine, open_threads(args.n_threads));
  if (!args.is_json) {
    fmt::print("{:<6} {:<28} {:<9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6} {:>9} {:>6}\n", "", "folder", "family",
               "logits", "hidden", "attn", "rope", "top", "loss", "steps", "greedy", "s");
  }
  size_t n_passed = 0;
  Progress progress("verifying");
  for (size_t i = 0; i < args.folders.size(); ++i) {
    progress.update(static_cast<int64_t>(i), static_cast<int64_t>(args.folders.size()));
    const Outcome outcome{args.folders[i], verify_folder(args.folders[i], args.options, engine.ctx)};
    print_outcome(outcome, args.is_json);
    n_passed += outcome.passed() ? 1 : 0;
  }
  fmt::print(stderr, "{} of {} folders agree with the reference (kernels {}, {} threads)\n", n_passed,
             args.folders.size(), engine.ctx.kernels->name, engine.pool->n_threads());
  return n_passed == args.folders.size();
}

}  // namespace

int verify_command(std::span<const std::string> args) {
  VerifyArgs options;
  CLI::App app(
      "Runs models with float32 activations and cache and compares logits, hidden states, attention, rotary tables, "
      "loss and greedy\n"
      "text with stored results of a reference; token by token against the whole pass, bit for bit.");
  std::string model;
  app.add_option("DIR", options.folders, "folders with expected.json")->required();
  app.add_option("--model", model, "weights to use instead of each folder's own (needed for real models)")
      ->group("Model");
  app.add_option("--threads", options.n_threads, "threads (default: all processors)")->group("Model");
  app.add_option("--page-size", options.options.page_size, "positions in a cache page, a multiple of 8")
      ->capture_default_str()
      ->group("Model");
  app.add_flag("--json", options.is_json, "one JSON object a folder")->group("Output");
  app.footer(std::string(kExample));
  if (const auto code = parse_args(app, "verify", args)) return *code;
  options.options.model = model;
  const Result<bool> passed = verify_all(options);
  if (!passed) return report_error("verify", passed.error());
  return *passed ? 0 : 1;
}

}  // namespace vitro
