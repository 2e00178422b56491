// vitro run: continue a prompt, streamed.
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/human.h"
#include "cli/commands.h"
#include "cli/memory.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "embedded/embedded_model.h"
#include "formats/json.h"
#include "generate/generate.h"

namespace vitro {
namespace {

constexpr std::string_view kExample =
    "Example:\n  vitro run ~/.cache/vitro/smollm2-135m-instruct-q4_1.gguf \"The capital of France is\" --max-tokens "
    "20\n"
    "  echo \"Once upon a time\" | vitro run MODEL --temperature 0.8 --top-p 0.95 --seed 7\n"
    "Without MODEL the small model in this program continues the standard input, or a text of its own:\n"
    "  vitro run\n  vitro run embedded \"And God said, Let there be\" --temperature 0\n";

// What a bare `vitro run` continues where the standard input holds nothing.
constexpr std::string_view kOpening = "She had not been long in the room before";

struct RunOptions {
  EngineOptions engine;
  SamplerOptions sampler;
  std::optional<std::string> prompt;
  std::optional<std::string> file;
  std::optional<std::string> ids;
  bool parses_special = false;
  bool has_no_special = false;
  int64_t max_tokens = 128;
  std::vector<std::string> stop;
  bool ignores_end = false;
  int64_t n_ctx = 0;
  std::string cache_type = "f16";
  bool keeps_only_windows = false;
  int64_t page_size = 16;
  bool has_no_cache = false;
  std::optional<int64_t> memory_limit;
  bool shows_memory = false;
  int n_top = 0;
  bool is_json = false;
  bool is_bare = false;  ///< neither a model nor a text was named
};

void declare(CLI::App& app, RunOptions& o) {
  add_engine_options(app, o.engine);
  o.engine.model = kEmbeddedModel;
  app.get_option("MODEL")->required(false)->capture_default_str();
  auto* prompt = app.add_option("PROMPT", o.prompt, "text to continue (default: standard input)");
  auto* file = app.add_option("-f,--file", o.file, "read the prompt from a file; - is standard input")->group("Input");
  auto* ids = app.add_option("--ids", o.ids, "token ids in place of a text, like 1,2,3")->group("Input");
  ids->excludes(prompt)->excludes(file);
  file->excludes(prompt);
  app.add_flag("--parse-special", o.parses_special,
               "special tokens written in the prompt are tokens; without it they are text like any other")
      ->group("Input");
  app.add_flag("--no-special", o.has_no_special, "add no BOS or EOS to the prompt")->group("Input");
  add_sampler_options(app, o.sampler);
  app.add_option("--max-tokens", o.max_tokens, "stop after so many tokens")
      ->capture_default_str()
      ->check(at_least(0))
      ->group("Stopping");
  app.add_option("--stop", o.stop, "stop before this text; repeatable")->group("Stopping");
  app.add_flag("--ignore-end", o.ignores_end, "do not stop at end tokens")->group("Stopping");
  app.add_option("--context", o.n_ctx, "positions to make room for (default: prompt and answer, at most the model's)")
      ->check(at_least(1))
      ->group("Memory");
  add_cache_type_option(app, o.cache_type, false);
  add_window_cache_option(app, o.keeps_only_windows);
  app.add_option("--page-size", o.page_size, "positions in a cache page, a multiple of 8")
      ->capture_default_str()
      ->check(at_least(1))
      ->group("Memory");
  app.add_flag("--no-cache", o.has_no_cache, "compute everything anew at each step (slow; the text is the same)")
      ->group("Memory");
  add_memory_limit_option(app, o.memory_limit);
  app.add_flag("--memory", o.shows_memory, "show what was planned and what is allocated, owner by owner")
      ->group("Output");
  app.add_option("--top", o.n_top, "show so many alternatives at each step")
      ->check(CLI::Range(0, 1000))
      ->group("Output");
  app.add_flag("--json", o.is_json, "one JSON object instead of text")->group("Output");
  app.footer(std::string(kExample));
}

Result<std::string> prompt_text(const RunOptions& o) {
  if (o.prompt) return *o.prompt;
  std::string text;
  if (!o.is_bare || !is_terminal(STDIN_FILENO)) {
    VITRO_TRY_ASSIGN(text, read_text(o.file.value_or("-")));
    if (!o.file && text.ends_with('\n')) text.pop_back();  // the line end that echo and the return key add
  }
  if (!o.is_bare || !text.empty()) return text;
  talk("prompt: {}\n", kOpening);
  return std::string(kOpening);
}

Result<std::vector<int32_t>> prompt_ids(const RunOptions& o, const Engine& engine) {
  if (o.ids) return parse_ids(*o.ids);
  VITRO_TRY_ASSIGN(const std::string text, prompt_text(o));
  VITRO_TRY_ASSIGN(const Tokenizer* tokenizer, require_tokenizer(engine));
  VITRO_TRY_ASSIGN(const Encoding encoding, tokenizer->encode(text, {!o.has_no_special, o.parses_special}));
  return encoding.ids;
}

int64_t rows_of_a_pass(int64_t longest_text) { return std::clamp(longest_text, int64_t{1}, int64_t{256}); }

Result<SessionShape> session_shape(const RunOptions& o, const Engine& engine, int64_t n_prompt) {
  const int64_t model_ctx = engine.config().n_ctx;
  SessionShape shape;
  const int64_t n_free = std::max(model_ctx - n_prompt, int64_t{0});
  shape.n_ctx = o.n_ctx > 0 ? o.n_ctx : std::min(model_ctx, n_prompt + std::min(o.max_tokens, n_free));
  if (n_prompt > shape.n_ctx) {
    return fail(ErrorCode::kInvalidArgument, "the prompt has {} tokens, the context holds {}{}", n_prompt, shape.n_ctx,
                shape.n_ctx < model_ctx ? "; ask for more with --context" : "; shorten it");
  }
  shape.n_batch = rows_of_a_pass(o.has_no_cache ? shape.n_ctx : n_prompt);
  shape.page_size = o.page_size;
  shape.cache_type = parse_cache_types(o.cache_type).value().front();  // checked with the other options
  shape.keeps_only_windows = o.keeps_only_windows;
  shape.n_threads = engine.pool->n_threads();
  return shape;
}

// The token's text, or its number where there is no tokenizer.
Value token_value(const Engine& engine, int32_t id) {
  return engine.tokenizer ? Value(engine.tokenizer->token_bytes(id)) : Value(int64_t{id});
}
std::string shown(const Engine& engine, int32_t id) { return to_string(token_value(engine, id)); }

// One line a step: the token taken, its probability, and what else was likely.
void print_step(const Engine& engine, const GeneratedToken& token) {
  if (token.id < 0) return;
  put("{:>7} {:<16} {:5.3f} {:<10}", token.id, shown(engine, token.id), token.probability, bar(token.probability, 10));
  for (const Alternative& other : token.top) put("  {} {:.3f}", shown(engine, other.id), other.probability);
  put("\n");
}

class Output {
 public:
  Output(const RunOptions& options, const Engine& engine) : options_(options), engine_(engine) {}

