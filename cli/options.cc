#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/nearest.h"
#include "cli/terminal.h"
#include "model/extend_context.h"

namespace vitro {
namespace {

// The known option nearest to an unknown one.
std::string nearest_option(const CLI::App& app, std::string_view unknown) {
  std::string best;
  size_t best_distance = SIZE_MAX;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const size_t distance = edit_distance("--" + name, unknown);
      if (distance < best_distance) {
        best_distance = distance;
        best = "--" + name;
      }
    }
  }
  return best;
}

std::string cache_type_names() {
  std::string names;
  for (const CacheTypeInfo& info : kCacheTypeInfos) names += fmt::format("{}{}", names.empty() ? "" : ", ", info.name);
  return names;
}

}  // namespace

CLI::Validator at_least(int64_t least) {
  const auto check = [least](std::string& text) {
    int64_t n = 0;
    const bool is_number = CLI::detail::lexical_cast(text, n);
    return is_number && n >= least ? std::string() : fmt::format("'{}', expected {} or more", text, least);
  };
  return CLI::Validator(check, "");
}

Result<std::vector<CacheType>> parse_cache_types(std::string_view text) {
  std::vector<CacheType> types;
  for (size_t first = 0; first <= text.size();) {
    const size_t end = std::min(text.find(',', first), text.size());
    const std::string_view name = text.substr(first, end - first);
    const auto type = cache_type_from_name(name);
    if (!type) {
      return fail(ErrorCode::kInvalidArgument, "'{}' is no type of the cache; there are {}", name, cache_type_names());
    }
    if (std::find(types.begin(), types.end(), *type) != types.end()) {
      return fail(ErrorCode::kInvalidArgument, "'{}' is given twice", name);
    }
    types.push_back(*type);
    first = end + 1;
  }
  return types;
}

void add_cache_type_option(CLI::App& app, std::string& text, bool has_several) {
  const auto check = [has_several](std::string& value) -> std::string {
    const auto types = parse_cache_types(value);
    if (!types) return types.error().message;
    return types->size() == 1 || has_several ? "" : "one type at a time";
  };
  const std::string help = fmt::format("how cached keys and values are rounded: {}{}", cache_type_names(),
                                       has_several ? "; several with commas are compared with the first" : "");
  app.add_option("--cache-type", text, help)->capture_default_str()->check(CLI::Validator(check, ""))->group("Memory");
}

void add_window_cache_option(CLI::App& app, bool& keeps_only_windows) {
  app.add_flag("--window-cache", keeps_only_windows,
               "layers that attend a window keep no more of the past than that: less memory, the same text (the "
               "opposite of llama.cpp's --swa-full)")
      ->group("Memory");
}

void add_engine_options(CLI::App& app, EngineOptions& options) {
  add_model_option(app, options.model, options.search, "Hugging Face folder, .gguf file, or llama2.c .bin")->required();
  app.add_option("--threads", options.n_threads, "threads, 1 to 1024 (default: all processors)")->group("Model");
  app.add_option("--tokenizer", options.tokenizer, "another tokenizer: a folder, tokenizer.json, .gguf, tok512.bin")
      ->group("Model");
  const auto set_load = [&options](const std::string& mode) {
    options.load = mode == "read" ? LoadMode::kRead : LoadMode::kMap;
  };
  app.add_option_function<std::string>(
         "--load", set_load,
         "map: use the file's bytes where they lie; read: copy them, safe against a file that shrinks meanwhile")
      ->default_str("map")
      ->check(CLI::IsMember({"map", "read"}))
      ->group("Model");
  const auto check_rope = [](const std::string& text) {
    const auto extension = parse_context_extension(text);
    return extension ? std::string() : extension.error().message;
  };
  app.add_option("--rope", options.rope,
                 "KIND:FACTOR, run beyond the trained length by stretching rotary positions: linear, ntk, dynamic or "
                 "yarn, such as yarn:4")
      ->check(check_rope)
      ->group("Model");
  app.add_flag("--check-weights", options.checks_weights, "refuse weights that are NaN or infinite")->group("Model");
}

void add_sampler_options(CLI::App& app, SamplerOptions& options) {
  SamplerConfig& config = options.config;
  const auto add = [&](const char* name, auto& value, const char* help) {
    app.add_option(name, value, help)->capture_default_str()->group("Sampling");
  };
  add("--temperature", config.temperature, "0: always the most likely token");
  add("--top-k", config.top_k, "keep the k most likely; 0: off");
  add("--top-p", config.top_p, "keep the smallest set of this mass; 1: off");
  add("--min-p", config.min_p, "drop below this fraction of the best; 0: off");
  add("--typical-p", config.typical_p, "keep tokens of typical surprise up to this mass; 1: off");
  add("--epsilon-cutoff", config.epsilon_cutoff, "drop below this probability; 0: off");
  add("--repetition-penalty", config.repetition_penalty, "divide logits of tokens seen before; 1: off");
  add("--presence-penalty", config.presence_penalty, "subtract from logits of tokens seen before; 0: off");
  add("--frequency-penalty", config.frequency_penalty, "subtract for each time a token was seen; 0: off");
  add("--penalty-last-n", config.penalty_last_n, "penalties count the last n tokens; 0: as the preset");
  add("--no-repeat-ngram", config.no_repeat_ngram, "forbid repeating n-grams of this length; 0: off");
  add("--logit-bias", options.logit_bias, "ID=VALUE, added to a logit; repeatable");
  add("--seed", config.seed, "the same seed draws the same tokens");
  add("--sampler-preset", options.preset, "whose order of rules: hf, llama.cpp, vllm");
  add("--sampler-order", options.order, "rules in order, with commas, instead of the preset's");
}

Result<SamplerConfig> sampler_config(const SamplerOptions& options) {
  SamplerConfig config = options.config;
  VITRO_TRY_ASSIGN(config.preset, parse_sampler_preset(options.preset));
  if (!options.order.empty()) {
    VITRO_TRY_ASSIGN(config.order, parse_sampler_order(options.order));
  }
  for (const std::string& text : options.logit_bias) {
    VITRO_TRY_ASSIGN(const auto bias, parse_logit_bias(text));
    config.logit_bias.push_back(bias);
  }
  return config;
}

std::optional<int> parse_args(CLI::App& app, std::string_view command, std::span<const std::string> args) {
  app.name(fmt::format("vitro {}", command));
  app.allow_extras(false);
  std::vector<std::string> reversed(args.rbegin(), args.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    put_text(app.help());
    return 0;
  } catch (const CLI::ExtrasError&) {
    const auto unknown = app.remaining();
    const std::string first = unknown.empty() ? "" : unknown.back();
    const std::string hint =
        first.starts_with("-") ? fmt::format("; did you mean {}?", nearest_option(app, first)) : "";
    talk("vitro {}: unknown argument '{}'{} ('vitro {} --help' lists the options)\n", command, first, hint, command);
    return 2;
  } catch (const CLI::ParseError& error) {
    talk("vitro {}: {} ('vitro {} --help' lists the options)\n", command, error.what(), command);
    return 2;
  }
  return std::nullopt;
}

}  // namespace vitro
