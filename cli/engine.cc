#include "cli/engine.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "base/cpu.h"
#include "base/memory.h"
#include "cli/terminal.h"
#include "embedded/open_model.h"
#include "inspect/expectation.h"
#include "model/extend_context.h"

namespace vitro {
namespace {

constexpr int kMaxThreads = 1024;
constexpr size_t kMaxTextBytes = size_t{1} << 30;

Result<std::unique_ptr<Tokenizer>> choose_tokenizer(const EngineOptions& options, const Checkpoint& checkpoint,
                                                    int64_t vocab_size) {
  if (options.tokenizer.ends_with(".bin")) return load_llama2c_tokenizer(options.tokenizer, vocab_size);
  if (!options.tokenizer.empty()) return open_tokenizer(options.tokenizer);
  if (checkpoint.gguf()) return load_gguf_tokenizer(*checkpoint.gguf());
  if (checkpoint.format() == SourceFormat::kLlama2c) {
    return fail(ErrorCode::kNotFound, "{}: a llama2.c file carries no vocabulary; name one with --tokenizer tok512.bin",
                options.model);
  }
  return open_tokenizer(options.model);
}

// One line for whoever did not ask for it by its weights.
void introduce_embedded_model(const ModelConfig& config) {
  talk(
      "model: the one in this program, {} blocks, trained on Jane Austen, Shakespeare and the King James Bible; it "
      "writes in their manner and knows nothing. A MODEL of your own does better.\n",
      config.n_layer());
}

// The model as its files describe it, stretched if the user asks for it.
Result<ModelDescription> describe(const EngineOptions& options, const Checkpoint& checkpoint) {
  VITRO_TRY_ASSIGN(ModelDescription description, describe_model(checkpoint));
  if (options.rope.empty()) return description;
  VITRO_TRY_ASSIGN(const ContextExtension extension, parse_context_extension(options.rope));
  const Status status = extend_context(&description.config, extension.kind, extension.factor);
  if (!status) return fail(status.error().in(fmt::format("--rope {}", options.rope)));
  return description;
}

// eos_token_id of generation_config.json: an id, a list of ids, or nothing.
Result<std::vector<int32_t>> generation_end_ids(const Checkpoint& checkpoint) {
  const Value* value = checkpoint.generation_config().find("eos_token_id");
  if (!value || value->is_null()) return std::vector<int32_t>();
  if (const auto id = int32_of(*value)) return std::vector<int32_t>{*id};
  if (auto ids = id_list(value)) return *std::move(ids);
  return fail(ErrorCode::kCorrupt,
              "{}: generation_config.json: 'eos_token_id' is {}, expected a token id or a list of them",
              checkpoint.path().string(), to_string(*value));
}

// What a GGUF file says of the ends of turns and messages, beside its EOS.
std::vector<int32_t> gguf_end_ids(const GgufFile& file, int64_t vocab_size) {
  std::vector<int32_t> ids;
  for (const char* key : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    const int64_t* id = file.find_int(key);
    if (id && *id >= 0 && *id < vocab_size) ids.push_back(static_cast<int32_t>(*id));
  }
  return ids;
}

}  // namespace

Result<const KernelTable*> choose_kernels() {
  const char* name = std::getenv("VITRO_ISA");
  if (!name || !*name) return &best_kernel_table();
  const KernelTable* table = find_kernel_table(name);
  if (table) return table;
  return fail(ErrorCode::kInvalidArgument, "VITRO_ISA={}: no such kernels on this machine; there are {}", name,
              available_kernel_tables());
}

Result<Engine> open_threads(std::optional<int> n_threads) {
  if (n_threads && (*n_threads < 1 || *n_threads > kMaxThreads)) {
    return fail(ErrorCode::kInvalidArgument, "--threads {}: expected 1 to {}", *n_threads, kMaxThreads);
  }
  Engine engine;
  VITRO_TRY_ASSIGN(engine.ctx.kernels, choose_kernels());
  engine.pool = std::make_unique<ThreadPool>(n_threads ? *n_threads : n_usable_cpus());
  engine.ctx.pool = engine.pool.get();
  return engine;
}

Result<Engine> open_files(EngineOptions options) {
  VITRO_TRY(locate_model(options.model, options.search));
  if (!options.tokenizer.empty()) {
    VITRO_TRY(locate_model(options.tokenizer, {.may_pull = options.search.may_pull, .needs_weights = false}));
  }
  const double start = now_seconds();
  VITRO_TRY_ASSIGN(Engine engine, open_threads(options.n_threads));
  const int64_t heap_before = heap_bytes();
  VITRO_TRY_ASSIGN(Checkpoint checkpoint, open_checkpoint(options.model, {.mode = options.load}));
  engine.checkpoint = std::make_unique<Checkpoint>(std::move(checkpoint));
  engine.is_read = options.load == LoadMode::kRead && options.model != kEmbeddedModel;
  VITRO_TRY_ASSIGN(engine.description, describe(options, *engine.checkpoint));
  VITRO_TRY(check_runnable(engine.config()));
  const int64_t heap_opened = heap_bytes();
  engine.opened.metadata = heap_opened - heap_before;
  auto tokenizer = choose_tokenizer(options, *engine.checkpoint, engine.config().vocab_size);
  engine.opened.tokenizer = heap_bytes() - heap_opened;
  if (tokenizer) {
    engine.tokenizer = std::move(*tokenizer);
  } else if (!options.tokenizer.empty()) {
    return fail(std::move(tokenizer).error());
  } else {
    engine.tokenizer_problem = tokenizer.error().message;
  }
  if (options.model == kEmbeddedModel) introduce_embedded_model(engine.config());
  engine.load_seconds = now_seconds() - start;
  return engine;
}

Status load_weights(const EngineOptions& options, Engine* engine) {
  const double start = now_seconds();
  Progress progress("loading");
  const LoadOptions load{options.checks_weights, [&](int64_t done, int64_t total) { progress.update(done, total); }};
  VITRO_TRY_ASSIGN(engine->model, load_model(*engine->checkpoint, std::move(engine->description), load, *engine->pool));
  engine->load_seconds += now_seconds() - start;
  return {};
}

Result<Engine> open_engine(const EngineOptions& options) {
  VITRO_TRY_ASSIGN(Engine engine, open_files(options));
  VITRO_TRY(load_weights(options, &engine));
  return engine;
}

Result<const Tokenizer*> require_tokenizer(const Engine& engine) {
  if (engine.tokenizer) return engine.tokenizer.get();
  return fail(ErrorCode::kNotFound, "{}; give ids with --ids 1,2,3 or another tokenizer with --tokenizer",
              engine.tokenizer_problem);
}

Result<std::vector<int32_t>> end_ids(const Engine& engine) {
  VITRO_TRY_ASSIGN(std::vector<int32_t> ids, generation_end_ids(*engine.checkpoint));
  const std::vector<int32_t>& described = engine.config().eos_ids;
  ids.insert(ids.end(), described.begin(), described.end());
  if (const GgufFile* file = engine.checkpoint->gguf()) {
    const std::vector<int32_t> ends = gguf_end_ids(*file, engine.config().vocab_size);
    ids.insert(ids.end(), ends.begin(), ends.end());
  }
  if (engine.tokenizer && engine.tokenizer->eos_id() >= 0) ids.push_back(engine.tokenizer->eos_id());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

bool adds_bos(const Tokenizer& tokenizer) {
  const auto empty = tokenizer.encode("", {.add_special = true});
  return empty && !empty->ids.empty() && empty->ids[0] == tokenizer.bos_id();
}

Result<std::vector<int32_t>> parse_ids(std::string_view text) {
  std::vector<int32_t> ids;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    int32_t id = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), id);
    if (error != std::errc() || end != part.data() + part.size()) {
      return fail(ErrorCode::kInvalidArgument, "--ids: '{}' is no token id; expected numbers with commas, like 1,2,3",
                  part);
    }
    ids.push_back(id);
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return ids;
}

Result<std::string> read_text(const std::string& path) {
  const bool is_stdin = path == "-";
  std::FILE* file = is_stdin ? stdin : std::fopen(path.c_str(), "rb");
  if (!file) return fail(ErrorCode::kNotFound, "{}: cannot be opened; is the path right?", path);
  std::string text;
  char block[1 << 16];
  size_t n_read = 0;
  while ((n_read = std::fread(block, 1, sizeof block, file)) > 0 && text.size() <= kMaxTextBytes)
    text.append(block, n_read);
  const bool is_broken = std::ferror(file) != 0;
  if (!is_stdin) std::fclose(file);
  if (is_broken) return fail(ErrorCode::kIoError, "{}: cannot be read; a folder?", path);
  if (text.size() > kMaxTextBytes) return fail(ErrorCode::kInvalidArgument, "{}: longer than 1 GiB", path);
  return text;
}

}  // namespace vitro
