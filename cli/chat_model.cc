#include "cli/chat_model.h"

#include <algorithm>

#include "cli/memory.h"
#include "cli/template_variables.h"
#include "cli/terminal.h"
#include "embedded/open_model.h"
#include "formats/json.h"
#include "generate/stop.h"

namespace vitro {
namespace {

// The template and what it needs, from the model's files or the user's.
Result<ChatFiles::Named> choose_template(const ChatCommandOptions& options, const ChatFiles& files) {
  if (options.template_file) {
    VITRO_TRY_ASSIGN(std::string source, read_text(*options.template_file));
    return ChatFiles::Named{"", std::move(source), *options.template_file};
  }
  if (files.templates.empty()) {
    return fail(ErrorCode::kNotFound,
                "{}: this model carries no chat template, so how it was taught to talk is not known; continue a text "
                "with 'vitro run', or give its template with --template FILE",
                options.engine.model);
  }
  VITRO_TRY_ASSIGN(const ChatFiles::Named* chosen, files.choose(options.template_name, false));
  return *chosen;
}

// Names that templates write tokens by: those of the files, or where they say nothing, of the tokenizer. Another
// tokenizer than the model's own goes first.
Value::Object special_tokens(const ChatCommandOptions& options, Value::Object names, const Tokenizer& tokenizer) {
  const auto add = [&](std::string_view name, TokenId id) {
    const auto found =
        std::find_if(names.begin(), names.end(), [&](const auto& member) { return member.first == name; });
    if (id < 0 || (found != names.end() && options.engine.tokenizer.empty())) return;
    if (found != names.end()) names.erase(found);
    names.emplace_back(name, Value(std::string(tokenizer.piece(id))));
  };
  add("bos_token", tokenizer.bos_id());
  add("eos_token", tokenizer.eos_id());
  return names;
}

SessionShape session_shape(const ChatCommandOptions& o, const Engine& engine) {
  const int64_t model_ctx = engine.config().n_ctx;
  SessionShape shape;
  shape.n_ctx = o.n_ctx > 0 ? o.n_ctx : std::min(model_ctx, kDefaultChatContext);
  shape.n_batch = std::min(shape.n_ctx, ResumedLogits::kChunk);
  shape.cache_type = parse_cache_types(o.cache_type).value().front();  // checked with the other options
  shape.keeps_only_windows = o.keeps_only_windows;
  shape.n_threads = engine.pool->n_threads();
  return shape;
}

// A reply may follow a prompt of any length: the ids of both fit into the context.
MemoryQuestion memory_question(const ChatCommandOptions& o, int64_t n_ctx, const ChatModel& model) {
  const int64_t vocab_size = model.engine.config().vocab_size;
  const auto loop_bytes = [&model, vocab_size](int64_t n) {
    GenerateOptions options;
    options.max_tokens = n;
    options.sampler = model.chat.generate.sampler;
    return generation_bytes(options, vocab_size, 1, n - 1);
  };
  const auto shape_of = [&o, &model](int64_t n) {
    ChatCommandOptions other = o;
    other.n_ctx = n;
    return session_shape(other, model.engine);
  };
  return {.n_ctx = n_ctx, .shape_of = shape_of, .generation = loop_bytes, .least_ctx = 2};
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
  std::string located = options.engine.model;
  VITRO_TRY(locate_model(located, options.engine.search));
  VITRO_TRY_ASSIGN(ChatFiles files, open_chat_files(located));
  VITRO_TRY_ASSIGN(const ChatFiles::Named chosen, choose_template(options, files));  // before the weights
  VITRO_TRY_ASSIGN(model->engine, open_files(options.engine));
  VITRO_TRY_ASSIGN(const Tokenizer* tokenizer, require_tokenizer(model->engine));
  Value::Object tokens = special_tokens(options, std::move(files.special_tokens), *tokenizer);
  VITRO_TRY_ASSIGN(model->chat_template, ChatTemplate::compile(chosen.source, std::move(tokens), {}, chosen.where));
  const SessionShape shape = session_shape(options, model->engine);
  VITRO_TRY(plan_session(model->engine.config(), shape));
  VITRO_TRY(check_memory_limit(model->engine, memory_question(options, shape.n_ctx, *model), options.memory_limit));
  VITRO_TRY(load_weights(options.engine, &model->engine));
  VITRO_TRY_ASSIGN(model->session, Session::create(model->engine.model, shape, model->engine.ctx));
  model->sequence.emplace(*model->session, 0);
  VITRO_TRY(settle_options(options, *model));
  return model;
}

}  // namespace vitro
