#include "plan/train_recipe.h"

#include <algorithm>
#include <array>

namespace vitro {
namespace {

constexpr auto kRecipes = std::to_array<TrainRecipe>({
#define VITRO_X(name, optimizer, weight, gradient, main_gradient, master, moment, doc) \
  {name, Optimizer::optimizer, weight, gradient, main_gradient, master, moment, doc},
    VITRO_TRAIN_RECIPES(VITRO_X)
#undef VITRO_X
});

}  // namespace

std::span<const TrainRecipe> train_recipes() { return kRecipes; }

Result<TrainRecipe> parse_train_recipe(std::string_view name) {
  const auto at =
      std::find_if(kRecipes.begin(), kRecipes.end(), [&](const auto& recipe) { return recipe.name == name; });
  if (at != kRecipes.end()) return *at;
  return fail(ErrorCode::kInvalidArgument, "--recipe '{}': there are {}", name, train_recipe_names());
}

std::string train_recipe_names() {
  std::string names;
  for (const TrainRecipe& recipe : kRecipes) {
    names += names.empty() ? "" : ", ";
    names += recipe.name;
  }
  return names;
}

}  // namespace vitro