  bool show(const GeneratedToken& token) {
    if (options_.is_json) {
      add_json(token);
    } else if (options_.n_top > 0) {
      print_step(engine_, token);
    } else if (engine_.tokenizer) {
      put_text(token.text);
      if (!token.text.empty()) is_line_open_ = !token.text.ends_with('\n');
    } else if (token.id >= 0) {
      put("{} ", token.id);
      is_line_open_ = true;
    }
    return flush_output() && !is_interrupted();
  }

  /// On a terminal, what comes next starts a line of its own; files and pipes get the text as it is.
  void end_line() const {
    if (is_line_open_ && is_terminal(STDOUT_FILENO)) put("\n");
  }

  /// What comes next is no text of the model.
  void end_text() const {
    if (is_line_open_) put("\n");
  }

  Value take_json_steps() { return Value(std::move(steps_)); }

 private:
  void add_json(const GeneratedToken& token) {
    if (token.id < 0) return;
    Value::Object step{
        {"id", Value(int64_t{token.id})}, {"text", Value(token.text)}, {"probability", Value(token.probability)}};
    if (options_.n_top > 0) {
      Value::Array top;
      for (const Alternative& other : token.top) {
        top.emplace_back(Value::Object{{"id", Value(int64_t{other.id})},
                                       {"text", token_value(engine_, other.id)},
                                       {"probability", Value(other.probability)}});
      }
      step.emplace_back("top", Value(std::move(top)));
    }
    steps_.emplace_back(std::move(step));
  }

