// vitro plan: who eats the memory and the time, before anything is loaded: by owner, with the arithmetic.
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "base/write_file.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/plan_compare.h"
#include "cli/plan_inference.h"
#include "cli/plan_json.h"
#include "cli/plan_options.h"
#include "cli/plan_svg.h"
#include "cli/plan_text.h"
#include "cli/plan_training.h"
#include "cli/terminal.h"

namespace vitro {
namespace {

constexpr std::string_view kName = "plan";
constexpr std::string_view kExamples =
    "Examples (the configurations come with the sources):\n"
    "  vitro plan tests/golden/plan/llama-7b --context 4096\n"
    "  vitro plan tests/golden/plan/llama3-70b --gpu h100-80g --count 8 --context 32k\n"
    "  vitro plan tests/golden/plan/llama-7b --weights q4_k --fit 8GiB\n"
    "  vitro plan tests/golden/plan/llama-7b --train --context 2048 --gpu a100-80g --dp 8 --zero 3 --tokens 1T\n"
    "  vitro plan --arch llama --d-model 2048 --n-layer 16 --vocab-size 32000\n"
    "  vitro plan --compare tests/golden/plan/llama-7b tests/golden/plan/llama3-8b\n"
    "Sizes: k is 1024 for positions; GiB is 2^30 bytes, GB 10^9.";

struct Question {
  PlanOptions options;
  TrainOptions train;
};

Result<PlanReport> report_of(const PlanModel& model, const Question& question) {
  VITRO_TRY(check_options(question.options, model.config));
  if (question.train.is_training) return training_report(model, question.options, question.train);
  return inference_report(model, question.options);
}

Result<PlanReport> make_report(const Question& question) {
  const PlanOptions& options = question.options;
  if (!options.arch.empty()) {
    VITRO_TRY_ASSIGN(const PlanModel model, sized_plan_model(options));
    return report_of(model, question);
  }
  std::vector<PlanReport> reports;
  for (const std::string& path : options.models) {
    VITRO_TRY_ASSIGN(const LocatedDescription located, locate_description(path, options.search));
    VITRO_TRY_ASSIGN(PlanModel model, open_plan_model(located.path.string()));
    if (located.folder) model.name = path;
    VITRO_TRY_ASSIGN(PlanReport report, report_of(model, question));
    reports.push_back(std::move(report));
  }
  return options.is_compared ? compare_reports(reports) : std::move(reports[0]);
}

Status plan(const Question& question) {
  const PlanOptions& options = question.options;
  VITRO_TRY_ASSIGN(const PlanReport report, make_report(question));
  if (!options.svg.empty()) VITRO_TRY(write_file(options.svg, plan_svg(report), options.may_replace));
  if (options.is_json) {
    put_json(plan_json(report));
  } else {
    put_text(for_terminal(options.is_explained ? plan_explanation(report) : plan_screen(report),
                          is_terminal(STDOUT_FILENO)));
  }
  return {};
}

// Nothing if the options are complete, and the number of models is as they want it.
std::string wrong_options(const PlanOptions& options) {
  const bool has_budget = options.budget > 0 || !options.device.empty();
  if (!options.other_weights.empty() && !has_budget) return "--compare-weights wants --fit BYTES or --gpu NAME";
  const size_t n = options.models.size();
  if (!options.arch.empty()) return n > 0 || options.is_compared ? "--arch stands in place of MODEL" : "";
  if (n == 0) return "MODEL is missing";
  if (options.is_compared && n < 2) return "--compare wants two MODELs or more";
  if (!options.is_compared && n > 1) return "one MODEL at a time, or several with --compare";
  return "";
}

}  // namespace

int plan_command(std::span<const std::string> args) {
  Question question;
  CLI::App app{
      "Says what running or training a model needs, before anything is loaded: memory by owner, FLOPs, times."};
  app.footer(std::string(kExamples));
  add_plan_options(app, question.options);
  add_train_options(app, question.train);
  if (const auto code = parse_args(app, kName, args)) return *code;
  if (const std::string wrong = wrong_options(question.options); !wrong.empty()) {
    talk("vitro plan: {} ('vitro plan --help' shows examples)\n", wrong);
    return 2;
  }
  if (const Status status = plan(question); !status) return report_error(kName, status.error());
  return 0;
}

}  // namespace vitro
