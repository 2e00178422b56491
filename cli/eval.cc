// vitro eval: loss and perplexity of a model on a text.
#include <fmt/core.h>

#include "base/human.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "formats/json.h"
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
  std::string ids;
  ScoreOptions score;
  bool has_no_bos = false;
  int64_t max_tokens = 0;
  bool is_json = false;
};

void declare(CLI::App& app, EvalOptions& o) {
  add_engine_options(app, o.engine);
  app.add_option("FILE", o.file, "text to score; - is standard input");
  app.add_option("--ids", o.ids, "token ids in place of a text, like 1,2,3")->group("Input");
  app.add_option("--max-tokens", o.max_tokens, "score only the first tokens; 0: all")
      ->capture_default_str()
      ->group("Input");
  app.add_option("--window", o.score.window, "tokens a window")->capture_default_str()->group("Scoring");
  app.add_option("--stride", o.score.stride, "distance of windows; tokens scored before are context only")
      ->capture_default_str()
      ->group("Scoring");
  app.add_flag("--no-bos", o.has_no_bos, "put no BOS before each window")->group("Scoring");
  app.add_flag("--json", o.is_json, "one JSON object")->group("Output");
  app.footer(std::string(kExample));
}

Result<std::vector<int32_t>> text_ids(const EvalOptions& o, const Engine& engine) {
  if (o.file.empty() == o.ids.empty()) return fail(ErrorCode::kInvalidArgument, "give a FILE or --ids, one of them");
  if (!o.ids.empty()) return parse_ids(o.ids);
  VITRO_TRY_ASSIGN(const Tokenizer* tokenizer, require_tokenizer(engine));
  VITRO_TRY_ASSIGN(const std::string text, read_text(o.file));
  VITRO_TRY_ASSIGN(Encoding encoding, tokenizer->encode(text, {.add_special = false, .parse_special = false}));
  return std::move(encoding.ids);
}

Status eval(const EvalOptions& o) {
  VITRO_TRY_ASSIGN(const Engine engine, open_engine(o.engine));
  VITRO_TRY_ASSIGN(std::vector<int32_t> ids, text_ids(o, engine));
  if (o.max_tokens > 0 && static_cast<int64_t>(ids.size()) > o.max_tokens)
    ids.resize(static_cast<size_t>(o.max_tokens));
  ScoreOptions score_options = o.score;
  if (!o.has_no_bos && engine.tokenizer) score_options.bos_id = engine.tokenizer->bos_id();
  SessionShape shape;
  shape.n_ctx = score_options.window;
  shape.n_batch = kLogitRows;
  shape.n_logits = kLogitRows;
  shape.n_threads = engine.pool->n_threads();
  VITRO_TRY_ASSIGN(Session session, Session::create(engine.model, shape, engine.ctx));
  catch_interrupt();
  Progress progress("scoring");
  const double start = now_seconds();
  VITRO_TRY_ASSIGN(const Score score, score_ids(session, ids, score_options, [&](int64_t done, int64_t total) {
                     progress.update(done, total);
                     return !is_interrupted();
                   }));
  const double seconds = now_seconds() - start;
  const double rate = static_cast<double>(ids.size()) / seconds;
  if (o.is_json) {
    fmt::print(
        "{{\"mean_nll\":{:.12g},\"perplexity\":{:.12g},\"tokens\":{},\"window\":{},\"stride\":{},\"bos_id\":{},"
        "\"tokens_per_second\":{:.6g},\"peak_rss_bytes\":{}}}\n",
        score.mean_nll(), score.perplexity(), score.n_tokens, score_options.window, score_options.stride,
        score_options.bos_id, rate, peak_rss_bytes());
    return {};
  }
  fmt::print("mean loss  {:.6f} nats a token\nperplexity {:.4f}\ntokens     {} scored of {}, window {}, stride {}\n",
             score.mean_nll(), score.perplexity(), human_count(score.n_tokens),
             human_count(static_cast<int64_t>(ids.size())), score_options.window, score_options.stride);
  fmt::print(stderr, "{:.1f} tokens/s, memory {} at most\n", rate,
             human_bytes(static_cast<uint64_t>(peak_rss_bytes())));
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
