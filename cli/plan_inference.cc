#include "cli/plan_inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/human.h"
#include "base/saturating.h"
#include "cli/options.h"
#include "cli/plan_serving.h"
#include "model/words.h"

namespace vitro {
namespace {

constexpr int64_t kHalfBytes = 2;

std::string plural(int64_t n, std::string_view one) {
  return fmt::format("{} {}{}", human_count(n), one, n == 1 ? "" : "s");
}

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
  if (question.shape.session.n_ctx > model.config.n_ctx) {
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
  return {.id = "memory", .title = "Who ate the memory?", .unit = PlanUnit::kBytes, .item = plan.memory, .note = note};
}

PlanSection parameter_section(const WeightsPlan& weights) {
  PlanSection section{.id = "parameters",
                      .title = "Parameters",
                      .unit = PlanUnit::kParameters,
                      .item = parameter_item(weights),
                      .is_on_screen = false};
  const ComponentWeights total = weights.total();
  if (total.n_active < total.n_parameters) {
    section.note = fmt::format("A token passes {} of them.", human_count(total.n_active));
  }
  return section;
}

// ---- naive attention ----

const AttentionSpec& widest_attention(const ModelConfig& config) {
  const auto by_heads = [](const BlockSpec& a, const BlockSpec& b) { return a.attn.n_head < b.attn.n_head; };
  return std::max_element(config.blocks.begin(), config.blocks.end(), by_heads)->attn;
}

PlanTable naive_table(const ModelConfig& config) {
  const AttentionSpec& attn = widest_attention(config);
  PlanTable table{.id = "attention_matrix",
                  .title = fmt::format("Attention of one layer and sequence, {}, 16 bits", plural(attn.n_head, "head")),
                  .columns = {{"n", "n"},
                              {"matrix_bytes", "n x n matrix"},
                              {"output_bytes", "in tiles: output"},
                              {"log_sum_exp_bytes", "log-sum-exp"},
                              {"times", "less memory"}}};
  for (int64_t n = 1024; n <= 32768; n *= 2) {
    const PlanItem naive = naive_attention_item(attn, n, kHalfBytes);
    const PlanItem tiled = tiled_attention_item(attn, n, kHalfBytes);
    const auto part = [&](std::string_view name) {
      const PlanItem* item = find_item(tiled, name);
      return item ? item->amount : 0;
    };
    const double times = static_cast<double>(naive.amount) / static_cast<double>(std::max<int64_t>(tiled.amount, 1));
    table.rows.push_back({count_cell(n),
                          binary_cell(naive.amount),
                          binary_cell(part("output")),
                          binary_cell(part("log-sum-exp")),
                          {fmt::format("{:.0f} x", times), Value(times)}});
    if (table.formulas.empty()) {
      table.formulas = {fmt::format("n x n matrix = {} = {}", naive.formula, naive.arithmetic),
                        fmt::format("output = {}", find_item(tiled, "output")->arithmetic),
                        fmt::format("log-sum-exp = {}", find_item(tiled, "log-sum-exp")->arithmetic)};
    }
  }
  table.notes = {
      "Twice the n, four times the matrix; in tiles (FlashAttention) twice. It is there once a layer and"
      " sequence where nothing is kept for a backward pass."};
  return table;
}

Value question_json(const PlanModel& model, const PlannedWeights& weights, const InferenceQuestion& question) {
  const SessionShape& s = question.shape.session;
  return Value(
      Value::Object{{"kind", Value(std::string("inference"))},
                    {"model", Value(model.name)},
                    {"family", Value(model.config.family)},
                    {"engine", Value(std::string(question.shape.engine == EngineKind::kVitro ? "vitro" : "gpu"))},
                    {"weights", Value(weights.words)},
                    {"cache_type", Value(question.options.cache_type)},
                    {"context", Value(s.n_ctx)},
                    {"users", Value(s.n_sequences)},
                    {"prompt", Value(question.n_prompt)},
                    {"rows_of_a_pass", Value(s.n_batch)},
                    {"page_size", Value(s.page_size)}});
}

}  // namespace

InferenceQuestion inference_question(const ModelConfig& config, const PlanOptions& options) {
  InferenceQuestion question{.options = options};
  SessionShape& s = question.shape.session;
  question.shape.engine = options.engine.value_or(options.device.empty() ? EngineKind::kVitro : EngineKind::kHalf);
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
  report.sections = {parameter_section(weights.plan), memory_section(model, plan, question)};
  if (options.shows_naive) report.tables.push_back(naive_table(model.config));
  VITRO_TRY(add_serving(model, weights, question, &report));
  return report;
}

}  // namespace vitro
