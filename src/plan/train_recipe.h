// TrainRecipe: the optimizer of a training run and in how many bytes it keeps each parameter's weight, gradient, master
// weight and moments. Recipes go by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace vitro {

enum class Optimizer : uint8_t {
  kAdamW,        ///< two moments (Loshchilov & Hutter 2019, arXiv 1711.05101)
  kAdam8bit,     ///< two moments of a byte, a float32 scale for 256 of them (Dettmers et al. 2022, arXiv 2110.02861)
  kMuon,         ///< one moment for matrices inside the blocks, AdamW for the rest (Jordan et al. 2024)
  kSgdMomentum,  ///< one moment
  kAdafactor     ///< second moments by row and column sums, no first (Shazeer & Stern 2018, arXiv 1804.04235)
};

/// X-macro: printed name, optimizer, bytes a parameter of weight, gradient, float32 gradient beside it, master weight,
/// one moment; what it is.
// clang-format off
#define VITRO_TRAIN_RECIPES(X)                                                                                    \
  X("adamw-f32", kAdamW, 4, 4, 0, 0, 4, "all in float32: 16 B a parameter")                                       \
  X("adamw-bf16", kAdamW, 2, 2, 0, 4, 4, "bfloat16 weights and gradients, float32 master weights: 16 B")          \
  X("adamw-bf16-f32-grads", kAdamW, 2, 0, 4, 4, 4, "the same, gradients summed in float32 (Megatron): 18 B")      \
  X("adamw-bf16-both-grads", kAdamW, 2, 2, 4, 4, 4, "the same, gradients in both types at the step: 20 B")        \
  X("adamw-pure-bf16", kAdamW, 2, 2, 0, 0, 2, "everything in bfloat16, stochastic rounding: 8 B")                 \
  X("adam8bit", kAdam8bit, 2, 2, 0, 4, 1, "moments in blocks of 256 bytes with a scale: 10.03 B")                 \
  X("muon", kMuon, 2, 2, 0, 4, 4, "one moment for matrices: 12 B; AdamW for the rest: 16 B")                      \
  X("sgd-momentum", kSgdMomentum, 2, 2, 0, 4, 4, "one moment: 12 B")                                              \
  X("adafactor", kAdafactor, 2, 2, 0, 4, 4, "a moment a row and column of each matrix: about 8 B")
// clang-format on

struct TrainRecipe {
  std::string_view name;
  Optimizer optimizer = Optimizer::kAdamW;
  int64_t weight_bytes = 2;
  int64_t gradient_bytes = 2;
  int64_t main_gradient_bytes = 0;  ///< float32 sums over micro-batches, beside or instead of gradients
  int64_t master_bytes = 4;
  int64_t moment_bytes = 4;
  std::string_view meaning = {};
};

std::span<const TrainRecipe> train_recipes();
/// InvalidArgument lists all names.
Result<TrainRecipe> parse_train_recipe(std::string_view name);
/// All names, with commas.
std::string train_recipe_names();

}  // namespace vitro
