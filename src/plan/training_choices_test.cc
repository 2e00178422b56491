#include "plan/training_choices.h"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(TrainingChoices, WhatIsAskedComesFirstAndNotAgain) {
  TrainingSpec asked{.recipe = parse_train_recipe("adamw-bf16").value()};
  const std::vector<std::string> names = names_of(asked);
  EXPECT_EQ(names, (std::vector<std::string>{"as asked", "adamw-bf16-f32-grads", "adamw-bf16-both-grads", "adam8bit",
                                             "recomputation full", "naive attention", "loss in chunks",
                                             "LoRA, rank 16, all matrices", "QLoRA, the same on nf4"}));
  asked.layout = {.data = 4, .zero_stage = 2};
  EXPECT_TRUE(has(names_of(asked), "ZeRO 3") && has(names_of(asked), "ZeRO 0"));
  EXPECT_FALSE(has(names_of(asked), "ZeRO 2"));
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