  const RunOptions& options_;
  const Engine& engine_;
  Value::Array steps_;
  bool is_line_open_ = false;
};

std::string_view cache_name(const Session& session) { return cache_type_info(session.plan().shape.cache_type).name; }

double per_second(int64_t n, double seconds) { return seconds > 0 ? static_cast<double>(n) / seconds : 0; }

Value::Object result_json(const std::vector<int32_t>& prompt, const Generated& out, Output& output,
                          const Session& session) {
  Value::Array ids;
  for (const int32_t id : prompt) ids.emplace_back(int64_t{id});
  const auto n_prompt = static_cast<int64_t>(prompt.size());
  return Value::Object{{"prompt_ids", Value(std::move(ids))},
                       {"text", Value(out.text)},
                       {"tokens", output.take_json_steps()},
                       {"stop_reason", Value(std::string(stop_reason_name(out.reason)))},
                       {"prompt_tokens_per_second", Value(per_second(n_prompt, out.prompt_seconds))},
                       {"generated_tokens_per_second", Value(per_second(out.n_passes, out.generate_seconds))},
                       {"activation_bytes", Value(session.plan().activation_bytes)},
                       {"cache_type", Value(std::string(cache_name(session)))},
                       {"cache_bytes", Value(session.plan().cache_bytes)},
                       {"recomputed_tokens", Value(session.n_recomputed())},
                       {"weight_bytes", Value(session.model().tensors.n_bytes())},
                       {"peak_rss_bytes", Value(peak_rss_bytes())}};
}

void print_summary(size_t n_prompt, const Generated& out, const Session& session, const Engine& engine) {
  talk(
      "\n{} prompt tokens at {:.1f}/s, {} generated at {:.1f}/s ({}); loaded in {:.2f} s; memory {} at most: "
      "weights {}, "
      "{} cache {}, activations {}; kernels {}, {} threads\n",
      n_prompt, per_second(static_cast<int64_t>(n_prompt), out.prompt_seconds), out.ids.size(),
      per_second(out.n_passes, out.generate_seconds), stop_reason_name(out.reason), engine.load_seconds,
      human_bytes(static_cast<uint64_t>(peak_rss_bytes())),
      human_bytes(static_cast<uint64_t>(session.model().tensors.n_bytes())), cache_name(session),
      human_bytes(static_cast<uint64_t>(session.plan().cache_bytes)),
      human_bytes(static_cast<uint64_t>(session.plan().activation_bytes)), engine.ctx.kernels->name,
      engine.pool->n_threads());
}

// Only LongRoPE recomputes here: nothing is cut.
void print_recomputed(const Recomputation& what) {
  talk("\ncontext passed {} tokens: {} tokens were computed anew with LongRoPE's long factors\n",
       human_count(what.n_ctx_original), human_count(what.n_tokens));
}

// Everything that is decided before weights are read.
struct Request {
  GenerateOptions generate = {};
  std::vector<int32_t> prompt = {};
  SessionShape shape = {};
  bool has_no_cache = false;

