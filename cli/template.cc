// vitro template: messages to the text, or the ids, that a model really gets; or many renderings as a stream of JSON
// lines.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <optional>

#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/json_lines.h"
#include "cli/options.h"
#include "cli/template_variables.h"
#include "cli/terminal.h"
#include "embedded/open_model.h"
#include "formats/json.h"
#include "text/chat_template.h"
#include "text/jinja/strftime.h"

namespace vitro {
namespace {

constexpr std::string_view kName = "template";
constexpr const char* kExample =
    "Example:\n"
    "  echo '[{\"role\":\"user\",\"content\":\"Hi\"}]' | vitro template MODEL - --add-generation-prompt\n"
    "  echo '{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"kwargs\":{}}' | vitro template --file T.jinja "
    "--jsonl\n"
    "The text is what transformers' apply_chat_template makes; with --ids, special tokens written in the messages "
    "stay\n"
    "text.";

struct Options {
  std::string model;
  ModelSearch search{.needs_weights = false};
  std::string messages;
  std::string file;
  std::optional<std::string> bos;
  std::optional<std::string> eos;
  std::string now;
  std::string tools;
  std::string documents;
  std::string name;
  std::vector<std::string> variables;
  std::optional<bool> add_generation_prompt;  ///< nothing: yes, but where the last message is continued
  bool continues = false;
  bool as_ids = false;
  bool as_json = false;
  bool as_jsonl = false;
  bool prepares = false;

