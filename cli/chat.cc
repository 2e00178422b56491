// vitro chat: a conversation with a model, through the template that it was taught with.
#include <unistd.h>
#include <CLI/CLI.hpp>

#include "cli/chat_compare.h"
#include "cli/chat_model.h"
#include "cli/chat_repl.h"
#include "cli/commands.h"
#include "cli/line_editor.h"
#include "cli/memory.h"
#include "cli/terminal.h"
#include "generate/conversation.h"

namespace vitro {
namespace {

constexpr std::string_view kName = "chat";
constexpr std::string_view kExample =
    "Example:\n"
    "  vitro chat ~/.cache/vitro/smollm2-135m-instruct-q4_1.gguf\n"
    "  echo 'Name three colours.' | vitro chat MODEL --json\n"
    "  vitro chat MODEL --compare 'Name three colours.'\n"
    "In a conversation /help lists the commands; ctrl-C stops a reply.\n";

void add_chat_options(CLI::App& app, ChatCommandOptions& o) {
  const auto add = [&](const char* name, auto& value, const char* help) {
    return app.add_option(name, value, help)->group("Conversation");
  };
  add("--system", o.system, "the system message");
  auto* load = add("--load-chat", o.load, "go on with a conversation that /save wrote");
  auto* file = add("--template", o.template_file, "a Jinja file in place of the model's own template");
  add("--name", o.template_name, "which of the model's templates (default: default)")->excludes(file);
  add("--var", o.variables, "KEY=JSON, a variable of the template, like enable_thinking=false; repeatable");
  app.add_flag("--parse-special", o.parses_special,
               "special tokens written in messages are tokens; without it only the template makes them")
      ->group("Conversation");
  auto* compare = add("--compare", o.compare, "one prompt, continued as it stands and through the template");
  compare->excludes(load);
  app.add_option("--max-tokens", o.max_tokens, "end a reply after so many tokens (default: when the context is full)")
      ->check(at_least(1))
      ->group("Stopping");
  app.add_option("--stop", o.stop, "end a reply before this text; repeatable")->group("Stopping");
  app.add_option(
         "--context", o.n_ctx,
         "positions to make room for (default: the model's, at most " + std::to_string(kDefaultChatContext) + ")")
      ->check(at_least(2))
      ->group("Memory");
  add_cache_type_option(app, o.cache_type, false);
  add_window_cache_option(app, o.keeps_only_windows);
  add_memory_limit_option(app, o.memory_limit);
  app.add_flag("--show-prompt", o.shows_prompt, "show what the model is given")->group("Output");
  app.add_flag("--json", o.is_json, "one JSON object for each reply")->group("Output");
}

Status prepare(const ChatCommandOptions& o, ChatSession& chat) {
  if (o.load) {
    VITRO_TRY_ASSIGN(Value messages, load_conversation(*o.load));
    const Status taken = chat.set_messages(std::move(messages));
    if (!taken) return fail(taken.error().in(*o.load));
  }
  if (o.system) chat.set_system(o.system);
  return {};
}

void greet(const ChatCommandOptions& o, const ChatModel& model) {
  const int64_t n_ctx = model.sequence->n_ctx(), model_ctx = model.engine.model->config.n_ctx;
  talk("{}: loaded in {:.2f} s; context {} of the model's {}; /help lists the commands\n", o.engine.model,
       model.engine.load_seconds, n_ctx, model_ctx);
  if (n_ctx > model_ctx) talk("note: this model was made for {} positions\n", model_ctx);
  if (model.chat.generate.end_ids.empty()) {
    talk("note: this model names no token that ends a reply; --max-tokens and --stop do\n");
  }
}

Result<int> run(const ChatCommandOptions& o) {
  VITRO_TRY_ASSIGN(const std::unique_ptr<ChatModel> model, open_chat_model(o));
  if (o.compare) return compare_prompts(*model, o);
  ChatSession chat(*model->sequence, *model->engine.tokenizer, model->render(), model->chat);
  VITRO_TRY(prepare(o, chat));
  const std::unique_ptr<LineReader> lines = open_line_reader(state_path("chat_history"));
  if (lines->is_interactive()) greet(o, *model);
  return ChatRepl(chat, *lines, {.is_json = o.is_json, .shows_prompt = o.shows_prompt, .loaded = o.load}).run();
}

}  // namespace

int chat_command(std::span<const std::string> args) {
  ChatCommandOptions options;
  CLI::App app("A conversation with a model, through its chat template. Lines come from the terminal or a pipe.");
  add_engine_options(app, options.engine);
  add_chat_options(app, options);
  add_sampler_options(app, options.sampler);
  app.footer(std::string(kExample));
  if (const auto code = parse_args(app, kName, args)) return *code;
  const Result<int> code = run(options);
  return code ? *code : report_error(kName, code.error());
}

}  // namespace vitro
