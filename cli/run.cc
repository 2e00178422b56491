// vitro run: continue a prompt, streamed.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/human.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "formats/json.h"
#include "generate/generate.h"

namespace vitro {
namespace {

constexpr std::string_view kExample =
    "Example:\n  vitro run ~/.cache/vitro/smollm2-135m-instruct-q4_1.gguf \"The capital of France is\" --max-tokens "
    "20\n"
    "  echo \"Once upon a time\" | vitro run MODEL --temperature 0.8 --top-p 0.95 --seed 7\n";

struct RunOptions {
  EngineOptions engine;
  SamplerOptions sampler;
  std::string prompt;
  bool has_prompt = false;
  std::string file;
  std::string ids;
  bool parses_special = false;
  bool has_no_special = false;
  int64_t max_tokens = 128;
  std::vector<std::string> stop;
  bool ignores_end = false;
  int64_t n_ctx = 0;
  std::string cache_type = "f32";
  int64_t page_size = 16;
  bool has_no_cache = false;
  int n_top = 0;
  bool is_json = false;
};

void declare(CLI::App& app, RunOptions& o) {
  add_engine_options(app, o.engine);
  app.add_option("PROMPT", o.prompt, "text to continue (default: standard input)")->each([&o](const std::string&) {
    o.has_prompt = true;
  });
  app.add_option("-f,--file", o.file, "read the prompt from a file; - is standard input")->group("Input");
  app.add_option("--ids", o.ids, "token ids in place of a text, like 1,2,3")->group("Input");
  app.add_flag("--parse-special", o.parses_special, "special tokens written in the prompt are tokens, not text")
      ->group("Input");
  app.add_flag("--no-special", o.has_no_special, "add no BOS or EOS to the prompt")->group("Input");
  add_sampler_options(app, o.sampler);
  app.add_option("--max-tokens", o.max_tokens, "stop after so many tokens")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber)
      ->group("Stopping");
  app.add_option("--stop", o.stop, "stop before this text; repeatable")->group("Stopping");
  app.add_flag("--ignore-end", o.ignores_end, "do not stop at end tokens")->group("Stopping");
  app.add_option("--context", o.n_ctx, "positions to make room for (default: prompt and answer, at most the model's)")
      ->check(CLI::PositiveNumber)
      ->group("Memory");
  app.add_option("--cache-type", o.cache_type, "type of cached keys and values")
      ->capture_default_str()
      ->check(CLI::IsMember({"f32"}))
      ->group("Memory");
  app.add_option("--page-size", o.page_size, "positions in a cache page, a multiple of 8")
      ->capture_default_str()
      ->group("Memory");
  app.add_flag("--no-cache", o.has_no_cache, "compute everything anew at each step (slow; the text is the same)")
      ->group("Memory");
  app.add_option("--top", o.n_top, "show so many alternatives at each step")
      ->check(CLI::Range(0, 1000))
      ->group("Output");
  app.add_flag("--json", o.is_json, "one JSON object instead of text")->group("Output");
  app.footer(std::string(kExample));
}

Result<std::vector<int32_t>> prompt_ids(const RunOptions& o, const Engine& engine) {
  const int n_given = int{o.has_prompt} + int{!o.file.empty()} + int{!o.ids.empty()};
  if (n_given > 1)
    return fail(ErrorCode::kInvalidArgument, "PROMPT, --file and --ids exclude each other; give one of them");
  if (!o.ids.empty()) return parse_ids(o.ids);
  std::string text = o.prompt;
  if (!o.has_prompt) {
    VITRO_TRY_ASSIGN(text, read_text(o.file.empty() ? "-" : o.file));
    if (o.file.empty() && text.ends_with('\n')) text.pop_back();  // the line end that echo and the return key add
  }
  VITRO_TRY_ASSIGN(const Tokenizer* tokenizer, require_tokenizer(engine));
  VITRO_TRY_ASSIGN(const Encoding encoding, tokenizer->encode(text, {!o.has_no_special, o.parses_special}));
  return encoding.ids;
}

Result<SessionShape> session_shape(const RunOptions& o, const Engine& engine, int64_t n_prompt) {
  const int64_t model_ctx = engine.model->config.n_ctx;
  SessionShape shape;
  shape.n_ctx = o.n_ctx > 0 ? o.n_ctx : std::min(model_ctx, n_prompt + o.max_tokens);
  if (n_prompt > shape.n_ctx) {
    return fail(ErrorCode::kInvalidArgument, "the prompt has {} tokens, the context holds {}{}", n_prompt, shape.n_ctx,
                shape.n_ctx < model_ctx ? "; ask for more with --context" : "; shorten it");
  }
  const int64_t longest_pass = o.has_no_cache ? shape.n_ctx : n_prompt;
  shape.n_batch = std::clamp(longest_pass, int64_t{1}, int64_t{256});
  shape.page_size = o.page_size;
  shape.n_threads = engine.pool->n_threads();
  return shape;
}

std::string token_text(const Engine& engine, int32_t id) {
  return engine.tokenizer ? json_quote(engine.tokenizer->token_bytes(id)) : fmt::format("{}", id);
}

// One line a step: the token taken, its probability, and what else was likely.
void print_step(const Engine& engine, const GeneratedToken& token) {
  if (token.id < 0) return;
  fmt::print("{:>7} {:<16} {:5.3f} {:<10}", token.id, token_text(engine, token.id), token.probability,
             bar(token.probability, 10));
  for (const Alternative& other : token.top) fmt::print("  {} {:.3f}", token_text(engine, other.id), other.probability);
  fmt::print("\n");
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
      std::fwrite(token.text.data(), 1, token.text.size(), stdout);
    } else if (token.id >= 0) {
      fmt::print("{} ", token.id);
    }
    return std::fflush(stdout) == 0 && !is_interrupted();
  }

  std::string json_steps() const { return steps_; }

 private:
  void add_json(const GeneratedToken& token) {
    if (token.id < 0) return;
    std::string top;
    for (const Alternative& other : token.top) {
      top += fmt::format("{}{{\"id\":{},\"text\":{},\"probability\":{:.9g}}}", top.empty() ? "" : ",", other.id,
                         token_text(engine_, other.id), other.probability);
    }
    steps_ += fmt::format("{}{{\"id\":{},\"text\":{},\"probability\":{:.9g}{}}}", steps_.empty() ? "" : ",", token.id,
                          json_quote(token.text), token.probability,
                          options_.n_top > 0 ? fmt::format(",\"top\":[{}]", top) : "");
  }

  const RunOptions& options_;
  const Engine& engine_;
  std::string steps_;
};

