#include "cli/plan_options.h"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <functional>

#include "base/human.h"
#include "cli/model_argument.h"
#include "cli/options.h"

namespace vitro {
namespace {

constexpr SizeRange kPositions = {.most = kMaxContext}, kRows = {.most = int64_t{1} << 20};

constexpr auto kModelSizeOptions = std::to_array<ModelSizeOption>({
    {"--d-model", &ModelSizes::d_model, "width of the residual stream"},
    {"--n-layer", &ModelSizes::n_layer, "layers"},
    {"--n-head", &ModelSizes::n_head, "query heads (default: by the family's usual width of a head)"},
    {"--n-kv-head", &ModelSizes::n_kv_head,
     "heads of keys and values (default: by the family, most as many as query heads)"},
    {"--d-head", &ModelSizes::d_head, "width of a head"},
    {"--d-ff", &ModelSizes::d_ff, "width of the feed-forward part (default: by the family's rule)"},
    {"--vocab-size", &ModelSizes::vocab_size, "rows of the embedding"},
    {"--n-ctx", &ModelSizes::n_ctx, "longest text the model is made for"},
    {"--n-expert", &ModelSizes::n_expert, "experts of a layer"},
    {"--n-expert-used", &ModelSizes::n_expert_used, "experts that a token passes"},
    {"--d-ff-expert", &ModelSizes::d_ff_expert, "width of an expert"},
});

// A message that CLI11 puts behind the option's name.
std::string refusal(const Error& error) { return error.message; }

std::string check_format(std::string& text) {
  const auto format = parse_weight_format(text);
  return format ? std::string() : refusal(format.error());
}

CLI::Option* add_format(CLI::App& app, const std::string& name, std::optional<WeightFormat>& format,
                        const std::string& help) {
  const auto set = [&format](const std::string& text) { format = parse_weight_format(text).value_or(kBf16Weights); };
  return app.add_option_function<std::string>(name, set, help)->check(CLI::Validator(check_format, ""));
}

void add_size_options(CLI::App& app, PlanOptions& o) {
  const char* kGroup = "A model of sizes alone";
  auto* arch =
      app.add_option("--arch", o.arch, fmt::format("family, in place of MODEL: {}", sized_families()))->group(kGroup);
  for (const ModelSizeOption& option : kModelSizeOptions) {
    app.add_option(option.name, o.sizes.*option.size, option.help)->needs(arch)->group(kGroup);
  }
  app.add_option("--tied", o.sizes.is_tied, "the head is the embedding: true or false (default: as the family)")
      ->needs(arch)
      ->group(kGroup);
}

void add_inference_options(CLI::App& app, PlanOptions& o) {
  const char* kGroup = "Inference";
  add_size_option(app, "--context", o.n_ctx, kPositions, parse_positions,
                  "positions of each sequence, like 4096 or 32k (k = 1024; default: the model's, at most 4096)")
      ->group(kGroup);
  add_size_option(app, "--users,--batch", o.n_sequences, kRows, parse_positions,
                  "sequences at once, each with its own context (1)")
      ->group(kGroup);
  add_size_option(app, "--prompt", o.n_prompt, kPositions, parse_positions,
                  "positions of a prompt (default: all of the context)")
      ->group(kGroup);
  add_size_option(app, "--chunk", o.n_chunk, kRows, parse_positions,
                  "rows that a pass takes at most; longer prompts go in pieces (256; on a GPU 2048)")
      ->group(kGroup);
  add_size_option(app, "--source", o.n_source, kPositions, parse_positions,
                  "positions of the source text of an encoder-decoder (default: the context)")
      ->group(kGroup);
  add_format(app, "--weights", o.weights,
             fmt::format("type of the weights (default: the file's; bf16): {}", weight_format_names()))
      ->group(kGroup);
  add_format(app, "--embeddings", o.embeddings,
             "type of embedding and head (default: bf16, as quantised models keep them; f32 with f32 weights)")
      ->group(kGroup);
  add_cache_type_option(app, o.cache_type, false);
  add_window_cache_option(app, o.keeps_only_windows);
  app.add_option_function<std::string>(
         "--mla", [&o](const std::string& form) { o.is_latent_expanded = form == "expanded"; },
         "what latent attention caches: latent vectors, or expanded to keys and values of every head (latent)")
      ->check(CLI::IsMember({"latent", "expanded"}))
      ->group("Memory");
  app.add_option("--page-size", o.page_size, "positions in a cache page, a multiple of 8")
      ->capture_default_str()
      ->check(at_least(1))
      ->group("Memory");
  app.add_option("--threads", o.n_threads, "threads of this engine, which have buffers of their own")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024))
      ->group("Memory");
  app.add_option_function<std::string>(
         "--engine",
         [&o](const std::string& name) { o.engine = name == "gpu" ? EngineKind::kHalf : EngineKind::kVitro; },
         "whose memory: vitro (this engine, exact) or gpu (16-bit activations, attention in tiles; the default with "
         "--gpu)")
      ->check(CLI::IsMember({"vitro", "gpu"}))
      ->group("Memory");
  app.add_flag("--naive", o.shows_naive, "attention that keeps its n x n matrix, beside attention in tiles, 1K to 32K")
      ->group("Memory");
}

