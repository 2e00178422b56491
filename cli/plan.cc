// vitro plan: who eats the memory and the time, before anything is loaded: by owner, with the arithmetic.
#include <string>

#include "base/write_file.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/plan_inference.h"
#include "cli/plan_json.h"
#include "cli/plan_options.h"
#include "cli/plan_text.h"
#include "cli/terminal.h"

namespace vitro {
namespace {

constexpr std::string_view kName = "plan";

Result<PlanReport> make_report(const PlanOptions& options) {
  VITRO_TRY_ASSIGN(const PlanModel model, open_plan_model(options.models[0]));
  return inference_report(model, options);
}

Status plan(const PlanOptions& options) {
  VITRO_TRY_ASSIGN(const PlanReport report, make_report(options));
  if (options.is_json) {
    put_json(plan_json(report));
  } else {
    put_text(options.is_explained ? plan_explanation(report) : plan_screen(report));
  }
  return {};
}

}  // namespace

int plan_command(std::span<const std::string> args) {
  PlanOptions options;
  CLI::App app{
      "Says what running or training a model needs, before anything is loaded: memory by owner, FLOPs, times."};
  app.footer("Example: vitro plan tests/golden/plan/llama-7b --context 4096");
  add_plan_options(app, options);
  if (const auto code = parse_args(app, kName, args)) return *code;
  if (options.models.empty()) {
    talk("vitro plan: MODEL is missing ('vitro plan --help' shows examples)\n");
    return 2;
  }
  if (const Status status = plan(options); !status) return report_error(kName, status.error());
  return 0;
}

}  // namespace vitro
