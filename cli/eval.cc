// vitro eval: loss and perplexity of a model on a text.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/human.h"
#include "cli/commands.h"
#include "cli/memory.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "generate/score.h"

namespace vitro {
namespace {

constexpr std::string_view kExample =
    "Example:\n  vitro eval ~/.cache/vitro/smollm2-135m-instruct-q4_1.gguf README.md --window 512 --stride 256\n"
    "  vitro eval MODEL README.md --cache-type f32,f16,q8_0,fp8\n";

// Rows of logits a pass gives: few enough that the buffer stays small beside the weights.
constexpr int64_t kLogitRows = 64;

struct EvalOptions {
  EngineOptions engine;
  std::string file;
  std::optional<std::string> ids;
  bool parses_special = false;
  int64_t window = 512;
  std::optional<int64_t> stride;
  bool has_no_bos = false;
  int64_t max_tokens = 0;
  std::string cache_types = "f16";
  std::optional<int64_t> memory_limit;
  bool is_json = false;
};

void declare(CLI::App& app, EvalOptions& o) {
  add_engine_options(app, o.engine);
  auto* file = app.add_option("FILE", o.file, "text to score; - is standard input");
  auto* ids = app.add_option("--ids", o.ids, "token ids in place of a text, like 1,2,3")->group("Input");
  ids->excludes(file);
  app.add_flag("--parse-special", o.parses_special,
               "special tokens written in the text are tokens; without it they are text like any other")
      ->group("Input");
  app.add_option("--max-tokens", o.max_tokens, "score only the first tokens; 0: all")
      ->capture_default_str()
      ->check(at_least(0))
      ->group("Input");
  app.add_option("--window", o.window, "tokens a window")->capture_default_str()->group("Scoring");
  app.add_option("--stride", o.stride,
                 "distance of windows (default: the window); tokens scored before are context only")
      ->group("Scoring");
  app.add_flag("--no-bos", o.has_no_bos, "put no BOS before each window, even where the tokenizer adds one to a text")
      ->group("Scoring");
  add_cache_type_option(app, o.cache_types, true);
  add_memory_limit_option(app, o.memory_limit);
  app.add_flag("--json", o.is_json, "one JSON object")->group("Output");
  app.footer(std::string(kExample));
}

Result<std::vector<int32_t>> text_ids(const EvalOptions& o, const Engine& engine) {
  if (o.ids) return parse_ids(*o.ids);
  if (o.file.empty()) return fail(ErrorCode::kInvalidArgument, "nothing to score; give a FILE or --ids 1,2,3");
  VITRO_TRY_ASSIGN(const Tokenizer* tokenizer, require_tokenizer(engine));
  VITRO_TRY_ASSIGN(const std::string text, read_text(o.file));
  VITRO_TRY_ASSIGN(Encoding encoding,
                   tokenizer->encode(text, {.add_special = false, .parse_special = o.parses_special}));
  return std::move(encoding.ids);
}

// What the user asked for, checked.
Result<ScoreOptions> score_options(const EvalOptions& o, const Engine& engine) {
  ScoreOptions score;
  score.window = o.window;
  score.stride = o.stride.value_or(o.window);
  if (o.window < 2) return fail(ErrorCode::kInvalidArgument, "--window {}: expected at least 2 tokens", o.window);
  if (score.stride < 1 || score.stride > o.window) {
    return fail(ErrorCode::kInvalidArgument, "--stride {}: expected 1 to --window, {}", score.stride, o.window);
  }
  if (!o.has_no_bos && engine.tokenizer && adds_bos(*engine.tokenizer)) score.bos_id = engine.tokenizer->bos_id();
  return score;
}

// A window longer than the text with its BOS holds the same tokens as one that just fits, in less memory.
ScoreOptions fit_to(ScoreOptions score, size_t n_ids) {
  score.window = std::min(score.window, std::max(static_cast<int64_t>(n_ids) + 1, int64_t{2}));
  score.stride = std::min(score.stride, score.window);
  return score;
}

// What scoring with one type of the cache gave.
struct Outcome {
  CacheType type = CacheType::kF16;
  Score score;
  int64_t position_bytes = 0;
  int64_t cache_bytes = 0;
  double tokens_per_second = 0;

