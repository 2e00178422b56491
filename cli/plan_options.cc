#include "cli/plan_options.h"

#include <fmt/core.h>

#include <functional>

#include "base/human.h"
#include "cli/options.h"

namespace vitro {
namespace {

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

void add_inference_options(CLI::App& app, PlanOptions& o) {
  const char* kGroup = "Inference";
  add_size_option(app, "--context", o.n_ctx, 1, parse_positions,
                  "positions of each sequence, like 4096 or 32k (k = 1024; default: the model's, at most 4096)")
      ->group(kGroup);
  add_size_option(app, "--users,--batch", o.n_sequences, 1, parse_positions,
                  "sequences at once, each with its own context (1)")
      ->group(kGroup);
  add_size_option(app, "--prompt", o.n_prompt, 1, parse_positions,
                  "positions of a prompt (default: all of the context)")
      ->group(kGroup);
  add_size_option(app, "--chunk", o.n_chunk, 1, parse_positions,
                  "rows that a pass takes at most; longer prompts go in pieces (256; on a GPU 2048)")
      ->group(kGroup);
  add_size_option(app, "--source", o.n_source, 1, parse_positions,
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
      app.add_option("--gpu,--device", o.device, "a device of the catalogue, like h100-80g: times and what fits")
          ->group(kGroup);
  add_size_option(app, "--count", o.n_devices, 1, parse_positions, "so many devices, weights and heads split over them")
      ->needs(gpu)
      ->group(kGroup);
  app.add_option("--devices", o.device_file, "a catalogue of your own, in the form of data/devices.json")
      ->group(kGroup);
  add_size_option(app, "--fit", o.budget, 1, parse_bytes,
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
                  ->group(kGroup);
  app.add_flag("--force", o.may_replace, "with --svg: replace a file that exists")->needs(svg)->group(kGroup);
}

}  // namespace

CLI::Option* add_size_option(CLI::App& app, const std::string& name, int64_t& value, int64_t least,
                             Result<int64_t> (*parse)(std::string_view), const std::string& help) {
  const auto check = [parse, least](std::string& text) -> std::string {
    const auto parsed = parse(text);
    if (!parsed) return refusal(parsed.error());
    return *parsed >= least ? "" : fmt::format("'{}', expected {} or more", text, least);
  };
  return app
      .add_option_function<std::string>(
          name, [&value, parse](const std::string& text) { value = parse(text).value_or(0); }, help)
      ->check(CLI::Validator(check, ""));
}

void add_plan_options(CLI::App& app, PlanOptions& options) {
  app.add_option("MODEL", options.models,
                 "a Hugging Face folder, a config.json, or a .gguf file (its beginning is enough); no weights needed");
  add_inference_options(app, options);
  add_question_options(app, options);
  add_output_options(app, options);
}

}  // namespace vitro
