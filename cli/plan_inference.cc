#include "cli/plan_inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/human.h"
#include "base/saturating.h"
#include "cli/options.h"
#include "cli/plan_device.h"
#include "cli/plan_lengths.h"
#include "cli/plan_serving.h"
#include "model/module_tree.h"
#include "model/words.h"
#include "plan/component.h"
#include "plan/fit.h"

namespace vitro {
namespace {

std::string shape_line(const PlanModel& model, const PlannedWeights& weights, const InferenceQuestion& question) {
  const SessionShape& s = question.shape.session;
  const bool is_ours = question.shape.engine == EngineKind::kVitro;
  std::string line = fmt::format("{} weights", weights.words);
  if (model.config.kind != ModelKind::kEncoder) line += fmt::format(", {} cache", question.options.cache_type);
  line += fmt::format("; {} of {}", plural(s.n_sequences, "sequence"), human_count(s.n_ctx));
  if (question.shape.n_source > 0) line += fmt::format(", source of {}", human_count(question.shape.n_source));
  return line + fmt::format("; passes of {}; {}", human_count(s.n_batch), is_ours ? "this engine" : "a 16-bit engine");
}

// ---- memory ----

std::string cache_note(const PlanModel& model, const InferencePlan& plan, const InferenceQuestion& question) {
  if (plan.cache_bytes_per_token == 0) return "";
  const int64_t n_layer = model.config.n_layer();
  const bool is_even = plan.cache_bytes_per_token % n_layer == 0;
  std::string note = fmt::format("A token costs {} B of cache", human_count(plan.cache_bytes_per_token));
  if (is_even) note += fmt::format(" ({} B a layer)", human_count(plan.cache_bytes_per_token / n_layer));
  if (is_beyond_training(model.config, question.shape.session.n_ctx)) {
    note += fmt::format("; the context is beyond the {} the model is made for", human_count(model.config.n_ctx));
  }
  return note + ".";
}

PlanSection memory_section(const PlanModel& model, const InferencePlan& plan, const InferenceQuestion& question) {
  const int64_t logit_bytes = sat_mul(question.shape.session.n_logits, model.config.vocab_size, int64_t{4});
  std::string note = cache_note(model, plan, question);
  note += fmt::format("{}Activations peak at {}, most of it {}; {} of logits, {}, {}.", note.empty() ? "" : " ",
                      plan.peak_step, plan.peak_buffer, plural(question.shape.session.n_logits, "row"),
                      decimal_text(static_cast<double>(logit_bytes), "B"),
                      plan.peak_step == "head" ? "among them" : "later, in the same bytes");
  return {.id = "memory",
          .title = "Who ate the memory?",
          .unit = PlanUnit::kBytes,
          .item = plan.memory,
          .note = note,
          .is_drawn = true};
}

// ---- parameters ----

// Parameters of a layer by group.
using GroupSums = std::map<std::string_view, int64_t>;

// "attention 67,108,864 + feed-forward 135,266,304 + norms 8,192 = 202,383,360".
std::string sum_words(const GroupSums& sums) {
  std::vector<std::pair<std::string_view, int64_t>> groups(sums.begin(), sums.end());
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  int64_t total = 0;
  std::string out;
  for (const auto& [group, n] : groups) {
    total = sat_add(total, n);
    out += fmt::format("{}{} {}", out.empty() ? "" : " + ", group, human_count(n));
  }
  return fmt::format("{} = {}", out, human_count(total));
}

// Of every layer, in one pass over the slots.
std::vector<GroupSums> layer_sums(const PlanModel& model) {
  std::vector<GroupSums> layers(model.config.blocks.size());
  for (const TensorSlot& slot : model.slots) {
    const auto component = component_of(slot.name);
    const SlotPlace place = place_of(slot.name);
    if (slot.is_optional || !component || place.is_encoder || place.layer < 0) continue;
    int64_t& sum = layers[static_cast<size_t>(place.layer)][component_group(*component)];
    sum = sat_add(sum, slot.shape.n_elements());
  }
  return layers;
}

// Layers of the same sum in one line, in order of first use.
std::vector<std::string> layer_lines(const PlanModel& model) {
  const std::vector<GroupSums> sums = layer_sums(model);
  std::map<GroupSums, std::vector<int64_t>> layers;
  std::vector<const GroupSums*> order;
  for (size_t i = 0; i < sums.size(); ++i) {
    std::vector<int64_t>& same = layers[sums[i]];
    if (same.empty()) order.push_back(&sums[i]);
    same.push_back(static_cast<int64_t>(i));
  }
  std::vector<std::string> lines;
  for (const GroupSums* sum : order)
    lines.push_back(fmt::format("Each of layers {}: {}.", layer_ranges(layers[*sum]), sum_words(*sum)));
  return lines;
}

PlanSection parameter_section(const PlanModel& model, const WeightsPlan& weights) {
  PlanSection section{.id = "parameters",
                      .title = "Parameters",
                      .unit = PlanUnit::kParameters,
                      .item = parameter_item(weights),
                      .is_on_screen = false};
  for (const std::string& line : layer_lines(model)) section.note += line + " ";
  const ComponentWeights total = weights.total();
  if (total.n_active < total.n_parameters) {
    section.note += fmt::format("A token passes {} parameters.", human_count(total.n_active));
  }
  return section;
}

Value question_json(const PlanModel& model, const PlannedWeights& weights, const InferenceQuestion& question) {
  const SessionShape& s = question.shape.session;
  Value::Array others;
  for (const WeightFormat& format : question.options.other_weights) others.emplace_back(format_name(format));
  return Value(Value::Object{
      {"kind", Value(std::string("inference"))},
      {"model", Value(model.name)},
      {"family", Value(model.config.family)},
      {"sizes", sizes_json(question.options)},
      {"engine", Value(std::string(question.shape.engine == EngineKind::kVitro ? "vitro" : "gpu"))},
      {"weights", Value(weights.words)},
      {"embeddings", question.options.embeddings ? Value(format_name(*question.options.embeddings)) : Value()},
      {"compare_weights", Value(std::move(others))},
      {"cache_type", Value(question.options.cache_type)},
      {"context", Value(s.n_ctx)},
      {"users", Value(s.n_sequences)},
      {"prompt", Value(question.n_prompt)},
      {"rows_of_a_pass", Value(s.n_batch)},
      {"page_size", Value(s.page_size)},
      {"source", Value(question.shape.n_source)},
      {"threads", Value(int64_t{s.n_threads})},
      {"window_cache", Value(s.keeps_only_windows)},
      {"mla", Value(std::string(question.shape.is_latent_expanded ? "expanded" : "latent"))},
      {"naive", Value(question.options.shows_naive)},
      {"device", Value(question.options.device)},
      {"device_file", Value(question.options.device_file)},
      {"devices", Value(question.options.n_devices)},
      {"budget_bytes", Value(question.options.budget)}});
}

}  // namespace

InferenceQuestion inference_question(const ModelConfig& config, const PlanOptions& options) {
  InferenceQuestion question{.options = options};
  SessionShape& s = question.shape.session;
  question.shape.engine = options.engine.value_or(
      options.device.empty() || is_this_machine(options.device) ? EngineKind::kVitro : EngineKind::kHalf);
  const int64_t most = std::min(config.n_ctx > 0 ? config.n_ctx : kDefaultContext, n_reachable(config));
  s.n_ctx = options.n_ctx > 0 ? options.n_ctx : std::min(most, kDefaultContext);
  s.n_sequences = options.n_sequences;
  const int64_t n_chunk = question.shape.engine == EngineKind::kVitro ? SessionShape{}.n_batch : kGpuChunk;
  s.n_batch = options.n_chunk > 0 ? options.n_chunk : n_chunk;
  s.n_logits = s.n_sequences;
  s.page_size = options.page_size;
  s.cache_type = cache_type_from_name(options.cache_type).value_or(CacheType::kF16);
  s.keeps_only_windows = options.keeps_only_windows;
  s.n_threads = options.n_threads;
  question.shape.is_latent_expanded = options.is_latent_expanded;
  if (config.kind == ModelKind::kEncoderDecoder) {
    question.shape.n_source = options.n_source > 0 ? options.n_source : s.n_ctx;
  }
  question.n_prompt = std::min(options.n_prompt > 0 ? options.n_prompt : s.n_ctx, s.n_ctx);
  return question;
}

std::string model_line(const PlanModel& model, const WeightsPlan& weights) {
  const ModelConfig& config = model.config;
  const ComponentWeights total = weights.total();
  std::string line = fmt::format("{}: {} parameters", model.name, human_count(total.n_parameters));
  if (total.n_active < total.n_parameters) line += fmt::format(", {} active", human_count(total.n_active));
  return line + fmt::format("; {} of width {}, {}, {}", plural(config.n_layer(), "layer"), human_count(config.d_model),
                            attention_kind(config), position_kind(config));
}

Result<PlanReport> inference_report(const PlanModel& model, const PlanOptions& options) {
  const InferenceQuestion question = inference_question(model.config, options);
  const PlannedWeights weights = planned_weights(model, options, options.weights, question.shape.engine);
  VITRO_TRY(check_amounts(parameter_item(weights.plan), "parameters"));
  VITRO_TRY_ASSIGN(const InferencePlan plan, plan_inference(model.config, weights.plan, question.shape));
  PlanReport report{.title = model.name, .question = question_json(model, weights, question)};
  report.heads = {model_line(model, weights.plan), shape_line(model, weights, question)};
  report.sections = {parameter_section(model, weights.plan), memory_section(model, plan, question)};
  report.figures = {{"cache_bytes_per_token", Value(plan.cache_bytes_per_token)},
                    {"active_parameters", Value(weights.plan.total().n_active)},
                    {"peak_step", Value(std::string(plan.peak_step))},
                    {"peak_buffer", Value(std::string(plan.peak_buffer))}};
  if (options.shows_naive) add_lengths(model, weights.plan, &report);
  VITRO_TRY(add_serving(model, weights, question, &report));
  return report;
}

}  // namespace vitro