  bool is_prepared() const { return prepares || !model.empty(); }
};

void add_options(CLI::App& app, Options& options) {
  add_model_option(app, options.model, options.search,
                   "folder with the model's tokenizer files, one of them, a .jinja, or a .gguf");
  app.add_option("MESSAGES", options.messages, "JSON file with a list of {role, content}; '-' reads standard input");
  app.add_option("--file", options.file, "this template instead of a model's");
  app.add_option("--bos", options.bos, "bos_token that the template sees");
  app.add_option("--eos", options.eos, "eos_token that the template sees");
  app.add_option("--now", options.now, "time of strftime_now, like 2026-11-30T08:00:00; default: the clock");
  app.add_option("--tools", options.tools, "JSON file with a list of tools");
  app.add_option("--documents", options.documents, "JSON file with a list of documents");
  app.add_option("--var", options.variables, "KEY=JSON, a variable that the template sees (enable_thinking=false)");
  app.add_option("--name", options.name,
                 "which of the model's templates; default: tool_use with --tools, else default");
  app.add_flag_function(
      "--add-generation-prompt,!--no-add-generation-prompt",
      [&options](int64_t n) { options.add_generation_prompt = n > 0; }, "end where the reply begins (the default)");
  auto* continues = app.add_flag("--continue", options.continues, "end inside the last message, to be continued");
  app.add_flag("--prepare", options.prepares,
               "change messages as apply_chat_template does (no null members, reasoning under every name, not none at "
               "all); without --file that is so anyway");
  app.add_flag("--ids", options.as_ids, "the ids of the text, by the model's tokenizer");
  app.add_flag("--json", options.as_json, "one JSON object: text, ranges of request bytes and of generated text, ids");
  app.add_flag("--jsonl", options.as_jsonl,
               "read {messages, kwargs} objects, one a line (with their own template where none is "
               "given); write {text} or {error}")
      ->excludes(continues);
  app.footer(kExample);
}

Result<Value> read_json(const std::string& path) {
  VITRO_TRY_ASSIGN(const std::string text, read_text(path));
  return parse_json(text, path == "-" ? "the standard input" : path);
}

void set_variable(Value::Object& object, std::string_view key, Value value) {
  for (auto& [name, old] : object) {
    if (name != key) continue;
    old = std::move(value);
    return;
  }
  object.emplace_back(key, std::move(value));
}

Result<ChatTemplate> open_template(const Options& options, bool has_tools) {
  const std::string& path = options.file.empty() ? options.model : options.file;
  VITRO_TRY_ASSIGN(ChatFiles files, open_chat_files(path));
  VITRO_TRY_ASSIGN(const ChatFiles::Named* chosen, files.choose(options.name, has_tools));
  if (options.bos) set_variable(files.special_tokens, "bos_token", Value(*options.bos));
  if (options.eos) set_variable(files.special_tokens, "eos_token", Value(*options.eos));
  return ChatTemplate::compile(chosen->source, std::move(files.special_tokens), {}, chosen->where);
}

Result<ChatRequest> make_request(const Options& options) {
  ChatRequest request;
  VITRO_TRY_ASSIGN(request.messages, read_json(options.messages.empty() ? "-" : options.messages));
  if (const Value* inner = request.messages.find("messages")) request.messages = Value(*inner);
  if (!options.tools.empty()) {
    VITRO_TRY_ASSIGN(request.tools, read_json(options.tools));
  }
  if (!options.documents.empty()) {
    VITRO_TRY_ASSIGN(request.documents, read_json(options.documents));
  }
  VITRO_TRY_ASSIGN(request.variables, parse_variables(options.variables));
  request.add_generation_prompt = options.add_generation_prompt.value_or(!options.continues);
  request.continue_final_message = options.continues;
  request.now = options.now;
  request.is_prepared = options.is_prepared();
  return request;
}

/// Ids of the whole text: no token is added to what the template wrote, and only what the template wrote is special.
Result<std::vector<TokenId>> encode_chat(const Options& options, const RenderedChat& chat) {
  VITRO_TRY_ASSIGN(const std::unique_ptr<Tokenizer> tokenizer, open_tokenizer(options.model));
  const EncodeOptions encode{.add_special = false, .parse_special = true, .plain = chat.from_request};
  VITRO_TRY_ASSIGN(Encoding encoding, tokenizer->encode(chat.text, encode));
  return std::move(encoding.ids);
}

int run_once(const Options& options) {
  const Result<ChatRequest> request = make_request(options);
  if (!request) return report_error(kName, request.error());
  const Result<ChatTemplate> chat_template = open_template(options, !request->tools.is_null());
  if (!chat_template) return report_error(kName, chat_template.error());
  const Result<RenderedChat> chat = chat_template->render(*request);
  if (!chat) return report_error(kName, chat.error());
  Result<std::vector<TokenId>> ids;
  if (options.as_ids) ids = encode_chat(options, *chat);
  if (!ids) return report_error(kName, ids.error());
  if (options.as_json) {
    put(R"({{"text":{},"from_request":{},"generated":{}{}}})"
        "\n",
        json_quote(chat->text), json_ranges(chat->from_request), json_ranges(chat->generated),
        options.as_ids ? ",\"ids\":" + json_ids(*ids) : "");
  } else if (options.as_ids) {
    put("{}\n", json_ids(*ids));
  } else {
    put_text(chat->text);
  }
  return 0;
}

Result<bool> take_flag(Value::Object& kwargs, std::string_view key, bool otherwise) {
  const auto it = std::find_if(kwargs.begin(), kwargs.end(), [&](const auto& m) { return m.first == key; });
  if (it == kwargs.end()) return otherwise;
  const bool* flag = it->second.as_bool();
  if (flag == nullptr && !it->second.is_null()) {
    return fail(ErrorCode::kInvalidArgument, "{} must be true or false, not {}", key, it->second.kind_name());
  }
  const bool value = flag != nullptr && *flag;
  kwargs.erase(it);
  return value;
}

Value take_value(Value::Object& kwargs, std::string_view key) {
  const auto it = std::find_if(kwargs.begin(), kwargs.end(), [&](const auto& m) { return m.first == key; });
  if (it == kwargs.end()) return {};
  Value value = std::move(it->second);
  kwargs.erase(it);
  return value;
}

/// The template of one line, where lines bring their own.
Result<ChatTemplate> line_template(const Value& line, const Options& options) {
  const Value* source = line.find("template");
  if (source == nullptr || source->as_string() == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "without MODEL and --file every line needs the text template");
  }
  Value::Object tokens;
  set_variable(tokens, "bos_token", Value(options.bos.value_or("")));
  set_variable(tokens, "eos_token", Value(options.eos.value_or("")));
  return ChatTemplate::compile(*source->as_string(), std::move(tokens));
}

/// What lines are rendered with: the model's template for those without tools and with, or why there is none; nothing
/// where lines bring their own.
struct LineTemplates {
  std::optional<Result<ChatTemplate>> plain = {};
  std::optional<Result<ChatTemplate>> with_tools = {};
};

LineTemplates open_line_templates(const Options& options) {
  if (options.model.empty() && options.file.empty()) return {};
  return {open_template(options, false), open_template(options, true)};
}

Result<std::string> jsonl_answer(const LineTemplates& templates, std::string_view line, const Options& options) {
  if (line.size() > kMaxLineBytes) return fail(ErrorCode::kInvalidArgument, "a line longer than 64 MiB");
  VITRO_TRY_ASSIGN(const Value value, parse_json(line, "line"));
  const Value* messages = value.find("messages");
  if (messages == nullptr) return fail(ErrorCode::kInvalidArgument, "an object with messages is needed");
  ChatRequest request;
  request.messages = *messages;
  request.now = options.now;
  request.is_prepared = options.is_prepared();
  if (const Value* kwargs = value.find("kwargs"); kwargs != nullptr && !kwargs->is_null()) {
    if (kwargs->as_object() == nullptr) {
      return fail(ErrorCode::kInvalidArgument, "kwargs must be an object, not {}", kwargs->kind_name());
    }
    request.variables = *kwargs->as_object();
  }
  request.tools = take_value(request.variables, "tools");
  request.documents = take_value(request.variables, "documents");
  VITRO_TRY_ASSIGN(request.add_generation_prompt, take_flag(request.variables, "add_generation_prompt", false));
  VITRO_TRY_ASSIGN(request.continue_final_message, take_flag(request.variables, "continue_final_message", false));
  const std::optional<Result<ChatTemplate>>& ours = request.tools.is_null() ? templates.plain : templates.with_tools;
  VITRO_TRY_ASSIGN(const ChatTemplate chat_template, ours ? *ours : line_template(value, options));
  VITRO_TRY_ASSIGN(const RenderedChat chat, chat_template.render(request));
  return json_quote(chat.text);
}

int run_jsonl(const Options& options) {
  const LineTemplates templates = open_line_templates(options);
  if (templates.plain && !*templates.plain) return report_error(kName, templates.plain->error());
  int exit_code = 0;
  bool is_read = true;
  for (std::string line; is_read && next_line(stdin, line);) {
    const Result<std::string> answer = jsonl_answer(templates, line, options);
    if (!answer) exit_code = 1;
    is_read =
        answer ? put("{{\"text\":{}}}\n", *answer) : put("{{\"error\":{}}}\n", json_quote(answer.error().message));
  }
  return exit_code;
}

std::optional<std::string> wrong_usage(const Options& options) {
  if (!options.model.empty() && !options.file.empty()) return "give a MODEL or --file, not both";
  if (options.model.empty() && options.file.empty() && !options.as_jsonl) return "give a MODEL or --file";
  if (options.as_ids && !options.file.empty()) return "--ids needs a MODEL with a tokenizer, not --file";
  if (options.as_jsonl && options.as_ids) return "--jsonl writes texts; it cannot be combined with --ids";
  const bool has_request = !options.messages.empty() || !options.tools.empty() || !options.documents.empty() ||
                           !options.variables.empty() || options.as_json;
  if (options.as_jsonl && has_request) {
    return "with --jsonl the lines bring messages and kwargs: MESSAGES, --tools, --documents, --var and --json do not "
           "count";
  }
  if (options.continues && options.add_generation_prompt.value_or(false)) {
    return "--continue and --add-generation-prompt exclude each other: a reply is begun or continued";
  }
  if (const auto clock = jinja::clock_time(options.now); !clock) return "--now " + clock.error().message;
  return std::nullopt;
}

}  // namespace

int template_command(std::span<const std::string> args) {
  CLI::App app("Messages to the text that a model gets.");
  Options options;
  add_options(app, options);
  if (const std::optional<int> exit_code = parse_args(app, kName, args)) return *exit_code;
  // With --file, the first word is the messages.
  if (!options.file.empty() && options.messages.empty()) options.messages = std::exchange(options.model, "");
  if (const std::optional<std::string> problem = wrong_usage(options)) {
    report_error(kName, {ErrorCode::kInvalidArgument, *problem});
    return 2;
  }
  if (!options.model.empty()) {
    if (const Status status = locate_model(options.model, options.search); !status)
      return report_error(kName, status.error());
  }
  return options.as_jsonl ? run_jsonl(options) : run_once(options);
}

}  // namespace vitro
