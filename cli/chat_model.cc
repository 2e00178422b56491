#include "cli/chat_model.h"

#include <algorithm>

#include "cli/terminal.h"
#include "formats/json.h"
#include "generate/stop.h"
#include "tokens/load_chat_files.h"

namespace vitro {
namespace {

// "enable_thinking=false" -> {"enable_thinking", false}
Result<Value::Object> parse_variables(const std::vector<std::string>& texts) {
  Value::Object variables;
  for (const std::string& text : texts) {
    const size_t at = text.find('=');
    if (at == std::string::npos || at == 0) {
      return fail(ErrorCode::kInvalidArgument, "--var '{}': expected KEY=JSON, like enable_thinking=false", text);
    }
    auto value = parse_json(std::string_view(text).substr(at + 1), fmt::format("--var {}", text.substr(0, at)));
    if (!value) return fail(value.error().in("a text needs quotes, like --var 'name=\"text\"'"));
    std::erase_if(variables, [&](const Value::Member& member) { return member.first == text.substr(0, at); });
    variables.emplace_back(text.substr(0, at), *std::move(value));
  }
  return variables;
}

const ChatFiles::Named* default_template(const ChatFiles& files) {
  for (const ChatFiles::Named& named : files.templates) {
    if (named.name == "default") return &named;
  }
  return files.templates.empty() ? nullptr : &files.templates.front();
}

Result<ChatTemplate> open_template(const ChatCommandOptions& options) {
  VITRO_TRY_ASSIGN(ChatFiles files, load_chat_files(options.engine.model));
  if (options.template_file) {
    VITRO_TRY_ASSIGN(std::string source, read_text(*options.template_file));
    files.templates = {{"default", std::move(source), *options.template_file}};
  }
  const ChatFiles::Named* chosen = default_template(files);
  if (!chosen) {
    return fail(ErrorCode::kNotFound,
                "{}: this model carries no chat template, so how it was taught to talk is not known; continue a text "
                "with 'vitro run', or give its template with --template FILE",
                options.engine.model);
  }
  auto compiled = ChatTemplate::compile(chosen->source, std::move(files.special_tokens));
  if (!compiled) return fail(compiled.error().in(chosen->where));
  return compiled;
}

SessionShape session_shape(const ChatCommandOptions& o, const Engine& engine) {
  const int64_t model_ctx = engine.model->config.n_ctx;
  SessionShape shape;
  shape.n_ctx = o.n_ctx > 0 ? o.n_ctx : std::min(model_ctx, kDefaultChatContext);
  shape.n_batch = std::min(shape.n_ctx, ResumedLogits::kChunk);
  shape.cache_type = parse_cache_types(o.cache_type).value().front();  // checked with the other options
  shape.keeps_only_windows = o.keeps_only_windows;
  shape.n_threads = engine.pool->n_threads();
  return shape;
}

Status settle_options(const ChatCommandOptions& o, ChatModel& model) {
  GenerateOptions& generate = model.chat.generate;
  VITRO_TRY(validate(generate.sampler, model.engine.model->config.vocab_size));
  VITRO_TRY(validate_stop_strings(o.stop));
  generate.max_tokens = o.max_tokens > 0 ? o.max_tokens : model.sequence->n_ctx();
  generate.stop_strings = o.stop;
  generate.has_probabilities = false;
  VITRO_TRY_ASSIGN(generate.end_ids, end_ids(model.engine));
  if (const auto id = turn_end_id(model.render(), *model.engine.tokenizer)) generate.end_ids.push_back(*id);
  return {};
}

}  // namespace

Result<std::unique_ptr<ChatModel>> open_chat_model(const ChatCommandOptions& options) {
  auto model = std::make_unique<ChatModel>();
  VITRO_TRY_ASSIGN(model->chat.generate.sampler, sampler_config(options.sampler));
  VITRO_TRY_ASSIGN(model->chat.variables, parse_variables(options.variables));
  model->chat.parses_special = options.parses_special;
  VITRO_TRY_ASSIGN(model->chat_template, open_template(options));  // before the weights: it may be missing
  VITRO_TRY_ASSIGN(model->engine, open_engine(options.engine));
  VITRO_TRY(require_tokenizer(model->engine));
  const SessionShape shape = session_shape(options, model->engine);
  VITRO_TRY_ASSIGN(model->session, Session::create(model->engine.model, shape, model->engine.ctx));
  model->sequence.emplace(*model->session, 0);
  VITRO_TRY(settle_options(options, *model));
  return model;
}

}  // namespace vitro
