#include "cli/plan_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/human.h"
#include "cli/plan_device.h"
#include "cli/plan_fits.h"
#include "cli/plan_inference.h"
#include "plan/training_choices.h"

namespace vitro {
namespace {

TrainingSpec training_spec(const ModelConfig& config, const PlanOptions& options, const TrainOptions& train) {
  TrainingSpec spec = train.spec;
  const InferenceQuestion question = inference_question(config, options);
  spec.shape.seq_len = question.shape.session.n_ctx;
  spec.shape.n_source = question.shape.n_source;
  spec.shape.micro_batch = options.n_sequences;
  spec.policy.is_tiled = !options.shows_naive;
  return spec;
}

std::string layout_words(const ParallelLayout& layout) {
  if (layout.n_devices() == 1) return "one device";
  std::string words = fmt::format("{} devices = {} data x {} tensor x {} pipeline", human_count(layout.n_devices()),
                                  layout.data, layout.tensor, layout.pipeline);
  if (layout.expert > 1) words += fmt::format(", experts over {}", layout.expert);
  if (layout.zero_stage > 0) words += fmt::format(", ZeRO {}", layout.zero_stage);
  return words;
}

std::string training_line(const TrainingSpec& spec) {
  const TrainingShape& shape = spec.shape;
  std::string line =
      fmt::format("training, {}; {} x {} positions", spec.recipe.name, shape.micro_batch, human_count(shape.seq_len));
  if (shape.n_micro_batches > 1) line += fmt::format(" x {} micro-batches", shape.n_micro_batches);
  if (spec.lora) line += fmt::format("; LoRA of rank {} on {}", spec.lora->rank, spec.lora->base.name);
  return line + fmt::format("; attention {}, recomputation {}, loss {}; {}",
                            spec.policy.is_tiled ? "in tiles" : "naive", recomputation_name(spec.policy.recomputation),
                            loss_kind_name(spec.policy.loss), layout_words(spec.layout));
}

// The types of the weights in products.
WeightFormat compute_format(const TrainingSpec& spec) {
  return spec.recipe.weight_bytes == kF32Weights.block_bytes ? kF32Weights : kBf16Weights;
}

double per_parameter(int64_t n_bytes, int64_t n) {
  return static_cast<double>(n_bytes) / static_cast<double>(std::max<int64_t>(n, 1));
}

// ---- memory ----

PlanSection memory_section(const TrainingPlan& plan, const TrainingSpec& spec) {
  std::string note = fmt::format(
      "States of the whole model: {} = {:.2f} B a parameter. {} of {} parameters are trained.",
      decimal_text(static_cast<double>(plan.states.amount), "B"), per_parameter(plan.states.amount, plan.n_parameters),
      human_count(plan.n_trained), human_count(plan.n_parameters));
  for (const PlanItem& phase : plan.phases) {
    if (&phase == &plan.phases.front()) note += fmt::format(" Worst at {}:", plan.phases[plan.peak].name);
    note += fmt::format(" {} {}{}", phase.name, decimal_text(static_cast<double>(phase.amount), "B"),
                        &phase == &plan.phases.back() ? "." : ",");
  }
  if (spec.layout.pipeline > 1) note += fmt::format(" Stage {} of the pipeline holds the most.", plan.stage);
  return {.id = "memory",
          .title = "Who ate the memory?",
          .unit = PlanUnit::kBytes,
          .item = plan.phases[plan.peak],
          .note = note,
          .is_drawn = true,
          .depth = 1};
}

PlanSection hidden_section(std::string id, std::string title, PlanItem item, PlanUnit unit = PlanUnit::kBytes) {
  return {.id = std::move(id), .title = std::move(title), .unit = unit, .item = std::move(item), .is_on_screen = false};
}

PlanTable phase_table(const TrainingPlan& plan) {
  PlanTable table{.id = "phases",
                  .title = "Moment by moment",
                  .certainty = Certainty::kEstimated,
                  .columns = {{"phase", "moment", true},
                              {"bytes", "bytes"},
                              {"largest", "most of it", true},
                              {"largest_bytes", "bytes"}},
                  .is_on_screen = false};
  for (const PlanItem& phase : plan.phases) {
    if (phase.parts.empty()) continue;
    const PlanItem& most = largest_part(phase);
    table.rows.push_back(
        {text_cell(phase.name), bytes_cell(phase.amount), text_cell(most.name), bytes_cell(most.amount)});
  }
  return table;
}

// ---- other choices ----

// Choices that the model or the layout cannot have are left out.
PlanTable choice_table(const PlanModel& model, const TrainingSpec& asked) {
  PlanTable table{.id = "choices",
                  .title = "What another choice would need",
                  .certainty = Certainty::kEstimated,
                  .columns = {{"choice", "", true},
                              {"states_bytes", "states"},
                              {"states_bytes_a_parameter", "B/par."},
                              {"activation_bytes", "activations"},
                              {"peak_bytes", "peak"},
                              {"peak_phase", "at", true}}};
  for (const TrainingChoice& choice : training_choices(asked)) {
    const auto plan = plan_training(model.config, model.slots, choice.spec);
    if (!plan) continue;
    table.rows.push_back({text_cell(choice.name), bytes_cell(plan->states.amount),
                          real_cell(per_parameter(plan->states.amount, plan->n_parameters), 2),
                          bytes_cell(plan->activations.amount), bytes_cell(plan->n_bytes()),
                          text_cell(plan->phases[plan->peak].name)});
  }
  return table;
}

// ---- time ----

std::string figure_text(const TrainingFigure& figure) {
  if (figure.unit == "s") return seconds_cell(figure.value).text;
  std::string number = fmt::format("{:.4g}", figure.value);
  if (figure.value >= 1000) number = human_count(std::llround(std::min(figure.value, 1e18)));
  if (figure.value >= 1e6) number = decimal_text(figure.value, "");
  return figure.unit.empty() ? number : number + " " + figure.unit;
}

PlanTable figure_table(const std::vector<TrainingFigure>& figures, std::string title) {
  PlanTable table{.id = "time",
                  .title = std::move(title),
                  .certainty = Certainty::kEstimated,
                  .columns = {{"figure", "", true}, {"value", ""}, {"unit", "", true, false}, {"formula", "", true}}};
  for (const TrainingFigure& figure : figures) {
    table.rows.push_back({text_cell(figure.name),
                          {figure_text(figure), Value(figure.value)},
                          text_cell(figure.unit),
                          text_cell("= " + figure.formula)});
    table.formulas.push_back(fmt::format("{} = {} = {}", figure.name, figure.formula, figure.arithmetic));
  }
  return table;
}

std::vector<TrainingFigure> work_figures(const TrainingWork& work) {
  return {{"FLOPs a token", "", work.flops_per_token(), "FLOPs a sequence / tokens",
           fmt::format("{} / {:g}", human_count(work.model.amount), work.n_tokens)},
          {"FLOPs a step", "", work.flops_per_step(), "FLOPs a sequence x sequences",
           fmt::format("{:.6g} x {:g}", static_cast<double>(work.model.amount), work.n_sequences)}};
}

Status add_time(const PlanModel& model, const TrainingSpec& spec, const PlanOptions& options, const TrainOptions& train,
                PlanReport* report) {
  const PlannedWeights weights = planned_weights(model, options, compute_format(spec), EngineKind::kHalf);
  VITRO_TRY_ASSIGN(const TrainingWork work, training_work(model.config, model.slots, spec, train.convention));
  report->sections.push_back(hidden_section("flops", "FLOPs of a sequence", work.model, PlanUnit::kFlops));
  report->sections.push_back(hidden_section("flops_executed", "FLOPs of a sequence, with what is computed again",
                                            work.hardware, PlanUnit::kFlops));
  VITRO_TRY_ASSIGN(const std::optional<PlanDevice> device, find_plan_device(model, options, weights));
  const std::string counted = fmt::format("FLOPs counted {}", flops_convention_name(train.convention));
  if (!device) {
    report->tables.push_back(figure_table(work_figures(work), fmt::format("{}; --gpu NAME gives times", counted)));
    return {};
  }
  add_device_lines(*device, report);
  report->sections[0].budget = plan_budget(options, device);
  if (!device->can_time()) {
    report->tables.push_back(figure_table(work_figures(work), counted));
    return {};
  }
  const Device& d = device->bound.device;
  const TrainingBudget budget{.peak_flops = d.peak(device->bound.compute).value,
                              .watts = d.board_power.value,
                              .pue = train.pue,
                              .mfu = train.mfu,
                              .n_tokens = static_cast<double>(train.n_tokens)};
  VITRO_TRY_ASSIGN(const TrainingTime time, training_time(work, spec.layout, spec.shape, budget));
  report->tables.push_back(
      figure_table(time.figures, fmt::format("{}, MFU {:g} and PUE {:g} assumed", counted, train.mfu, train.pue)));
  return {};
}

Value question_json(const PlanModel& model, const TrainingSpec& spec, const PlanOptions& options,
                    const TrainOptions& train) {
  const ParallelLayout& layout = spec.layout;
  return Value(Value::Object{{"kind", Value(std::string("training"))},
                             {"model", Value(model.name)},
                             {"family", Value(model.config.family)},
                             {"sizes", sizes_json(options)},
                             {"recipe", Value(std::string(spec.recipe.name))},
                             {"context", Value(spec.shape.seq_len)},
                             {"micro_batch", Value(spec.shape.micro_batch)},
                             {"micro_batches", Value(spec.shape.n_micro_batches)},
                             {"recomputation", Value(std::string(recomputation_name(spec.policy.recomputation)))},
                             {"loss", Value(std::string(loss_kind_name(spec.policy.loss)))},
                             {"lora_rank", spec.lora ? Value(spec.lora->rank) : Value()},
                             {"data", Value(layout.data)},
                             {"tensor", Value(layout.tensor)},
                             {"pipeline", Value(layout.pipeline)},
                             {"expert", Value(layout.expert)},
                             {"zero", Value(layout.zero_stage)},
                             {"gather", Value(std::string(zero_unit_name(layout.zero_unit)))},
                             {"interleave", Value(layout.n_chunks)},
                             {"sequence_parallel", Value(layout.is_sequence_parallel)},
                             {"source", Value(spec.shape.n_source)},
                             {"tiled_attention", Value(spec.policy.is_tiled)},
                             {"layers_per_checkpoint", Value(spec.policy.layers_per_checkpoint)},
                             {"recompute_product", Value(spec.policy.recomputes_product)},
                             {"recompute_norms", Value(spec.policy.recomputes_norms)},
                             {"dropout", Value(spec.policy.has_dropout)},
                             {"loss_rows", Value(spec.policy.loss_rows)},
                             {"lora_targets", spec.lora ? Value(lora_target_names(spec.lora->targets)) : Value()},
                             {"lora_base", spec.lora ? Value(std::string(spec.lora->base.name)) : Value()},
                             {"flops", Value(std::string(flops_convention_name(train.convention)))},
                             {"mfu", Value(train.mfu)},
                             {"pue", Value(train.pue)},
                             {"device", Value(options.device)},
                             {"device_file", Value(options.device_file)},
                             {"budget_bytes", Value(options.budget)},
                             {"tokens", Value(train.n_tokens)}});
}

}  // namespace

Result<PlanReport> training_report(const PlanModel& model, const PlanOptions& options, const TrainOptions& train) {
  const TrainingSpec spec = training_spec(model.config, options, train);
  VITRO_TRY_ASSIGN(const TrainingPlan plan, plan_training(model.config, model.slots, spec));
  PlanReport report{.title = model.name, .question = question_json(model, spec, options, train)};
  const PlannedWeights weights = planned_weights(model, options, compute_format(spec), EngineKind::kHalf);
  report.heads = {model_line(model, weights.plan), training_line(spec)};
  report.sections = {memory_section(plan, spec),
                     hidden_section("states", "States of the whole model on one device", plan.states),
                     hidden_section("rank_states", "States of the most loaded device", plan.rank_states),
                     hidden_section("activations", "Activations kept at the end of the forward", plan.activations)};
  report.figures = {{"trained_parameters", Value(plan.n_trained)}, {"stage", Value(plan.stage)}};
  report.sections[0].budget = plan_budget(options, std::nullopt);
  report.tables = {phase_table(plan), choice_table(model, spec)};
  VITRO_TRY(add_time(model, spec, options, train, &report));
  return report;
}

}  // namespace vitro
