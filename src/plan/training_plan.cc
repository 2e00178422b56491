#include "plan/training_plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/saturating.h"
#include "plan/element_bytes.h"
#include "plan/session_plan.h"
#include "plan/training_states.h"

namespace vitro {
namespace {

constexpr int64_t kMaxCount = int64_t{1} << 20;  // of sequences and micro-batches: far above any use
constexpr int64_t kMaxElementBytes = 8;

Status check_range(std::string_view name, int64_t value, int64_t most) {
  if (value >= 1 && value <= most) return {};
  return fail(ErrorCode::kInvalidArgument, "{} {}: must be between 1 and {}", name, value, most);
}

Status check_shape(const ModelConfig& config, const TrainingShape& shape) {
  VITRO_TRY(check_range("--context", shape.seq_len, std::min(kMaxContext, n_reachable(config))));
  VITRO_TRY(check_range("--batch", shape.micro_batch, kMaxCount));
  VITRO_TRY(check_range("--accumulate", shape.n_micro_batches, kMaxCount));
  if (!config.encoder_blocks.empty()) return check_range("--source", shape.n_source, kMaxContext);
  if (shape.n_source == 0) return {};
  return fail(ErrorCode::kInvalidArgument, "--source {}: the model has no encoder beside its decoder", shape.n_source);
}

Status check_policy(const ModelConfig& config, const ActivationPolicy& policy) {
  VITRO_TRY(check_range("activation bytes", policy.element_bytes, kMaxElementBytes));
  VITRO_TRY(check_range("--checkpoint-layers", policy.layers_per_checkpoint, std::max<int64_t>(config.n_layer(), 1)));
  VITRO_TRY(check_range("loss-rows", policy.loss_rows, kMaxContext));
  if (policy.layers_per_checkpoint > 1 && policy.recomputation != Recomputation::kFull) {
    return fail(ErrorCode::kInvalidArgument, "--checkpoint-layers {}: needs --recompute full",
                policy.layers_per_checkpoint);
  }
  if (policy.recomputation == Recomputation::kSelective && policy.is_tiled) {
    return fail(ErrorCode::kInvalidArgument,
                "--recompute selective: tiled attention keeps no n x n matrices; take none or full, or --naive");
  }
  return {};
}

// What is trained and what is frozen, as one kind of rank holds it.
struct RankModel {
  std::vector<RankTensor> tensors;   // of the model
  std::vector<RankTensor> adapters;  // LoRA's A and B
};

std::vector<RankTensor> adapters_of(const std::vector<RankTensor>& adapted, int64_t rank) {
  std::vector<RankTensor> adapters;
  for (const RankTensor& tensor : adapted) {
    RankTensor a = tensor, b = tensor;
    a.rows = rank;
    b.cols = rank;
    adapters.insert(adapters.end(), {a, b});
  }
  return adapters;
}

class Planner {
 public:
  Planner(const ModelConfig& config, std::span<const TensorSlot> slots, const TrainingSpec& spec)
      : config_(config),
        slots_(slots),
        spec_(spec),
        question_{.config = config, .shape = spec.shape, .policy = spec.policy, .layout = spec.layout} {
    if (!spec.lora) return;
    question_.is_lora = true;
    question_.adapted = spec.lora->targets;
    question_.lora_rank = spec.lora->rank;
    std::copy_if(slots.begin(), slots.end(), std::back_inserter(adapted_),
                 [&](const TensorSlot& slot) { return is_adapted(slot.name, spec.lora->targets); });
  }

  TrainingPlan plan() {
    TrainingPlan plan;
    const RankModel whole = rank_models({})[0];
    for (const RankTensor& tensor : whole.tensors) plan.n_parameters = sat_add(plan.n_parameters, tensor.n());
    plan.n_trained = spec_.lora ? lora_parameters(*spec_.lora, slots_) : plan.n_parameters;
    plan.states = states(whole, {});
    const std::vector<RankModel> models = rank_models(spec_.layout);
    for (size_t stage = 0; stage < models.size(); ++stage) {
      plan_stage(models[stage], static_cast<int64_t>(stage), &plan);
    }
    plan.peak_owner = largest_part(plan.phases[plan.peak]).name;
    return plan;
  }

 private:
  std::vector<RankModel> rank_models(const ParallelLayout& layout) const {
    std::vector<RankModel> models;
    for (auto& tensors : rank_tensors(config_, slots_, layout)) models.push_back({std::move(tensors), {}});
    if (!spec_.lora) return models;
    const auto adapted = rank_tensors(config_, adapted_, layout);
    for (size_t i = 0; i < models.size(); ++i) models[i].adapters = adapters_of(adapted[i], spec_.lora->rank);
    return models;
  }

  PlanItem states(const RankModel& model, const ParallelLayout& layout) const {
    if (!spec_.lora) return state_item(model.tensors, spec_.recipe, layout);
    PlanItem item = state_item(model.adapters, spec_.recipe, layout);
    item.parts.insert(item.parts.begin(), frozen_item(model.tensors, spec_.lora->base, layout));
    return sum_item("states", std::move(item.parts));
  }

  // Keeps the stage that needs the most.
  void plan_stage(const RankModel& model, int64_t stage, TrainingPlan* best) const {
    PlanItem rank_states = states(model, spec_.layout);
    PlanItem activations = saved_item(question_, stage);
    std::vector<PlanItem> phases = phases_of(model, stage, rank_states, activations);
    const auto at = std::max_element(phases.begin(), phases.end(),
                                     [](const PlanItem& a, const PlanItem& b) { return a.amount < b.amount; });
    if (!best->phases.empty() && at->amount <= best->n_bytes()) return;
    best->stage = stage;
    best->peak = static_cast<size_t>(at - phases.begin());
    best->rank_states = std::move(rank_states);
    best->activations = std::move(activations);
    best->phases = std::move(phases);
  }

