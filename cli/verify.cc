// vitro verify: compare models with stored results of a reference.
#include <optional>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "inspect/verify.h"

namespace vitro {
namespace {

constexpr std::string_view kExample = "Example:\n  vitro verify tests/golden/llama-gqa tests/golden/gpt2\n";

struct VerifyArgs {
  std::vector<std::string> folders;
  std::string model;
  std::optional<int> n_threads;
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
  put("{:<6} {:<28} {:<9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6} {:>9} {:6.2f}\n", r.passed() ? "pass" : "FAIL",
      r.name, r.family, number(r.logits_error), number(r.hidden_error), number(r.attention_error), number(r.rope_error),
      number(r.top_error), number(r.nll_error), r.n_step_rows, fmt::format("{}/{}", r.n_greedy_equal, r.n_greedy),
      r.seconds);
  for (const std::string& note : r.notes) put("       note: {}\n", note);
  for (const std::string& failure : r.failures) put("       {}\n", failure);
}

Value texts(const std::vector<std::string>& items) {
  Value::Array out;
  for (const std::string& item : items) out.emplace_back(item);
  return Value(std::move(out));
}

// Negative: not compared.
Value error_value(double error) { return error < 0 ? Value() : Value(error); }

Value outcome_json(const Outcome& outcome) {
  if (!outcome.report) {
    return Value(Value::Object{
        {"folder", Value(outcome.folder)}, {"passed", Value(false)}, {"error", Value(outcome.report.error().message)}});
  }
  const VerifyReport& r = *outcome.report;
  return Value(Value::Object{{"folder", Value(outcome.folder)},
                             {"name", Value(r.name)},
                             {"family", Value(r.family)},
                             {"passed", Value(r.passed())},
                             {"logits_error", error_value(r.logits_error)},
                             {"hidden_error", error_value(r.hidden_error)},
                             {"attention_error", error_value(r.attention_error)},
                             {"rope_error", error_value(r.rope_error)},
                             {"top_error", error_value(r.top_error)},
                             {"nll_error", error_value(r.nll_error)},
                             {"step_rows_identical", Value(r.n_step_rows)},
                             {"greedy_equal", Value(r.n_greedy_equal)},
                             {"greedy", Value(r.n_greedy)},
                             {"notes", texts(r.notes)},
                             {"failures", texts(r.failures)},
                             {"seconds", Value(r.seconds)}});
}

void print_outcome(const Outcome& outcome, bool is_json) {
  if (is_json) {
    put_json(outcome_json(outcome));
  } else if (outcome.report) {
    print_row(outcome);
  } else {
    put("FAIL   {}: {}\n", outcome.folder, outcome.report.error().message);
  }
}

Result<bool> verify_all(const VerifyArgs& args) {
  VITRO_TRY_ASSIGN(const Engine engine, open_threads(args.n_threads));
  if (!args.is_json) {
    put("{:<6} {:<28} {:<9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6} {:>9} {:>6}\n", "", "folder", "family", "logits",
        "hidden", "attn", "rope", "top", "loss", "steps", "greedy", "s");
  }
  size_t n_passed = 0;
  Progress progress("verifying");
  for (size_t i = 0; i < args.folders.size() && flush_output(); ++i) {
    progress.update(static_cast<int64_t>(i), static_cast<int64_t>(args.folders.size()));
    const Outcome outcome{args.folders[i], verify_folder(args.folders[i], args.options, engine.ctx)};
    print_outcome(outcome, args.is_json);
    n_passed += outcome.passed() ? 1 : 0;
  }
  if (!flush_output()) return false;
  talk("{} of {} folders agree with the reference (kernels {}, {} threads)\n", n_passed, args.folders.size(),
       engine.ctx.kernels->name, engine.pool->n_threads());
  return n_passed == args.folders.size();
}

}  // namespace

int verify_command(std::span<const std::string> args) {
  VerifyArgs options;
  CLI::App app(
      "Runs models with float32 activations and compares logits, hidden states, attention, rotary tables, loss and "
      "greedy text\n"
      "with stored results of a reference; token by token against the whole pass, bit for bit. The reference's cache "
      "is "
      "float32.");
  std::string model, cache_type = "f32";
  app.add_option("DIR", options.folders, "folders with expected.json")->required();
  app.add_option("--model", model, "weights to use instead of each folder's own (needed for real models)")
      ->group("Model");
  app.add_option("--threads", options.n_threads, "threads, 1 to 1024 (default: all processors)")->group("Model");
  app.add_option("--page-size", options.options.page_size, "positions in a cache page, a multiple of 8")
      ->capture_default_str()
      ->check(at_least(1))
      ->group("Model");
  add_cache_type_option(app, cache_type, false);
  app.add_flag("--json", options.is_json, "one JSON object a folder")->group("Output");
  app.footer(std::string(kExample));
  if (const auto code = parse_args(app, "verify", args)) return *code;
  options.options.model = model;
  options.options.cache_type = parse_cache_types(cache_type).value().front();  // checked with the other options
  const Result<bool> passed = verify_all(options);
  if (!passed) return report_error("verify", passed.error());
  return *passed ? 0 : 1;
}

}  // namespace vitro
