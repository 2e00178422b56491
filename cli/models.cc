// vitro models: what is here, where; and removing it.
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdio>

#include "base/human.h"
#include "cli/commands.h"
#include "cli/json_lines.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "store/removal.h"
#include "store/resolve.h"
#include "store/stored_models.h"

namespace vitro {
namespace {

Value model_json(const StoredModel& model) {
  return Value(Value::Object{{"name", Value(model.name)},
                             {"type", Value(model.type)},
                             {"bytes", Value(static_cast<int64_t>(model.n_bytes))},
                             {"license", Value(model.license)},
                             {"path", Value(model.path.string())},
                             {"commit", Value(model.commit)},
                             {"problem", Value(model.problem)}});
}

void print_json(const StoredModels& models) {
  Value::Array rows;
  for (const StoredModel& model : models.models) rows.push_back(model_json(model));
  put_json(
      Value(Value::Object{{"models", Value(std::move(rows))}, {"bytes", Value(static_cast<int64_t>(models.n_bytes))}}));
}

void print_table(const StoredModels& models) {
  Table table("<><<<");
  table.add({"name", "size", "type", "license", "where"});
  const auto cell = [](const std::string& text) { return text.empty() ? std::string("-") : for_terminal(text, true); };
  for (const StoredModel& model : models.models) {
    const std::string type = model.problem.empty() ? model.type : fmt::format("({})", model.problem);
    table.add(
        {cell(model.name), human_bytes(model.n_bytes), cell(type), cell(model.license), cell(model.path.string())});
  }
  if (!models.models.empty()) table.print();
  flush_output();
}

int list(bool is_json) {
  const Caches caches = Caches::from_environment();
  const StoredModels models = list_models(caches);
  if (is_json) {
    print_json(models);
    return 0;
  }
  print_table(models);
  talk("{} {}, {}, in {} and {}\n", models.models.size(), models.models.size() == 1 ? "model" : "models",
       human_bytes(models.n_bytes), caches.vitro.string(), caches.hf.root().string());
  if (models.models.empty()) talk("'vitro pull smollm2' fetches a small one (94 MiB)\n");
  return 0;
}

/// Asks on the terminal. InvalidArgument where there is none.
Result<bool> is_agreed(const std::string& name, const Removal& removal) {
  if (!is_terminal(STDIN_FILENO) || !is_terminal(STDERR_FILENO)) {
    return fail(ErrorCode::kInvalidArgument, "{}: nobody can be asked here; --yes removes it without asking", name);
  }
  talk("{}: {} files and folders, {}, below {}\nRemove them? [y/N] ", name, removal.paths.size(),
       human_bytes(removal.n_freed_bytes), removal.top.string());
  std::string line;
  return next_line(stdin, line) && (line == "y" || line == "Y" || line == "yes");
}

Status remove_one(const std::string& text, bool is_sure, const Caches& caches) {
  VITRO_TRY_ASSIGN(const ModelName name, find_name(text, caches));
  VITRO_TRY_ASSIGN(const Removal removal, plan_removal(name, caches));
  if (!is_sure) {
    VITRO_TRY_ASSIGN(const bool is_yes, is_agreed(text, removal));
    if (!is_yes) {
      talk("{}: kept\n", text);
      return {};
    }
  }
  VITRO_TRY(remove_paths(removal));
  talk("{}: removed, {} are free again\n", text, human_bytes(removal.n_freed_bytes));
  return {};
}

int remove_command(std::span<const std::string> args) {
  std::vector<std::string> names;
  bool is_sure = false;
  CLI::App app("Removes models from the caches, and nothing else. Asks before, on a terminal.");
  app.add_option("NAME", names,
                 "as 'vitro models' lists them; owner/name is all of a repository, owner/name@revision one revision")
      ->required();
  app.add_flag("--yes,-y", is_sure, "do not ask");
  app.footer("Example:\n  vitro models rm smollm2 --yes\n");
  if (const auto code = parse_args(app, "models rm", args)) return *code;
  const Caches caches = Caches::from_environment();
  int code = 0;
  for (const std::string& name : names) {
    const Status status = remove_one(name, is_sure, caches);
    if (!status) code = report_error("models rm", status.error());
  }
  return code;
}

/// For scripts.
int path_command(std::span<const std::string> args) {
  std::string model;
  CLI::App app("Prints the path of a model that is here; exit status 1 if it is not.");
  app.add_option("NAME", model, "as 'vitro models' lists them")->required();
  app.footer("Example:\n  ls -l $(vitro models path smollm2)\n");
  if (const auto code = parse_args(app, "models path", args)) return *code;
  const auto resolved = resolve_model(model, true, Caches::from_environment());
  if (!resolved) return report_error("models path", resolved.error());
  if (resolved->path.empty()) {
    return report_error("models path",
                        {ErrorCode::kNotFound, fmt::format("{}: not here; 'vitro pull {}' fetches it", model, model)});
  }
  put("{}\n", resolved->path.string());
  return 0;
}

}  // namespace

int models_command(std::span<const std::string> args) {
  if (!args.empty() && args[0] == "rm") return remove_command(args.subspan(1));
  if (!args.empty() && args[0] == "path") return path_command(args.subspan(1));
  bool is_json = false;
  CLI::App app(
      "Lists the models that are here: those of 'vitro pull', and those that the Hugging Face tools have downloaded.\n"
      "  vitro models rm NAME      removes one\n"
      "  vitro models path NAME    prints where one is");
  app.add_flag("--json", is_json, "one JSON object")->group("Output");
  app.footer("Example:\n  vitro models\n");
  if (const auto code = parse_args(app, "models", args)) return *code;
  return list(is_json);
}

}  // namespace vitro
