// vitro run: continue a prompt, streamed.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/human.h"
#include "cli/commands.h"
#include "cli/model_files.h"
#include "cli/options.h"
#include "cli/terminal.h"
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
  int n_top = 0;
  bool is_json = false;

  /// Neither a model nor a text was named.
  bool is_bare() const { return engine.model.empty() && !prompt && !file && !ids; }
};

void declare(CLI::App& app, RunOptions& o) {
  add_engine_options(app, o.engine);
  app.get_option("MODEL")->required(false);
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
  app.add_option("--top", o.n_top, "show so many alternatives at each step")
      ->check(CLI::Range(0, 1000))
      ->group("Output");
  app.add_flag("--json", o.is_json, "one JSON object instead of text")->group("Output");
  app.footer(std::string(kExample));
}

Result<std::string> prompt_text(const RunOptions& o) {
  if (o.prompt) return *o.prompt;
  std::string text;
  if (!o.is_bare() || !is_terminal(STDIN_FILENO)) {
    VITRO_TRY_ASSIGN(text, read_text(o.file.value_or("-")));
    if (!o.file && text.ends_with('\n')) text.pop_back();  // the line end that echo and the return key add
  }
  if (!o.is_bare() || !text.empty()) return text;
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

Result<SessionShape> session_shape(const RunOptions& o, const Engine& engine, int64_t n_prompt) {
  const int64_t model_ctx = engine.model->config.n_ctx;
  SessionShape shape;
  const int64_t n_free = std::max(model_ctx - n_prompt, int64_t{0});
  shape.n_ctx = o.n_ctx > 0 ? o.n_ctx : std::min(model_ctx, n_prompt + std::min(o.max_tokens, n_free));
  if (n_prompt > shape.n_ctx) {
    return fail(ErrorCode::kInvalidArgument, "the prompt has {} tokens, the context holds {}{}", n_prompt, shape.n_ctx,
                shape.n_ctx < model_ctx ? "; ask for more with --context" : "; shorten it");
  }
  const int64_t longest_pass = o.has_no_cache ? shape.n_ctx : n_prompt;
  shape.n_batch = std::clamp(longest_pass, int64_t{1}, int64_t{256});
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

Value result_json(const std::vector<int32_t>& prompt, const Generated& out, Output& output, const Session& session) {
  Value::Array ids;
  for (const int32_t id : prompt) ids.emplace_back(int64_t{id});
  const auto n_prompt = static_cast<int64_t>(prompt.size());
  return Value(Value::Object{{"prompt_ids", Value(std::move(ids))},
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
                             {"peak_rss_bytes", Value(peak_rss_bytes())}});
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

Status run(const RunOptions& o) {
  GenerateOptions generate_options;
  VITRO_TRY_ASSIGN(generate_options.sampler, sampler_config(o.sampler));
  EngineOptions engine_options = o.engine;
  if (engine_options.model.empty()) engine_options.model = kEmbeddedModel;
  VITRO_TRY_ASSIGN(const Engine engine, open_engine(engine_options));
  VITRO_TRY(validate(generate_options.sampler, engine.model->config.vocab_size));
  VITRO_TRY_ASSIGN(const std::vector<int32_t> prompt, prompt_ids(o, engine));
  VITRO_TRY_ASSIGN(const SessionShape shape, session_shape(o, engine, static_cast<int64_t>(prompt.size())));
  VITRO_TRY_ASSIGN(Session session, Session::create(engine.model, shape, engine.ctx));
  if (shape.n_ctx > engine.model->config.n_ctx) {
    talk("note: this model was made for {} positions, --context asks for {}\n", engine.model->config.n_ctx,
         shape.n_ctx);
  }
  generate_options.max_tokens = o.max_tokens;
  generate_options.stop_strings = o.stop;
  generate_options.n_top = o.n_top;
  generate_options.has_probabilities = o.is_json;
  if (!o.ignores_end) {
    VITRO_TRY_ASSIGN(generate_options.end_ids, end_ids(engine));
  }

  std::unique_ptr<LogitsSource> source;
  if (o.has_no_cache) {
    source = std::make_unique<UncachedLogits>(session, 0);
  } else {
    source = std::make_unique<CachedLogits>(session, 0, static_cast<int64_t>(prompt.size()));
  }
  Recomputation recomputed;
  session.set_recompute_callback([&](const Recomputation& what) { recomputed = what; });
  Output output(o, engine);
  catch_interrupt();  // ctrl-C ends the text, not the summary
  VITRO_TRY_ASSIGN(const Generated out, generate(*source, engine.tokenizer.get(), prompt, generate_options,
                                                 [&](const GeneratedToken& token) { return output.show(token); }));
  if (o.is_json) put_json(result_json(prompt, out, output, session));
  output.end_line();
  if (!flush_output()) return {};
  if (recomputed.n_tokens > 0) print_recomputed(recomputed);
  print_summary(prompt.size(), out, session, engine);
  return {};
}

// A text in MODEL's place is a likely slip, as a model need not be named.
Error explain(Error error, const RunOptions& o) {
  const bool is_text = !o.prompt && o.engine.model.find(' ') != std::string::npos;
  if (error.code == ErrorCode::kNotFound && is_text) {
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
  if (const Status status = run(options); !status) return report_error("run", explain(status.error(), options));
  return 0;
}

}  // namespace vitro
