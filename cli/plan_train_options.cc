#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <string>

#include "base/human.h"
#include "cli/options.h"
#include "cli/plan_options.h"
#include "cli/plan_training.h"

namespace vitro {
namespace {

// An option whose text a parser of ours turns into a value, its message behind the option's name.
template <class T>
CLI::Option* add_parsed(CLI::App& app, const std::string& name, Result<T> (*parse)(std::string_view),
                        std::function<void(const T&)> set, const std::string& help) {
  const auto check = [parse](std::string& text) -> std::string {
    const auto parsed = parse(text);
    return parsed ? std::string() : parsed.error().message;
  };
  const auto take = [parse, set = std::move(set)](const std::string& text) {
    if (const auto parsed = parse(text)) set(*parsed);
  };
  return app.add_option_function<std::string>(name, take, help)->check(CLI::Validator(check, ""));
}

// ---- what is trained, and how ----

void add_recipe_options(CLI::App& app, TrainOptions& o, CLI::Option* train, const char* group) {
  o.spec.recipe = parse_train_recipe("adamw-bf16").value_or(TrainRecipe{});
  add_parsed<TrainRecipe>(
      app, "--recipe", parse_train_recipe, [&o](const TrainRecipe& recipe) { set_recipe(recipe, &o.spec); },
      fmt::format("optimizer and types of its states (adamw-bf16): {}", train_recipe_names()))
      ->needs(train)
      ->group(group);
  add_size_option(app, "--accumulate", o.spec.shape.n_micro_batches, {}, parse_positions,
                  "micro-batches of --batch sequences that a step sums up (1)")
      ->needs(train)
      ->group(group);
  add_parsed<Recomputation>(
      app, "--recompute", parse_recomputation,
      [&o](const Recomputation& recomputation) { o.spec.policy.recomputation = recomputation; },
      "activations that the backward pass makes again: none, selective or full (none)")
      ->needs(train)
      ->group(group);
  add_size_option(app, "--checkpoint-layers", o.spec.policy.layers_per_checkpoint, {}, parse_positions,
                  "with --recompute full: layers from one kept input to the next (1)")
      ->needs(train)
      ->group(group);
  auto* loss = add_parsed<LossKind>(
                   app, "--loss", parse_loss_kind, [&o](const LossKind& kind) { o.spec.policy.loss = kind; },
                   "what the loss keeps of the logits: naive, shared, in-place-f32, in-place or chunked (naive)")
                   ->needs(train)
                   ->group(group);
  add_size_option(app, "--loss-rows", o.spec.policy.loss_rows, {}, parse_positions,
                  "with --loss chunked: rows of logits at a time (1024)")
      ->needs(loss)
      ->group(group);
  app.add_flag("--recompute-product", o.spec.policy.recomputes_product,
               "make the input of the down projection again, as fused SwiGLU kernels do")
      ->needs(train)
      ->group(group);
  app.add_flag("--recompute-norms", o.spec.policy.recomputes_norms,
               "make the outputs of the norms again, as fused norms do")
      ->needs(train)
      ->group(group);
  app.add_flag("--dropout", o.spec.policy.has_dropout, "keep the masks of dropout")->needs(train)->group(group);
}

LoraSpec& lora_of(TrainOptions& o) { return o.spec.lora ? *o.spec.lora : o.spec.lora.emplace(); }

void add_lora_options(CLI::App& app, TrainOptions& o, CLI::Option* train, const char* group) {
  auto* lora = app.add_option_function<int64_t>(
                      "--lora", [&o](const int64_t& rank) { lora_of(o).rank = rank; },
                      "train adapters of this rank instead of the weights")
                   ->check(at_least(1))
                   ->needs(train)
                   ->group(group);
  add_parsed<LoraTargets>(
      app, "--lora-targets", parse_lora_targets, [&o](const LoraTargets& targets) { lora_of(o).targets = targets; },
      "matrices that get adapters: q, k, v, o, gate, up, down with commas, or all (q,v)")
      ->needs(lora)
      ->group(group);
  add_parsed<WeightFormat>(
      app, "--lora-base", parse_weight_format, [&o](const WeightFormat& format) { lora_of(o).base = format; },
      "type of the frozen matrices (bf16); nf4-dq: QLoRA")
      ->needs(lora)
      ->group(group);
}

// ---- on how many devices ----

void add_layout_options(CLI::App& app, TrainOptions& o, CLI::Option* train, const char* group) {
  ParallelLayout& layout = o.spec.layout;
  const auto add = [&](const char* name, int64_t& value, const char* help) {
    add_size_option(app, name, value, {}, parse_positions, help)->needs(train)->group(group);
  };
  add("--dp", layout.data, "data-parallel ranks (1)");
  add("--tp", layout.tensor, "tensor-parallel ranks (1)");
  add("--pp", layout.pipeline, "stages of the pipeline (1)");
  add("--ep", layout.expert, "ranks that share the experts, of --dp (1)");
  add("--interleave", layout.n_chunks, "parts of the model on each stage of the pipeline (1)");
  app.add_flag("--sequence-parallel", layout.is_sequence_parallel, "divide norms and residuals by --tp too")
      ->needs(train)
      ->group(group);
  app.add_option("--zero", layout.zero_stage,
                 "what data-parallel ranks share: 1 optimizer, 2 and gradients, 3 and weights")
      ->capture_default_str()
      ->check(CLI::Range(0, 3))
      ->needs(train)
      ->group(group);
  add_parsed<ZeroUnit>(
      app, "--gather", parse_zero_unit, [&layout](const ZeroUnit& unit) { layout.zero_unit = unit; },
      "with --zero 3: what is whole at once, block (FSDP) or tensor (DeepSpeed) (block)")
      ->needs(train)
      ->group(group);
}

void add_time_options(CLI::App& app, TrainOptions& o, CLI::Option* train, const char* group) {
  add_size_option(app, "--tokens", o.n_tokens, {}, parse_amount,
                  "tokens of the whole run, like 2T (10^12) or 300B: days, energy")
      ->needs(train)
      ->group(group);
  app.add_option("--mfu", o.mfu, "share of the device's peak that the model's FLOPs reach, an assumption")
      ->capture_default_str()
      ->check(CLI::Range(1e-4, 1.0))
      ->needs(train)
      ->group(group);
  app.add_option("--pue", o.pue, "power of the building per power of the devices, an assumption")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 10.0))
      ->needs(train)
      ->group(group);
  add_parsed<FlopsConvention>(
      app, "--flops", parse_flops_convention, [&o](const FlopsConvention& convention) { o.convention = convention; },
      "how FLOPs are counted: all-pairs, masked, palm or halved (all-pairs)")
      ->needs(train)
      ->group(group);
}

}  // namespace

void add_train_options(CLI::App& app, TrainOptions& options) {
  const char* kGroup = "Training";
  auto* train = app.add_flag("--train", options.is_training,
                             "plan training: sequences of --context, --batch of them at a time on each rank")
                    ->group(kGroup);
  add_recipe_options(app, options, train, kGroup);
  add_lora_options(app, options, train, kGroup);
  add_layout_options(app, options, train, kGroup);
  add_time_options(app, options, train, kGroup);
  // What training decides itself, or does not have.
  for (const char* name : {"--weights", "--embeddings", "--cache-type", "--window-cache", "--mla", "--page-size",
                           "--threads", "--engine", "--prompt", "--chunk", "--compare-weights", "--count"}) {
    train->excludes(app.get_option(name));
  }
}

}  // namespace vitro
