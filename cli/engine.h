// Engine: what every command that runs a model opens first: threads, kernels, checkpoint, weights, tokenizer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/model_argument.h"
#include "formats/checkpoint.h"
#include "model/model.h"
#include "ops/context.h"
#include "tokens/tokenizer.h"

namespace vitro {

struct EngineOptions {
  std::string model;             ///< path of a folder or file, or a name; kEmbeddedModel is one
  ModelSearch search;            ///< what may be done for a name
  std::string tokenizer;         ///< path of another tokenizer; empty: the model's own
  std::optional<int> n_threads;  ///< nothing: as many as the processor lets us use
  LoadMode load = LoadMode::kMap;
  bool checks_weights = false;
  std::string rope;  ///< KIND:FACTOR, stretches the context (model/extend_context.h); empty: as the model says
};

/// What opening took on the heap, measured.
struct OpenedBytes {
  int64_t metadata = 0;  ///< tables of the files, the description
  int64_t tokenizer = 0;
};

/// Order matters: the tokenizer reads the checkpoint's bytes.
struct Engine {
  std::unique_ptr<ThreadPool> pool;
  OpContext ctx;
  std::unique_ptr<Checkpoint> checkpoint;
  ModelDescription description;  ///< until the weights are there
  OpenedBytes opened;
  bool is_read = false;  ///< the files' bytes are a copy in memory (LoadMode::kRead)
  std::shared_ptr<const Model> model;
  std::unique_ptr<Tokenizer> tokenizer;  ///< null where the model carries none
  std::string tokenizer_problem;         ///< why there is none
  double load_seconds = 0;

  const ModelConfig& config() const { return model ? model->config : description.config; }
};

/// Kernels of the environment variable VITRO_ISA, or the best ones. InvalidArgument lists those that run here.
Result<const KernelTable*> choose_kernels();
/// Threads and kernels alone. InvalidArgument for n_threads below 1 or over 1024.
Result<Engine> open_threads(std::optional<int> n_threads);
/// Threads, checkpoint, description and tokenizer, no weights: what a plan needs. A name is looked up first
/// (locate_model). A missing tokenizer is no error here:
/// see require_tokenizer.
Result<Engine> open_files(EngineOptions options);
/// The weights, into an engine of open_files with the same options.
Status load_weights(const EngineOptions& options, Engine* engine);
/// Everything. A missing tokenizer is no error here: see require_tokenizer.
Result<Engine> open_engine(const EngineOptions& options);
/// The tokenizer, or why there is none.
Result<const Tokenizer*> require_tokenizer(const Engine& engine);

/// Ids that end a text: of the description, generation_config.json, and the tokenizer. Corrupt if eos_token_id of
/// generation_config.json is neither an id nor a list of ids.
Result<std::vector<int32_t>> end_ids(const Engine& engine);
/// True if the tokenizer puts its BOS before a text by itself.
bool adds_bos(const Tokenizer& tokenizer);

/// "1,2,3" -> ids. InvalidArgument names the part that is no number.
Result<std::vector<int32_t>> parse_ids(std::string_view text);
/// A whole file, or standard input for "-". IoError, NotFound; at most 1 GiB.
Result<std::string> read_text(const std::string& path);

}  // namespace vitro