void add_question_options(CLI::App& app, PlanOptions& o) {
  const char* kGroup = "Questions";
  auto* gpu =
      app.add_option(
             "--gpu,--device", o.device,
             "a device of the catalogue, like h100-80g, or 'this' machine as bench measured it: times and what fits")
          ->group(kGroup);
  add_size_option(app, "--count", o.n_devices, kRows, parse_positions,
                  "so many devices, weights and heads split over them")
      ->needs(gpu)
      ->group(kGroup);
  app.add_option("--devices", o.device_file, "a catalogue of your own, in the form of data/devices.json")
      ->needs(gpu)
      ->group(kGroup);
  add_size_option(app, "--fit", o.budget, {}, parse_bytes,
                  "what fits into so many bytes, like 24GiB or 24GB: longest context, most users, best weights")
      ->group(kGroup);
  const auto set_formats = [&o](const std::vector<std::string>& names) {
    for (const std::string& name : names) o.other_weights.push_back(parse_weight_format(name).value_or(kBf16Weights));
  };
  app.add_option_function<std::vector<std::string>>("--compare-weights", set_formats,
                                                    "other types of the weights to put beside, with commas")
      ->delimiter(',')
      ->check(CLI::Validator(check_format, ""))
      ->group(kGroup);
  app.add_flag("--compare", o.is_compared, "several MODELs beside each other")->group(kGroup);
}

void add_output_options(CLI::App& app, PlanOptions& o) {
  const char* kGroup = "Output";
  auto* json = app.add_flag("--json", o.is_json, "one JSON object, as docs/plan.schema.json says")->group(kGroup);
  app.add_flag("--explain", o.is_explained, "the arithmetic behind every figure, with the model's numbers")
      ->excludes(json)
      ->group(kGroup);
  auto* svg = app.add_option("--svg", o.svg, "also draw the memory, and the roofline of a device, into this file")
                  ->excludes(app.get_option("--compare"))
                  ->group(kGroup);
  app.add_flag("--force", o.may_replace, "with --svg: replace a file that exists")->needs(svg)->group(kGroup);
}

}  // namespace

std::span<const ModelSizeOption> model_size_options() { return kModelSizeOptions; }

CLI::Option* add_size_option(CLI::App& app, const std::string& name, int64_t& value, SizeRange range,
                             Result<int64_t> (*parse)(std::string_view), const std::string& help) {
  const auto check = [parse, range](std::string& text) -> std::string {
    const auto parsed = parse(text);
    if (!parsed) return refusal(parsed.error());
    if (*parsed < range.least) return fmt::format("'{}', expected {} or more", text, range.least);
    return range.most > 0 && *parsed > range.most ? fmt::format("'{}', expected at most {}", text, range.most) : "";
  };
  return app
      .add_option_function<std::string>(
          name, [&value, parse](const std::string& text) { value = parse(text).value_or(0); }, help)
      ->check(CLI::Validator(check, ""));
}

void add_plan_options(CLI::App& app, PlanOptions& options) {
  app.add_option("MODEL", options.models,
                 "a Hugging Face folder, a config.json, a .gguf file (its beginning is enough) or a model's name; no "
                 "weights needed");
  add_pull_flag(app, options.search, "MODEL");
  add_size_options(app, options);
  add_inference_options(app, options);
  add_question_options(app, options);
  add_output_options(app, options);
}

Status check_options(const PlanOptions& options, const ModelConfig& config) {
  if (options.n_source > 0 && config.kind != ModelKind::kEncoderDecoder) {
    return fail(ErrorCode::kInvalidArgument, "--source: {} has no encoder that reads a source; --context is its text",
                config.family);
  }
  const bool is_latent = std::any_of(config.blocks.begin(), config.blocks.end(),
                                     [](const BlockSpec& block) { return block.attn.kv_lora_rank > 0; });
  if (!options.is_latent_expanded || is_latent) return {};
  return fail(ErrorCode::kInvalidArgument, "--mla: {} has no latent attention", config.family);
}

}  // namespace vitro
