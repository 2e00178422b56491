// Options that several commands have, with one wording.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/engine.h"
#include "sample/sampler.h"

namespace vitro {

/// --threads, --tokenizer, --load, --check-weights and the positional MODEL.
void add_engine_options(CLI::App& app, EngineOptions& options);

/// Refuses numbers below `least`, with a message to read.
CLI::Validator at_least(int64_t least);

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