  std::vector<PlanItem> phases_of(const RankModel& model, int64_t stage, const PlanItem& rank_states,
                                  const PlanItem& activations) const {
    const PlanItem again = recomputed_item(question_, stage);
    const bool is_last = stage == spec_.layout.pipeline - 1;
    const PlanItem loss = is_last ? loss_item(question_) : PlanItem{.name = "logits and loss"};
    const PlanItem buckets = bucket_item(rank_states);
    return {
        phase("init", without_gradients(rank_states), {initial_item(model)}),
        phase("forward", rank_states, {activations, again, gathered(model, false)}),
        phase("loss", rank_states, {activations, loss, gathered(model, true), buckets}),
        phase("backward", rank_states,
              {activations, again, working_gradient_item(question_, stage), gathered(model, true), dequantised(model),
               buckets}),
        phase("step", rank_states, {optimizer_temporary_item(trained(model), spec_.recipe), gathered(model, false)}),
    };
  }

  static PlanItem phase(std::string name, const PlanItem& rank_states, std::vector<PlanItem> others) {
    std::vector<PlanItem> parts = rank_states.parts;
    std::move(others.begin(), others.end(), std::back_inserter(parts));
    return sum_item(std::move(name), std::move(parts));
  }

  static PlanItem without_gradients(PlanItem rank_states) {
    std::erase_if(rank_states.parts, [](const PlanItem& part) { return part.kind == ItemKind::kGradients; });
    return rank_states;
  }

  const std::vector<RankTensor>& trained(const RankModel& model) const {
    return spec_.lora ? model.adapters : model.tensors;
  }

  // Values are drawn or read in float32 before they are rounded, a tensor at a time.
  PlanItem initial_item(const RankModel& model) const {
    const int64_t n = spec_.recipe.weight_bytes < kFloatBytes ? largest_unit(trained(model), ZeroUnit::kTensor) : 0;
    return product_item("largest tensor in float32", {{"parameters", n}, {"", kFloatBytes, " B"}},
                        Certainty::kEstimated);
  }

  PlanItem gathered(const RankModel& model, bool is_backward) const {
    if (!spec_.lora) return gathered_item(model.tensors, spec_.recipe, spec_.layout, is_backward);
    PlanItem item{.name = "gathered"};
    if (spec_.layout.zero_stage < 3 || spec_.layout.data == 1) return item;
    const int64_t unit = spec_.lora->base.row_bytes(largest_unit(model.tensors, spec_.layout.zero_unit));
    return product_item("gathered", {{"units at once", spec_.layout.n_gathered}, {"largest unit", unit, " B"}});
  }

  // Quantised matrices become 16-bit ones before their product, one at a time (bitsandbytes).
  PlanItem dequantised(const RankModel& model) const {
    PlanItem item{.name = "dequantised matrix", .certainty = Certainty::kEstimated};
    if (!spec_.lora || spec_.lora->base.bytes_per_element() >= 2.0) return item;
    for (const RankTensor& tensor : model.tensors) {
      if (!tensor.is_matrix || !tensor.is_inside) continue;
      PlanItem one = product_item(item.name, {{"rows", tensor.rows}, {"cols", tensor.cols}, {"", kHalfBytes, " B"}},
                                  Certainty::kEstimated);
      if (one.amount > item.amount) item = std::move(one);
    }
    return item;
  }

  PlanItem bucket_item(const PlanItem& rank_states) const {
    PlanItem item{.name = "gradient buckets", .certainty = Certainty::kEstimated};
    if (spec_.layout.data == 1 || spec_.layout.zero_stage == 3) return item;
    int64_t n_gradients = 0;
    for (const PlanItem& part : rank_states.parts) {
      if (part.kind == ItemKind::kGradients) n_gradients = sat_add(n_gradients, part.amount);
    }
    item.amount = std::min(spec_.layout.bucket_bytes, n_gradients);
    item.formula = "min(buckets, gradients)";
    return item;
  }

  const ModelConfig& config_;
  std::span<const TensorSlot> slots_;
  const TrainingSpec& spec_;
  ActivationQuestion question_;
  std::vector<TensorSlot> adapted_;
};

}  // namespace

void set_recipe(const TrainRecipe& recipe, TrainingSpec* spec) {
  spec->recipe = recipe;
  spec->policy.element_bytes = recipe.weight_bytes;
}

Status check_training(const ModelConfig& config, std::span<const TensorSlot> slots, const TrainingSpec& spec) {
  VITRO_TRY(check_range("layers", config.n_layer(), kMaxLayers));
  VITRO_TRY(check_shape(config, spec.shape));
  VITRO_TRY(check_policy(config, spec.policy));
  VITRO_TRY(check_layout(config, spec.layout, spec.shape.seq_len, spec.shape.n_micro_batches));
  if (spec.lora) VITRO_TRY(check_lora(*spec.lora, slots));
  return {};
}

Result<TrainingPlan> plan_training(const ModelConfig& config, std::span<const TensorSlot> slots,
                                   const TrainingSpec& spec) {
  VITRO_TRY(check_training(config, slots, spec));
  TrainingPlan plan = Planner(config, slots, spec).plan();
  VITRO_TRY(check_amounts(plan.states, "bytes"));
  for (const PlanItem& phase : plan.phases) VITRO_TRY(check_amounts(phase, "bytes"));
  return plan;
}

}  // namespace vitro
