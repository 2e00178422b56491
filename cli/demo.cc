// vitro demo: from a text to the next token on a real model, with what goes on inside.
#include <CLI/CLI.hpp>

#include "base/human.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "embedded/embedded_model.h"
#include "formats/json.h"
#include "generate/generate.h"
#include "inspect/attention_map.h"

namespace vitro {
namespace {

constexpr std::string_view kCapital = "The capital of France is";
// For the model in this program, which was never taught geography.
constexpr std::string_view kLight = "And God said, Let there be";
constexpr std::string_view kDog = "The dog chased the squirrel because it";
constexpr int64_t kContinuation = 32;

void heading(std::string_view text) { put("\n{}\n", text); }

Result<std::vector<int32_t>> encode(const Engine& engine, std::string_view text) {
  VITRO_TRY_ASSIGN(const Tokenizer* tokenizer, require_tokenizer(engine));
  VITRO_TRY_ASSIGN(Encoding encoding, tokenizer->encode(text));
  return std::move(encoding.ids);
}

std::string shown(const Engine& engine, int32_t id) { return json_quote(engine.tokenizer->token_bytes(id)); }

Result<Session> make_session(const Engine& engine, int64_t n_ctx) {
  SessionShape shape;
  shape.n_ctx = n_ctx;
  shape.n_threads = engine.pool->n_threads();
  return Session::create(engine.model, shape, engine.ctx);
}

void show_tokens(const Engine& engine, std::span<const int32_t> ids) {
  for (const int32_t id : ids) put("  {:>7}  {}\n", id, shown(engine, id));
}

Status show_next(const Engine& engine, std::span<const int32_t> ids) {
  VITRO_TRY_ASSIGN(Session session, make_session(engine, static_cast<int64_t>(ids.size())));
  session.begin(0, {.prompt_len = std::ssize(ids)});
  VITRO_TRY_ASSIGN(const std::span<const float> logits, session.feed(0, ids));
  for (const Alternative& next : top_alternatives(logits, 10)) {
    put("  {:<12} {:6.4f} {}\n", shown(engine, next.id), next.probability, bar(next.probability, 40));
  }
  return {};
}

// Generates greedily and streams the text; with or without the cache.
Result<Generated> continue_text(const Engine& engine, std::span<const int32_t> ids, bool has_cache) {
  VITRO_TRY_ASSIGN(Session session, make_session(engine, static_cast<int64_t>(ids.size()) + kContinuation));
  GenerateOptions options;
  options.max_tokens = kContinuation;
  options.has_probabilities = false;
  VITRO_TRY_ASSIGN(options.end_ids, end_ids(engine));
  const auto stream = [](const GeneratedToken& token) { return put_text(token.text) && flush_output(); };
  CachedLogits cached(session, 0, static_cast<int64_t>(ids.size()));
  UncachedLogits uncached(session, 0);
  LogitsSource& source = has_cache ? static_cast<LogitsSource&>(cached) : uncached;
  return generate(source, engine.tokenizer.get(), ids, options, stream);
}

Status show_continuation(const Engine& engine, std::string_view text, std::span<const int32_t> ids) {
  heading("A continuation, token by token, each key and value computed once and kept:");
  put("  {}", text);
  VITRO_TRY_ASSIGN(const Generated cached, continue_text(engine, ids, true));
  heading("The same without the cache, everything computed anew at each step:");
  put("  {}", text);
  VITRO_TRY_ASSIGN(const Generated uncached, continue_text(engine, ids, false));
  if (!flush_output()) return {};  // nobody reads: both ended early
  const double with = cached.prompt_seconds + cached.generate_seconds;
  const double without = uncached.prompt_seconds + uncached.generate_seconds;
  put("\n\n  {} text; {} tokens in {:.2f} s with the cache, {:.2f} s without: {:.1f} times as fast\n",
      cached.ids == uncached.ids ? "the same" : "NOT the same", cached.ids.size(), with, without, without / with);
  if (cached.ids == uncached.ids) return {};
  return fail(ErrorCode::kInternal, "the text depends on the cache; please report this");
}

Status show_attention(const Engine& engine) {
  VITRO_TRY_ASSIGN(const std::vector<int32_t> ids, encode(engine, kDog));
  VITRO_TRY_ASSIGN(Session session, make_session(engine, static_cast<int64_t>(ids.size())));
  LastRowLooks looks;
  session.set_hooks(&looks);
  session.begin(0, {.prompt_len = std::ssize(ids)});
  VITRO_TRY(session.feed(0, ids));
  heading(fmt::format("Whom the last token of \"{}\" looks at, mean of all heads:", kDog));
  const std::vector<float> mean = looks.mean_by_key();
  for (size_t i = 0; i < mean.size(); ++i)
    put("  {:<12} {:6.4f} {}\n", shown(engine, ids[i]), mean[i], bar(mean[i], 40));
  heading("The heads that look hardest at one earlier token (the first token, where idle heads rest, left out):");
  for (const HeadLook& look : looks.strongest(10)) {
    put("  layer {:>2} head {:>2}  {:<12} {:6.4f} {}\n", look.layer, look.head,
        shown(engine, ids[static_cast<size_t>(look.key_pos)]), look.probability, bar(look.probability, 30));
  }
  return {};
}

// Where the usual model cannot be had there is one in this program; only a user who stops its download wants none.
Status choose_model(EngineOptions& options) {
  std::string model = options.model;
  const Status located = locate_model(model, options.search);
  if (located || located.error().code == ErrorCode::kCancelled) return located;
  talk("{}\nSo this is a much smaller model.\n", located.error().message);
  options.model = kEmbeddedModel;
  return {};
}

Status demo(const EngineOptions& options) {
  VITRO_TRY_ASSIGN(const Engine engine, open_engine(options));
  const ModelConfig& config = engine.model->config;
  const std::string_view text = options.model == kEmbeddedModel ? kLight : kCapital;
  VITRO_TRY_ASSIGN(const std::vector<int32_t> ids, encode(engine, text));
  put("{}\n{} family, {} blocks, d_model {}, {} ids in the vocabulary; loaded in {:.2f} s\n", options.model,
      config.family, config.n_layer(), config.d_model, human_count(config.vocab_size), engine.load_seconds);
  heading(fmt::format("\"{}\" as tokens:", text));
  show_tokens(engine, ids);
  heading("The ten most likely next tokens:");
  VITRO_TRY(show_next(engine, ids));
  VITRO_TRY(show_continuation(engine, text, ids));
  return show_attention(engine);
}

}  // namespace

int demo_command(std::span<const std::string> args) {
  EngineOptions options;
  options.model = "smollm2";
  CLI::App app("Text in, next tokens out, on a real model, with what goes on inside shown.");
  add_model_option(app, options.model, options.search, "Hugging Face folder or .gguf file")->capture_default_str();
  app.add_option("--threads", options.n_threads, "threads, 1 to 1024 (default: all processors)");
  app.footer("Example:\n  vitro demo\n");
  if (const auto code = parse_args(app, "demo", args)) return *code;
  if (app.count("MODEL") == 0) {
    if (const Status status = choose_model(options); !status) return report_error("demo", status.error());
  }
  if (const Status status = demo(options); !status) return report_error("demo", status.error());
  return 0;
}

}  // namespace vitro
