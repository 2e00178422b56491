// vitro eval: loss and perplexity of a model on a text.
#include <algorithm>
#include <optional>

#include "base/human.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "generate/score.h"

namespace vitro {
namespace {

constexpr std::string_view kExample =
    "Example:\n  vitro eval ~/.cache/vitro/smollm2-135m-instruct-q4_1.gguf README.md --window 512 --stride 256\n";

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

struct Outcome {
  ScoreOptions options;
  Score score;
  size_t n_ids = 0;
  double tokens_per_second = 0;
};

Value outcome_json(const Outcome& outcome) {
  return Value(Value::Object{{"mean_nll", Value(outcome.score.mean_nll())},
                             {"perplexity", Value(outcome.score.perplexity())},
                             {"tokens", Value(outcome.score.n_tokens)},
                             {"window", Value(outcome.options.window)},
                             {"stride", Value(outcome.options.stride)},
                             {"bos_id", Value(int64_t{outcome.options.bos_id})},
                             {"tokens_per_second", Value(outcome.tokens_per_second)},
                             {"peak_rss_bytes", Value(peak_rss_bytes())}});
}

void print_outcome(const Outcome& outcome) {
  put("mean loss  {:.6f} nats a token\nperplexity {:.4f}\ntokens     {} scored of {}, window {}, stride {}\n",
      outcome.score.mean_nll(), outcome.score.perplexity(), human_count(outcome.score.n_tokens),
      human_count(static_cast<int64_t>(outcome.n_ids)), outcome.options.window, outcome.options.stride);
  if (!flush_output()) return;
  talk("{:.1f} tokens/s, memory {} at most\n", outcome.tokens_per_second,
       human_bytes(static_cast<uint64_t>(peak_rss_bytes())));
}

Result<Score> score_text(const Engine& engine, std::span<const int32_t> ids, const ScoreOptions& options) {
  SessionShape shape;
  shape.n_ctx = options.window;
  shape.n_batch = kLogitRows;
  shape.n_logits = kLogitRows;
  shape.n_threads = engine.pool->n_threads();
  VITRO_TRY_ASSIGN(Session session, Session::create(engine.model, shape, engine.ctx));
  catch_interrupt();
  Progress progress("scoring");
  return score_ids(session, ids, options, [&](int64_t done, int64_t total) {
    progress.update(done, total);
    return !is_interrupted();
  });
}

Status eval(const EvalOptions& o) {
  VITRO_TRY_ASSIGN(const Engine engine, open_engine(o.engine));
  Outcome outcome;
  VITRO_TRY_ASSIGN(outcome.options, score_options(o, engine));
  VITRO_TRY_ASSIGN(std::vector<int32_t> ids, text_ids(o, engine));
  if (o.max_tokens > 0 && static_cast<int64_t>(ids.size()) > o.max_tokens)
    ids.resize(static_cast<size_t>(o.max_tokens));
  outcome.n_ids = ids.size();
  const double start = now_seconds();
  VITRO_TRY_ASSIGN(outcome.score, score_text(engine, ids, fit_to(outcome.options, ids.size())));
  outcome.tokens_per_second = static_cast<double>(ids.size()) / (now_seconds() - start);
  if (o.is_json) {
    put_json(outcome_json(outcome));
  } else {
    print_outcome(outcome);
  }
  return {};
}

}  // namespace

int eval_command(std::span<const std::string> args) {
  EvalOptions options;
  CLI::App app("Mean next-token loss and perplexity of a text.");
  declare(app, options);
  if (const auto code = parse_args(app, "eval", args)) return *code;
  if (const Status status = eval(options); !status) return report_error("eval", status.error());
  return 0;
}

}  // namespace vitro
