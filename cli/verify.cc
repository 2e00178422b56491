// vitro verify: compare models with stored results of a reference: named folders one by one, or all goldens of a
// folder.
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <iterator>
#include <optional>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "inspect/verify_golden.h"

namespace vitro {
namespace {

constexpr std::string_view kExample =
    "Example:\n  vitro verify tests/golden/llama-gqa tests/golden/gpt2\n  vitro verify --all tests/golden\n";

struct VerifyArgs {
  std::vector<std::string> folders;
  std::string all, twins;  // the folders of --all and --twins
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
  if (!r.repeated_fault.empty()) put("       with the reference's mistake repeated: {}\n", r.repeated_fault);
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

Value::Object report_json(const Result<VerifyReport>& report) {
  if (!report) return {{"passed", Value(false)}, {"error", Value(report.error().message)}};
  const VerifyReport& r = *report;
  return {{"passed", Value(r.passed())},
          {"logits_error", error_value(r.logits_error)},
          {"hidden_error", error_value(r.hidden_error)},
          {"attention_error", error_value(r.attention_error)},
          {"rope_error", error_value(r.rope_error)},
          {"top_error", error_value(r.top_error)},
          {"nll_error", error_value(r.nll_error)},
          {"step_rows_identical", Value(r.n_step_rows)},
          {"greedy_equal", Value(r.n_greedy_equal)},
          {"greedy", Value(r.n_greedy)},
          {"repeated_fault", Value(r.repeated_fault)},
          {"notes", texts(r.notes)},
          {"failures", texts(r.failures)},
          {"seconds", Value(r.seconds)}};
}

void append(Value::Object more, Value::Object* members) {
  std::move(more.begin(), more.end(), std::back_inserter(*members));
}

Value outcome_json(const Outcome& outcome) {
  Value::Object members{{"folder", Value(outcome.folder)}};
  if (outcome.report)
    append({{"name", Value(outcome.report->name)}, {"family", Value(outcome.report->family)}}, &members);
  append(report_json(outcome.report), &members);
  return Value(std::move(members));
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

Result<bool> verify_folders(const VerifyArgs& args) {
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

// ---- --all: every golden of a folder ----

std::string name_of(const GoldenVerdict& verdict) { return verdict.folder.filename().string(); }

// Why it cannot run, without the list of what can.
std::string reason(const GoldenVerdict& verdict) {
  const std::string& message = verdict.report.error().message;
  return message.substr(0, message.find("; "));
}

std::string_view verdict_word(const GoldenVerdict& verdict) {
  return !verdict.is_implemented() ? "not implemented" : verdict.has_failed() ? "FAIL" : "pass";
}

std::string verdict_text(const GoldenVerdict& verdict) {
  if (!verdict.is_implemented()) return "not implemented: " + reason(verdict);
  if (verdict.report && !verdict.report->repeated_fault.empty())
    return fmt::format("pass, with the reference's mistake repeated: {}", verdict.report->repeated_fault);
  const bool says_less = verdict.twin && *verdict.twin && !(*verdict.twin)->passed() && !verdict.has_failed();
  if (!says_less) return std::string(verdict_word(verdict));
  return fmt::format("pass; the twin cannot say {}", fmt::join(verdict.twin_cannot_say, ", "));
}

// Errors, steps and greedy text; six dashes where it did not run.
std::vector<std::string> result_cells(const Result<VerifyReport>& report) {
  if (!report) return std::vector<std::string>(6, "-");
  const VerifyReport& r = *report;
  return {number(r.logits_error), number(r.hidden_error),           number(r.attention_error),
          number(r.rope_error),   fmt::format("{}", r.n_step_rows), fmt::format("{}/{}", r.n_greedy_equal, r.n_greedy)};
}

void add_row(const GoldenVerdict& verdict, Table* table) {
  const auto or_dash = [](std::string_view text) { return std::string(text.empty() ? "-" : text); };
  std::vector<std::string> cells = {name_of(verdict), or_dash(verdict.arch ? verdict.arch->name : ""),
                                    or_dash(verdict.attention), or_dash(verdict.positions)};
  for (std::string& cell : result_cells(verdict.report)) cells.push_back(std::move(cell));
  cells.push_back(verdict.twin && *verdict.twin ? number((*verdict.twin)->logits_error) : "-");
  cells.push_back(verdict_text(verdict));
  table->add(std::move(cells));
}

// What went wrong, below the table.
void print_failures(const std::string& name, const Result<VerifyReport>& report) {
  const std::vector<std::string> failures = report ? report->failures : std::vector{report.error().message};
  for (const std::string& failure : failures) put("{}: {}\n", name, failure);
}

Value twin_json(const GoldenVerdict& verdict) {
  if (!verdict.twin) return Value();
  Value::Object members = report_json(*verdict.twin);
  append({{"cannot_say", texts(verdict.twin_cannot_say)}, {"contradicts", texts(verdict.twin_contradicts)}}, &members);
  return Value(std::move(members));
}

Value golden_json(const GoldenVerdict& verdict) {
  Value::Object members{{"folder", Value(verdict.folder.string())},
                        {"name", Value(name_of(verdict))},
                        {"family", Value(std::string(verdict.arch ? verdict.arch->name : ""))},
                        {"attention", Value(verdict.attention)},
                        {"positions", Value(verdict.positions)},
                        {"differs", Value(std::string(verdict.arch ? verdict.arch->differs : ""))},
                        {"verdict", Value(std::string(verdict_word(verdict)))}};
  append(report_json(verdict.report), &members);
  members.emplace_back("twin", twin_json(verdict));
  return Value(std::move(members));
}

// NAME.gguf in the folder of --twins, or in "gguf" beside the goldens; empty where there is none.
std::filesystem::path twin_of(const VerifyArgs& args, const std::filesystem::path& folder) {
  const std::filesystem::path beside = std::filesystem::path(args.all) / ".." / "gguf";
  const std::filesystem::path twins = args.twins.empty() ? beside : std::filesystem::path(args.twins);
  std::filesystem::path twin = twins / (folder.filename().string() + ".gguf");
  std::error_code error;
  return exists(twin, error) ? twin : std::filesystem::path();
}

void print_goldens(const std::vector<GoldenVerdict>& verdicts) {
  Table table("<<<<>>>>>>><");
  table.add({"golden", "family", "attention", "positions", "logits", "hidden", "attn", "rope", "steps", "greedy",
             "twin", "verdict"});
  for (const GoldenVerdict& verdict : verdicts) add_row(verdict, &table);
  table.print();
  for (const GoldenVerdict& verdict : verdicts) {
    if (!verdict.has_failed()) continue;
    print_failures(name_of(verdict), verdict.report);
    if (!verdict.twin) continue;
    print_failures(name_of(verdict) + ".gguf", *verdict.twin);
    for (const std::string& knob : verdict.twin_contradicts)
      put("{}.gguf: sets {} otherwise than config.json\n", name_of(verdict), knob);
  }
}

Result<bool> verify_all(const VerifyArgs& args) {
  VITRO_TRY_ASSIGN(const Engine engine, open_threads(args.n_threads ? args.n_threads : 1));
  VITRO_TRY_ASSIGN(const std::vector<std::filesystem::path> folders, golden_folders(args.all));
  std::vector<GoldenVerdict> verdicts;
  int64_t n_failed = 0, n_not_implemented = 0, n_twins = 0;
  {
    Progress progress("verifying");
    for (const std::filesystem::path& folder : folders) {
      progress.update(static_cast<int64_t>(verdicts.size()), static_cast<int64_t>(folders.size()));
      verdicts.push_back(verify_golden(folder, twin_of(args, folder), args.options, engine.ctx));
      const GoldenVerdict& verdict = verdicts.back();
      n_failed += verdict.has_failed() ? 1 : 0;
      n_not_implemented += verdict.is_implemented() ? 0 : 1;
      n_twins += verdict.twin && *verdict.twin && (*verdict.twin)->passed() ? 1 : 0;
      if (args.is_json) put_json(golden_json(verdict));
      if (args.is_json && !flush_output()) return false;
    }
  }
  if (!args.is_json) print_goldens(verdicts);
  if (!flush_output()) return false;
  const auto n_all = static_cast<int64_t>(verdicts.size());
  talk(
      "{} of {} goldens agree with the reference, and {} of their GGUF twins; {} failed, {} not implemented "
      "(kernels {}, {} threads)\n",
      n_all - n_failed - n_not_implemented, n_all, n_twins, n_failed, n_not_implemented, engine.ctx.kernels->name,
      engine.pool->n_threads());
  if (n_not_implemented == n_all) talk("nothing was verified\n");
  return n_failed == 0 && n_not_implemented < n_all;
}

}  // namespace

int verify_command(std::span<const std::string> args) {
  VerifyArgs options;
  CLI::App app(
      "Runs models with float32 activations and compares logits, hidden states, attention, rotary tables, "
      "loss and greedy\n"
      "text with stored results of a reference; token by token against the whole pass, bit for bit. The reference's "
      "cache is float32.");
  std::string model, cache_type = "f32";
  ModelSearch search;
  auto* folders = app.add_option("DIR", options.folders, "folders with expected.json");
  auto* all =
      app.add_option("--all", options.all,
                     "verify every golden of this folder and their GGUF twins, on one thread unless --threads says")
          ->type_name("DIR")
          ->excludes(folders);
  app.add_option("--twins", options.twins, "where the twins NAME.gguf are (default: gguf beside the folder of --all)")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory)
      ->needs(all);
  add_pull_flag(app, search, "--model");
  app.add_option("--model", model, "weights to use instead of each folder's own (needed for real models)")
      ->excludes(all)
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
  if (options.folders.empty() && options.all.empty()) {
    talk("vitro verify: name folders, or all of a folder with --all DIR ('vitro verify --help' lists the options)\n");
    return 2;
  }
  if (!model.empty()) {
    if (const Status status = locate_model(model, search); !status) return report_error("verify", status.error());
  }
  options.options.model = model;
  options.options.cache_type = parse_cache_types(cache_type).value().front();  // checked with the other options
  const Result<bool> passed = options.all.empty() ? verify_folders(options) : verify_all(options);
  if (!passed) return report_error("verify", passed.error());
  return *passed ? 0 : 1;
}

}  // namespace vitro
