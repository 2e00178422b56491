// Options that several commands have, with one wording.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/kv_cache.h"
#include "cli/cli11_fwd.h"
#include "cli/engine.h"
#include "cli/model_argument.h"
#include "sample/sampler.h"

namespace vitro {

/// --threads, --tokenizer, --load, --check-weights and the positional MODEL.
void add_engine_options(CLI::App& app, EngineOptions& options);

/// Refuses numbers below `least`, with a message to read.
CLI::Validator at_least(int64_t least);

/// "f16,q8_0" -> types. InvalidArgument: a name that is no type (the known ones are listed), or one given twice.
Result<std::vector<CacheType>> parse_cache_types(std::string_view text);
/// --cache-type, checked while it is parsed; `text` holds the default. `has_several`: more than one, with commas.
void add_cache_type_option(CLI::App& app, std::string& text, bool has_several);
/// --window-cache.
void add_window_cache_option(CLI::App& app, bool& keeps_only_windows);

/// --temperature to --seed, --sampler-preset, --sampler-order.
struct SamplerOptions {
  SamplerConfig config;
  std::string preset = "hf";
  std::string order;
  std::vector<std::string> logit_bias;
};
void add_sampler_options(CLI::App& app, SamplerOptions& options);
/// The parsed config, or InvalidArgument naming the option.
Result<SamplerConfig> sampler_config(const SamplerOptions& options);

/// Parses args; nothing: go on. A number: exit with it (help was printed, or the usage is wrong, with the nearest known
/// option named).
std::optional<int> parse_args(CLI::App& app, std::string_view command, std::span<const std::string> args);

}  // namespace vitro
