#include "plan/training_choices.h"

#include <fmt/core.h>

#include <utility>

namespace vitro {
namespace {

class Choices {
 public:
  explicit Choices(const TrainingSpec& asked) : asked_(asked), choices_{{"as asked", asked}} {}

  std::vector<TrainingChoice> take() {
    add_recipes();
    add_recomputations();
    add("naive attention", asked_.policy.is_tiled, [](TrainingSpec& spec) { spec.policy.is_tiled = false; });
    add("attention in tiles", !asked_.policy.is_tiled, [](TrainingSpec& spec) { spec.policy.is_tiled = true; });
    add("loss in chunks", asked_.policy.loss != LossKind::kChunked,
        [](TrainingSpec& spec) { spec.policy.loss = LossKind::kChunked; });
    add_zero_stages();
    add_adapters();
    return std::move(choices_);
  }

 private:
  template <class Change>
  void add(std::string name, bool is_other, const Change& change) {
    if (!is_other) return;
    TrainingSpec spec = asked_;
    change(spec);
    choices_.push_back({std::move(name), std::move(spec)});
  }

  void add_recipes() {
    for (const char* name : {"adamw-bf16", "adamw-bf16-f32-grads", "adamw-bf16-both-grads", "adam8bit"}) {
      const TrainRecipe recipe = parse_train_recipe(name).value();
      add(name, asked_.recipe.name != name && !asked_.lora, [&](TrainingSpec& spec) { set_recipe(recipe, &spec); });
    }
  }

  void add_recomputations() {
    for (const Recomputation recomputation : {Recomputation::kNone, Recomputation::kFull}) {
      add(fmt::format("recomputation {}", recomputation_name(recomputation)),
          asked_.policy.recomputation != recomputation,
          [&](TrainingSpec& spec) { spec.policy.recomputation = recomputation; });
    }
  }

  void add_zero_stages() {
    for (int64_t stage = 0; asked_.layout.data > 1 && stage <= 3; ++stage) {
      add(fmt::format("ZeRO {}", stage), asked_.layout.zero_stage != stage, [&](TrainingSpec& spec) {
        spec.layout.zero_stage = stage;
        if (stage < 3) spec.layout.zero_unit = ZeroUnit::kBlock;  // nothing is gathered
      });
    }
  }

  void add_adapters() {
    const WeightFormat nf4 = parse_weight_format("nf4-dq").value();
    add("LoRA, rank 16, all matrices", !asked_.lora,
        [](TrainingSpec& spec) { spec.lora = {.rank = 16, .targets = kAllLoraTargets}; });
    add("QLoRA, the same on nf4", !asked_.lora,
        [&](TrainingSpec& spec) { spec.lora = {.rank = 16, .targets = kAllLoraTargets, .base = nf4}; });
  }

  const TrainingSpec& asked_;
  std::vector<TrainingChoice> choices_;
};

}  // namespace

std::vector<TrainingChoice> training_choices(const TrainingSpec& asked) { return Choices(asked).take(); }

}  // namespace vitro
