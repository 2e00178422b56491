#include "plan/training_time.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <utility>

#include "base/human.h"
#include "base/saturating.h"
#include "plan/find_choice.h"
#include "plan/work.h"

namespace vitro {
namespace {

constexpr auto kConventions = std::to_array<std::string_view>({
#define VITRO_X(name, text, doc) text,
    VITRO_FLOPS_CONVENTIONS(VITRO_X)
#undef VITRO_X
});

constexpr double kSecondsPerHour = 3600.0;
constexpr double kHoursPerDay = 24.0;
constexpr double kWattsPerKilowatt = 1000.0;

bool counts_parameters(FlopsConvention convention) {
  return convention == FlopsConvention::kPalm || convention == FlopsConvention::kHalved;
}

// `times` the forward's FLOPs of the parts that `is_counted` takes.
template <class Times>
PlanItem pass_item(std::string name, const PassWork& forward, FlopsConvention convention, const Times& times) {
  std::vector<PlanItem> parts;
  for (int p = 0; p < kNParts; ++p) {
    const auto part = static_cast<Part>(p);
    const int64_t n = convention == FlopsConvention::kMasked ? forward[part].flops : forward[part].flops_dense;
    PlanItem item = product_item(std::string(part_name(part)), {{"times", times(part)}, {"forward", n}});
    parts.push_back(std::move(item));
  }
  return sum_item(std::move(name), std::move(parts));
}

int64_t recomputed_times(Recomputation recomputation, Part part) {
  if (recomputation == Recomputation::kFull) return part == Part::kHead ? 0 : 1;
  return recomputation == Recomputation::kSelective && part == Part::kScores ? 1 : 0;
}

// Rows of one sequence through the whole model, logits of every row; an encoder alone has none.
PassWork forward_work(const ModelConfig& config, const WeightsPlan& weights, const TrainingShape& shape) {
  const int64_t n_logits = config.kind == ModelKind::kEncoder ? 1 : shape.seq_len;
  return pass_work(
      config, weights,
      {.n_rows = shape.seq_len, .n_logits = n_logits, .n_source = shape.n_source, .has_new_source = shape.n_source > 0},
      {});
}

// Frozen matrices have no gradient of their own: half of the backward's products. Scores have no weights.
std::vector<PlanItem> counted_passes(const PassWork& forward, int64_t n_adapter, const TrainingSpec& spec,
                                     FlopsConvention convention) {
  const bool is_lora = spec.lora.has_value();
  std::vector<PlanItem> parts = {
      pass_item("forward", forward, convention, [](Part) { return 1; }),
      pass_item("backward", forward, convention, [&](Part part) { return is_lora && part != Part::kScores ? 1 : 2; })};
  if (is_lora) {
    parts.push_back(
        product_item("adapters", {{"", 6}, {"adapters' parameters", n_adapter}, {"seq_len", spec.shape.seq_len}}));
  }
  return parts;
}

// 6 N + 12 (or 6) n_layer n_head d_head n for each of n rows.
std::vector<PlanItem> counted_parameters(const ModelConfig& config, const WeightsPlan& weights,
                                         const TrainingShape& shape, FlopsConvention convention) {
  const bool is_halved = convention == FlopsConvention::kHalved;
  int64_t width = 0;
  for (const BlockSpec& block : config.blocks) {
    width = sat_add(width, sat_mul(block.attn.n_head, block.attn.d_head + block.attn.d_head_v));
  }
  const Factor rows{"n", shape.seq_len};
  PlanItem scores =
      product_item("scores", {{"", is_halved ? 3 : 6}, {"sum of n_head x (d_head + d_head_v)", width}, rows, rows});
  scores.kind = ItemKind::kScores;
  return {product_item("parameters", {{"", 6}, {"N", weights.total().n_active}, rows}), std::move(scores)};
}

Status check_convention(const ModelConfig& config, const TrainingSpec& spec, FlopsConvention convention) {
  if (!counts_parameters(convention)) return {};
  if (!spec.lora && config.kind != ModelKind::kEncoderDecoder) return {};
  return fail(ErrorCode::kInvalidArgument, "--flops {}: 6 N does not hold for {}; take {} or {}",
              flops_convention_name(convention), spec.lora ? "adapters" : "encoder-decoders", kConventions[0],
              kConventions[1]);
}

// What runs twice, as a share of what is counted.
PlanItem again_item(const PassWork& forward, const std::vector<PlanItem>& counted, const TrainingSpec& spec,
                    FlopsConvention convention) {
  const Recomputation recomputation = spec.policy.recomputation;
  if (!counts_parameters(convention)) {
    return pass_item("computed again", forward, convention,
                     [&](Part part) { return recomputed_times(recomputation, part); });
  }
  PlanItem item{.name = "computed again", .formula = "a third of what is counted"};
  for (const PlanItem& part : counted) {
    const bool is_again = recomputation == Recomputation::kFull ||
                          (recomputation == Recomputation::kSelective && part.kind == ItemKind::kScores);
    if (is_again) item.amount = sat_add(item.amount, part.amount / 3);
  }
  return item;
}

Status check_positive(std::string_view name, double value, double most) {
  if (std::isfinite(value) && value > 0.0 && value <= most) return {};
  return fail(ErrorCode::kInvalidArgument, "{} {}: must be above 0 and at most {:g}", name, value, most);
}

Status check_budget(const TrainingBudget& budget) {
  constexpr double kMost = 1e30;  // of anything: far above any machine and any text
  VITRO_TRY(check_positive("peak FLOP/s", budget.peak_flops, kMost));
  VITRO_TRY(check_positive("--mfu", budget.mfu, 1.0));
  if (budget.watts != 0) VITRO_TRY(check_positive("watts", budget.watts, kMost));
  if (budget.n_tokens != 0) VITRO_TRY(check_positive("--tokens", budget.n_tokens, kMost));
  if (std::isfinite(budget.pue) && budget.pue >= 1.0 && budget.pue <= 10.0) return {};
  return fail(ErrorCode::kInvalidArgument, "--pue {}: must be between 1 and 10", budget.pue);
}

void add_run(const TrainingWork& work, double n_devices, const TrainingBudget& budget, TrainingTime* time) {
  const double steps = budget.n_tokens / work.tokens_per_step();
  const double hours = steps * time->step_seconds / kSecondsPerHour;
  time->days = hours / kHoursPerDay;
  time->device_hours = hours * n_devices;
  time->figures.push_back({"steps", "", steps, "tokens / tokens a step",
                           fmt::format("{:.6g} / {:.6g}", budget.n_tokens, work.tokens_per_step())});
  time->figures.push_back({"time", "days", time->days, "steps x seconds a step / 86,400",
                           fmt::format("{:.6g} x {:.6g} / 86,400", steps, time->step_seconds)});
  time->figures.push_back(
      {"device time", "h", time->device_hours, "time x devices", fmt::format("{:.6g} h x {}", hours, n_devices)});
  if (budget.watts == 0) return;
  time->energy_kwh = time->device_hours * budget.watts * budget.pue / kWattsPerKilowatt;
  time->figures.push_back({"energy", "kWh", time->energy_kwh, "device hours x watts of a board x PUE / 1,000",
                           fmt::format("{:.6g} x {:g} x {:g} / 1,000", time->device_hours, budget.watts, budget.pue)});
}

}  // namespace

std::string_view flops_convention_name(FlopsConvention convention) {
  return kConventions[static_cast<size_t>(convention)];
}

Result<FlopsConvention> parse_flops_convention(std::string_view name) {
  VITRO_TRY_ASSIGN(const size_t index, find_choice(kConventions, "--flops", name));
  return static_cast<FlopsConvention>(index);
}

Result<TrainingWork> training_work(const ModelConfig& config, std::span<const TensorSlot> slots,
                                   const TrainingSpec& spec, FlopsConvention convention) {
  VITRO_TRY(check_training(config, slots, spec));
  VITRO_TRY(check_convention(config, spec, convention));
  const WeightsPlan weights = plan_weights(config, slots, {});
  const PassWork forward = forward_work(config, weights, spec.shape);
  const int64_t n_adapter = spec.lora ? active_lora_parameters(*spec.lora, config, slots) : 0;
  std::vector<PlanItem> counted = counts_parameters(convention)
                                      ? counted_parameters(config, weights, spec.shape, convention)
                                      : counted_passes(forward, n_adapter, spec, convention);
  PlanItem again = again_item(forward, counted, spec, convention);
  TrainingWork work;
  work.model = sum_item(fmt::format("FLOPs a sequence ({})", flops_convention_name(convention)), counted);
  counted.push_back(std::move(again));
  work.hardware = sum_item("FLOPs a sequence, with what is computed again", std::move(counted));
  work.n_tokens = static_cast<double>(spec.shape.seq_len) + static_cast<double>(spec.shape.n_source);
  work.n_sequences = static_cast<double>(spec.shape.micro_batch) * static_cast<double>(spec.shape.n_micro_batches) *
                     static_cast<double>(spec.layout.data);
  VITRO_TRY(check_amounts(work.hardware, "FLOPs"));
  return work;
}

Result<TrainingTime> training_time(const TrainingWork& work, const ParallelLayout& layout, const TrainingShape& shape,
                                   const TrainingBudget& budget) {
  VITRO_TRY(check_budget(budget));
  const auto n_devices = static_cast<double>(layout.n_devices());
  const auto p = static_cast<double>(layout.pipeline);
  const double n_passes = static_cast<double>(layout.n_chunks) * static_cast<double>(shape.n_micro_batches);
  TrainingTime time;
  time.step_seconds = work.flops_per_step() / (n_devices * budget.peak_flops * budget.mfu);
  time.tokens_per_second = work.tokens_per_step() / time.step_seconds;
  time.hfu = budget.mfu * static_cast<double>(work.hardware.amount) / static_cast<double>(work.model.amount);
  time.bubble = (p - 1.0) / (n_passes + p - 1.0);
  time.figures = {
      {"FLOPs a token", "", work.flops_per_token(), work.model.name + " / tokens",
       fmt::format("{} / {:g}", human_count(work.model.amount), work.n_tokens)},
      {"FLOPs a step", "", work.flops_per_step(), "FLOPs a sequence x sequences",
       fmt::format("{:.6g} x {:g}", static_cast<double>(work.model.amount), work.n_sequences)},
      {"step", "s", time.step_seconds, "FLOPs a step / (devices x peak x MFU)",
       fmt::format("{:.6g} / ({} x {:.6g} x {:g})", work.flops_per_step(), n_devices, budget.peak_flops, budget.mfu)},
      {"throughput", "tokens/s", time.tokens_per_second, "tokens a step / seconds a step",
       fmt::format("{:g} / {:.6g}", work.tokens_per_step(), time.step_seconds)},
      {"HFU", "", time.hfu, "MFU x FLOPs with what is computed again / FLOPs",
       fmt::format("{:g} x {:.6g} / {:.6g}", budget.mfu, static_cast<double>(work.hardware.amount),
                   static_cast<double>(work.model.amount))}};
  if (layout.pipeline > 1) {
    time.figures.push_back({"pipeline bubble", "", time.bubble, "(p - 1) / (interleave x micro-batches + p - 1)",
                            fmt::format("({0} - 1) / ({1:g} + {0} - 1)", layout.pipeline, n_passes)});
  }
  if (budget.n_tokens > 0) add_run(work, n_devices, budget, &time);
  return time;
}

}  // namespace vitro