double per_second(int64_t n, double seconds) { return seconds > 0 ? static_cast<double>(n) / seconds : 0; }

void print_json(const std::vector<int32_t>& prompt, const Generated& out, const Output& output,
                const Session& session) {
  std::string ids;
  for (const int32_t id : prompt) ids += fmt::format("{}{}", ids.empty() ? "" : ",", id);
  fmt::print(
      "{{\"prompt_ids\":[{}],\"text\":{},\"tokens\":[{}],\"stop_reason\":\"{}\",\"prompt_tokens_per_second\":{:.6g},"
      "\"generated_tokens_per_second\":{:.6g},\"activation_bytes\":{},\"cache_bytes\":{},\"weight_bytes\":{},\"peak_"
      "rss_bytes\":{}}}\n",
      ids, json_quote(out.text), output.json_steps(), stop_reason_name(out.reason),
      per_second(static_cast<int64_t>(prompt.size()), out.prompt_seconds),
      per_second(out.n_passes, out.generate_seconds), session.plan().activation_bytes, session.plan().cache_bytes,
      session.model().tensors.n_bytes(), peak_rss_bytes());
}

void print_summary(size_t n_prompt, const Generated& out, const Session& session, const Engine& engine) {
  fmt::print(stderr,
             "\n{} prompt tokens at {:.1f}/s, {} generated at {:.1f}/s ({}); loaded in {:.2f} s; memory {} at most: "
             "weights {}, "
             "cache {}, activations {}; kernels {}, {} threads\n",
             n_prompt, per_second(static_cast<int64_t>(n_prompt), out.prompt_seconds), out.ids.size(),
             per_second(out.n_passes, out.generate_seconds), stop_reason_name(out.reason), engine.load_seconds,
             human_bytes(static_cast<uint64_t>(peak_rss_bytes())),
             human_bytes(static_cast<uint64_t>(session.model().tensors.n_bytes())),
             human_bytes(static_cast<uint64_t>(session.plan().cache_bytes)),
             human_bytes(static_cast<uint64_t>(session.plan().activation_bytes)), engine.ctx.kernels->name,
             engine.pool->n_threads());
}

Status run(const RunOptions& o) {
  GenerateOptions generate_options;
  VITRO_TRY_ASSIGN(generate_options.sampler, sampler_config(o.sampler));
  VITRO_TRY_ASSIGN(const Engine engine, open_engine(o.engine));
  VITRO_TRY(validate(generate_options.sampler, engine.model->config.vocab_size));
  VITRO_TRY_ASSIGN(const std::vector<int32_t> prompt, prompt_ids(o, engine));
  VITRO_TRY_ASSIGN(const SessionShape shape, session_shape(o, engine, static_cast<int64_t>(prompt.size())));
  VITRO_TRY_ASSIGN(Session session, Session::create(engine.model, shape, engine.ctx));
  if (shape.n_ctx > engine.model->config.n_ctx) {
    fmt::print(stderr, "note: this model was made for {} positions, --context asks for {}\n",
               engine.model->config.n_ctx, shape.n_ctx);
  }
  generate_options.max_tokens = o.max_tokens;
  generate_options.stop_strings = o.stop;
  generate_options.n_top = o.n_top;
  if (!o.ignores_end) generate_options.end_ids = end_ids(engine);

  std::unique_ptr<LogitsSource> source;
  if (o.has_no_cache) {
    source = std::make_unique<UncachedLogits>(session, 0);
  } else {
    source = std::make_unique<CachedLogits>(session, 0, static_cast<int64_t>(prompt.size()));
  }
  Output output(o, engine);
  catch_interrupt();  // ctrl-C ends the text, not the summary
  VITRO_TRY_ASSIGN(const Generated out, generate(*source, engine.tokenizer.get(), prompt, generate_options,
                                                 [&](const GeneratedToken& token) { return output.show(token); }));
  if (o.is_json) print_json(prompt, out, output, session);
  print_summary(prompt.size(), out, session, engine);
  return {};
}

}  // namespace

int run_command(std::span<const std::string> args) {
  RunOptions options;
  CLI::App app("Continues a prompt, token by token.");
  declare(app, options);
  if (const auto code = parse_args(app, "run", args)) return *code;
  if (const Status status = run(options); !status) return report_error("run", status.error());
  return 0;
}

}  // namespace vitro