  std::string_view type_name() const { return cache_type_info(type).name; }
};

// Everything that was scored: the same text in the same windows.
struct Evaluation {
  ScoreOptions options;
  size_t n_ids = 0;
  std::vector<Outcome> outcomes;

  const Outcome& first() const { return outcomes.front(); }
  // How much higher the perplexity is than with the first type, in percent.
  double change(const Outcome& outcome) const {
    return 100 * std::expm1(outcome.score.mean_nll() - first().score.mean_nll());
  }
};

Value::Object outcome_json(const Outcome& outcome) {
  return {{"cache_type", Value(std::string(outcome.type_name()))},
          {"cache_bytes_per_token", Value(outcome.position_bytes)},
          {"cache_bytes", Value(outcome.cache_bytes)},
          {"tokens_per_second", Value(outcome.tokens_per_second)},
          {"mean_nll", Value(outcome.score.mean_nll())},
          {"perplexity", Value(outcome.score.perplexity())}};
}

// One type: its numbers beside what was scored. Several: a list of them, compared with the first.
Value evaluation_json(const Evaluation& evaluation) {
  Value::Object out;
  if (evaluation.outcomes.size() == 1) {
    out = outcome_json(evaluation.first());
  } else {
    Value::Array rows;
    for (const Outcome& outcome : evaluation.outcomes) {
      Value::Object row = outcome_json(outcome);
      row.emplace_back("perplexity_change_percent", Value(evaluation.change(outcome)));
      rows.emplace_back(std::move(row));
    }
    out.emplace_back("cache_types", Value(std::move(rows)));
  }
  out.emplace_back("tokens", Value(evaluation.first().score.n_tokens));
  out.emplace_back("window", Value(evaluation.options.window));
  out.emplace_back("stride", Value(evaluation.options.stride));
  out.emplace_back("bos_id", Value(int64_t{evaluation.options.bos_id}));
  out.emplace_back("peak_rss_bytes", Value(peak_rss_bytes()));
  return Value(std::move(out));
}

void print_table(const Evaluation& evaluation) {
  put("{:<6} {:>13} {:>12} {:>10} {:>10} {:>11} {:>10}\n", "cache", "bytes a token", "cache", "tokens/s", "mean loss",
      "perplexity", "change");
  for (const Outcome& outcome : evaluation.outcomes) {
    put("{:<6} {:>13} {:>12} {:>10.1f} {:>10.6f} {:>11.4f} {:>+9.4f}%\n", outcome.type_name(),
        human_count(outcome.position_bytes), human_bytes(static_cast<uint64_t>(outcome.cache_bytes)),
        outcome.tokens_per_second, outcome.score.mean_nll(), outcome.score.perplexity(), evaluation.change(outcome));
  }
}

void print_evaluation(const Evaluation& evaluation) {
  const Outcome& first = evaluation.first();
  const bool is_alone = evaluation.outcomes.size() == 1;
  if (is_alone) {
    put("mean loss  {:.6f} nats a token\nperplexity {:.4f}\n", first.score.mean_nll(), first.score.perplexity());
  } else {
    print_table(evaluation);
  }
  put("tokens     {} scored of {}, window {}, stride {}\n", human_count(first.score.n_tokens),
      human_count(static_cast<int64_t>(evaluation.n_ids)), evaluation.options.window, evaluation.options.stride);
  if (!flush_output()) return;
  if (is_alone) {
    talk("{:.1f} tokens/s, {} cache {}, ", first.tokens_per_second, first.type_name(),
         human_bytes(static_cast<uint64_t>(first.cache_bytes)));
  }
  talk("memory {} at most\n", human_bytes(static_cast<uint64_t>(peak_rss_bytes())));
}

SessionShape session_shape(const Engine& engine, const ScoreOptions& options, CacheType type) {
  SessionShape shape;
  shape.n_ctx = options.window;
  shape.n_batch = kLogitRows;
  shape.n_logits = kLogitRows;
  shape.cache_type = type;
  shape.n_threads = engine.pool->n_threads();
  return shape;
}

Result<Outcome> score_text(const Engine& engine, std::span<const int32_t> ids, const ScoreOptions& options,
                           CacheType type) {
  VITRO_TRY_ASSIGN(Session session, Session::create(engine.model, session_shape(engine, options, type), engine.ctx));
  Outcome outcome{.type = type,
                  .position_bytes = kv_position_bytes(session.plan().cache),
                  .cache_bytes = session.plan().cache_bytes};
  Progress progress(fmt::format("scoring, {} cache", outcome.type_name()));
  const double start = now_seconds();
  VITRO_TRY_ASSIGN(outcome.score, score_ids(session, ids, options, [&](int64_t done, int64_t total) {
                     progress.update(done, total);
                     return !is_interrupted();
                   }));
  outcome.tokens_per_second = static_cast<double>(ids.size()) / (now_seconds() - start);
  return outcome;
}

// A type that does not fit the heads, or the limit, is refused before weights are read.
Status check_types(const EvalOptions& o, const Engine& engine, std::span<const CacheType> types,
                   const ScoreOptions& options) {
  for (const CacheType type : types) {
    const auto shape_of = [&](int64_t window) {
      ScoreOptions other = options;
      other.window = window;
      return session_shape(engine, other, type);
    };
    VITRO_TRY(plan_session(engine.config(), shape_of(options.window)));
    const MemoryQuestion question{
        .n_ctx = options.window, .shape_of = shape_of, .least_ctx = 2, .ctx_option = "--window"};
    VITRO_TRY(check_memory_limit(engine, question, o.memory_limit));
  }
  return {};
}

Result<Evaluation> evaluate(const EvalOptions& o, Engine& engine) {
  Evaluation evaluation;
  VITRO_TRY_ASSIGN(evaluation.options, score_options(o, engine));
  VITRO_TRY_ASSIGN(std::vector<int32_t> ids, text_ids(o, engine));
  if (o.max_tokens > 0 && std::ssize(ids) > o.max_tokens) ids.resize(static_cast<size_t>(o.max_tokens));
  evaluation.n_ids = ids.size();
  const ScoreOptions fitting = fit_to(evaluation.options, ids.size());
  VITRO_TRY_ASSIGN(const std::vector<CacheType> types, parse_cache_types(o.cache_types));
  VITRO_TRY(check_types(o, engine, types, fitting));
  VITRO_TRY(load_weights(o.engine, &engine));
  catch_interrupt();
  for (const CacheType type : types) {
    VITRO_TRY_ASSIGN(Outcome outcome, score_text(engine, ids, fitting, type));
    evaluation.outcomes.push_back(outcome);
  }
  return evaluation;
}

Status eval(const EvalOptions& o) {
  VITRO_TRY_ASSIGN(Engine engine, open_files(o.engine));
  VITRO_TRY_ASSIGN(const Evaluation evaluation, evaluate(o, engine));
  if (o.is_json) {
    put_json(evaluation_json(evaluation));
  } else {
    print_evaluation(evaluation);
  }
  return {};
}

}  // namespace

int eval_command(std::span<const std::string> args) {
  EvalOptions options;
  CLI::App app("Mean next-token loss and perplexity of a text; with several cache types, what each costs and saves.");
  declare(app, options);
  if (const auto code = parse_args(app, "eval", args)) return *code;
  if (const Status status = eval(options); !status) return report_error("eval", status.error());
  return 0;
}

}  // namespace vitro
