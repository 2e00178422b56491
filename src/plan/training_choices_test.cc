#include "plan/training_choices.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/plan_test_util.h"

namespace vitro {
namespace {

std::vector<std::string> names_of(const TrainingSpec& asked) {
  std::vector<std::string> names;
  for (const TrainingChoice& choice : training_choices(asked)) names.push_back(choice.name);
  return names;
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Of what is asked and of the rows of ZeRO; each is a layout that the model can have.
std::vector<int64_t> zero_stages_of(const TrainingSpec& asked) {
  const testing::PlannedModel llama = testing::planned_model("llama-7b");
  std::vector<int64_t> stages;
  for (const TrainingChoice& choice : training_choices(asked)) {
    if (choice.name != "as asked" && !choice.name.starts_with("ZeRO ")) continue;
    const Status status = check_layout(llama.config, choice.spec.layout, 2048, 1);
    EXPECT_TRUE(status) << choice.name << ": " << status.error().message;
    stages.push_back(choice.spec.layout.zero_stage);
  }
  return stages;
}

TEST(TrainingChoices, WhatIsAskedComesFirstAndNotAgain) {
  TrainingSpec asked{.recipe = parse_train_recipe("adamw-bf16").value()};
  const std::vector<std::string> names = names_of(asked);
  EXPECT_EQ(names, (std::vector<std::string>{"as asked", "adamw-bf16-f32-grads", "adamw-bf16-both-grads", "adam8bit",
                                             "recomputation full", "naive attention", "loss in chunks",
                                             "LoRA, rank 16, all matrices", "QLoRA, the same on nf4"}));
  asked.layout = {.data = 4, .zero_stage = 2};
  EXPECT_TRUE(has(names_of(asked), "ZeRO 3") && has(names_of(asked), "ZeRO 0"));
  EXPECT_FALSE(has(names_of(asked), "ZeRO 2"));
  asked.layout = {.data = 4, .zero_stage = 3, .zero_unit = ZeroUnit::kTensor};
  EXPECT_EQ(zero_stages_of(asked), (std::vector<int64_t>{3, 0, 1, 2}));
  asked.lora = {.rank = 8};
  EXPECT_FALSE(has(names_of(asked), "adam8bit") || has(names_of(asked), "QLoRA, the same on nf4"));
}

TEST(TrainingChoices, EachChangesOneThing) {
  TrainingSpec asked{.recipe = parse_train_recipe("adamw-f32").value()};
  asked.policy = {.element_bytes = 4, .is_tiled = false, .recomputation = Recomputation::kSelective};
  for (const TrainingChoice& choice : training_choices(asked)) {
    const bool is_recipe = choice.spec.recipe.name != asked.recipe.name;
    const bool is_policy = choice.spec.policy.recomputation != asked.policy.recomputation ||
                           choice.spec.policy.is_tiled != asked.policy.is_tiled ||
                           choice.spec.policy.loss != asked.policy.loss;
    EXPECT_EQ(is_recipe + is_policy + choice.spec.lora.has_value(), choice.name == "as asked" ? 0 : 1) << choice.name;
    EXPECT_EQ(choice.spec.policy.element_bytes, choice.spec.recipe.weight_bytes) << choice.name;
  }
}

}  // namespace
}  // namespace vitro