  int64_t n_prompt() const { return std::ssize(prompt); }
  SessionShape shape_of(int64_t n_ctx) const {
    SessionShape other = shape;
    other.n_ctx = n_ctx;
    if (has_no_cache) other.n_batch = rows_of_a_pass(n_ctx);
    return other;
  }
  /// Of the loop; without a cache also of the text that is computed anew.
  int64_t loop_bytes(int64_t vocab_size, int64_t n_ctx) const {
    const int64_t anew = has_no_cache ? n_ctx * static_cast<int64_t>(sizeof(int32_t)) : 0;
    return generation_bytes(generate, vocab_size, n_prompt(), n_ctx - n_prompt()) + anew;
  }
  MemoryQuestion memory(const Engine& engine) const {
    const int64_t vocab_size = engine.config().vocab_size;
    return {.n_ctx = shape.n_ctx,
            .shape_of = [this](int64_t n_ctx) { return shape_of(n_ctx); },
            .generation = [this, vocab_size](int64_t n_ctx) { return loop_bytes(vocab_size, n_ctx); },
            .least_ctx = std::max(n_prompt(), int64_t{1})};
  }
};

Result<Request> make_request(const RunOptions& o, const Engine& engine) {
  Request request{.has_no_cache = o.has_no_cache};
  VITRO_TRY_ASSIGN(request.generate.sampler, sampler_config(o.sampler));
  VITRO_TRY(validate(request.generate.sampler, engine.config().vocab_size));
  VITRO_TRY_ASSIGN(request.prompt, prompt_ids(o, engine));
  VITRO_TRY_ASSIGN(request.shape, session_shape(o, engine, request.n_prompt()));
  request.generate.max_tokens = o.max_tokens;
  request.generate.stop_strings = o.stop;
  request.generate.n_top = o.n_top;
  request.generate.has_probabilities = o.is_json;
  if (!o.ignores_end) {
    VITRO_TRY_ASSIGN(request.generate.end_ids, end_ids(engine));
  }
  return request;
}

std::unique_ptr<LogitsSource> make_source(const Request& request, Session& session) {
  if (request.has_no_cache) return std::make_unique<UncachedLogits>(session, 0);
  return std::make_unique<CachedLogits>(session, 0, request.n_prompt());
}

// Asked for before the weights are read, because the description goes with them.
Result<PlanItem> planned_memory(const Request& request, const Engine& engine) {
  VITRO_TRY_ASSIGN(const PlanItem fixed, fixed_memory(engine));
  return run_memory(engine, fixed, request.shape, request.memory(engine).generation);
}

// What the loop held; the text that is computed anew is its source's.
int64_t held_loop_bytes(const Request& request, const Generated& out) {
  const int64_t anew = request.has_no_cache ? request.shape.n_ctx * static_cast<int64_t>(sizeof(int32_t)) : 0;
  return out.buffer_bytes + anew;
}

Status run(const RunOptions& o) {
  VITRO_TRY(sampler_config(o.sampler));
  VITRO_TRY_ASSIGN(Engine engine, open_files(o.engine));
  VITRO_TRY_ASSIGN(const Request request, make_request(o, engine));
  VITRO_TRY(check_memory_limit(engine, request.memory(engine), o.memory_limit));
  PlanItem planned;
  if (o.shows_memory) {
    VITRO_TRY_ASSIGN(planned, planned_memory(request, engine));
  }
  VITRO_TRY(load_weights(o.engine, &engine));
  VITRO_TRY_ASSIGN(Session session, Session::create(engine.model, request.shape, engine.ctx));
  if (request.shape.n_ctx > engine.config().n_ctx) {
    talk("note: this model was made for {} positions, --context asks for {}\n", engine.config().n_ctx,
         request.shape.n_ctx);
  }
  const std::unique_ptr<LogitsSource> source = make_source(request, session);
  Recomputation recomputed;
  session.set_recompute_callback([&](const Recomputation& what) { recomputed = what; });
  Output output(o, engine);
  catch_interrupt();  // ctrl-C ends the text, not the summary
  VITRO_TRY_ASSIGN(const Generated out, generate(*source, engine.tokenizer.get(), request.prompt, request.generate,
                                                 [&](const GeneratedToken& token) { return output.show(token); }));
  const PlanItem held = held_memory(engine, session, held_loop_bytes(request, out));
  if (o.is_json) {
    Value::Object json = result_json(request.prompt, out, output, session);
    if (o.shows_memory) json.emplace_back("memory", memory_json(planned, held));
    put_json(Value(std::move(json)));
  }
  if (o.shows_memory && !o.is_json) {
    output.end_text();
    print_memory(planned, held);
  } else {
    output.end_line();
  }
  if (!flush_output()) return {};
  if (recomputed.n_tokens > 0) print_recomputed(recomputed);
  print_summary(request.prompt.size(), out, session, engine);
  return {};
}

// A text in MODEL's place is a likely slip, as a model need not be named.
Error explain(Error error, const RunOptions& o) {
  std::error_code ignored;
  const bool has_space = o.engine.model.find(' ') != std::string::npos;
  if (!o.prompt && has_space && !std::filesystem::exists(o.engine.model, ignored)) {
    error.message += "; if it is a text to continue, write: vitro run embedded \"...\"";
  }
  return error;
}

}  // namespace

int run_command(std::span<const std::string> args) {
  RunOptions options;
  CLI::App app("Continues a prompt, token by token.");
  declare(app, options);
  if (const auto code = parse_args(app, "run", args)) return *code;
  options.is_bare = app.count("MODEL") == 0 && !options.file && !options.ids;
  if (const Status status = run(options); !status) return report_error("run", explain(status.error(), options));
  return 0;
}

}  // namespace vitro
