#include "plan/training_activations.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/saturating.h"
#include "plan/element_bytes.h"
#include "plan/find_choice.h"
#include "plan/layer_groups.h"
#include "plan/saved_tensors.h"

namespace vitro {
namespace {

constexpr auto kRecomputations = std::to_array<std::string_view>({
#define VITRO_X(name, text, doc) text,
    VITRO_RECOMPUTATIONS(VITRO_X)
#undef VITRO_X
});
constexpr auto kLossKinds = std::to_array<std::string_view>({
#define VITRO_X(name, text, logit, copy, gradient, cast, doc) text,
    VITRO_LOSS_KINDS(VITRO_X)
#undef VITRO_X
});

constexpr int64_t kMaskBytes = 1;

// The inputs of every k-th layer.
PlanItem checkpoint_item(const ActivationQuestion& question, int64_t n_layer, bool is_encoder, int64_t stage) {
  const int64_t n = divided_up(n_layer, question.policy.layers_per_checkpoint);
  return rows_item(is_encoder ? "encoder checkpoints" : "checkpoints", pass_factors(question, stage, "checkpoints", n),
                   row_factors(question, is_encoder, true), {{"d_model", question.config.d_model}},
                   question.policy.element_bytes);
}

std::vector<PlanItem> stack_items(const ActivationQuestion& question, bool is_encoder, int64_t stage) {
  const Blocks blocks = blocks_of_stage(question, stage, is_encoder);
  if (question.policy.recomputation != Recomputation::kFull) {
    return layer_items(question, blocks, is_encoder, stage);
  }
  if (blocks.empty()) return {};
  return {checkpoint_item(question, static_cast<int64_t>(blocks.size()), is_encoder, stage)};
}

// A tensor of d_model wide rows outside the blocks.
PlanItem outer_item(const ActivationQuestion& question, std::string name, bool is_encoder, int64_t stage,
                    const Factor& width, int64_t element_bytes) {
  return rows_item(std::move(name), pass_factors(question, stage, "tensors", 1),
                   row_factors(question, is_encoder, true), {width}, element_bytes);
}

int64_t n_statistics(const NormSpec& norm) {
  return norm.kind == NormKind::kNone ? 0 : norm.kind == NormKind::kLayerNorm ? 2 : 1;
}

PlanItem embedding_item(const ActivationQuestion& question, int64_t stage) {
  std::vector<PlanItem> parts;
  const ModelConfig& config = question.config;
  const Factor d_model{"d_model", config.d_model};
  for (const bool is_encoder : {false, true}) {
    if (is_encoder && config.encoder_blocks.empty()) continue;
    const std::string stack = is_encoder ? "encoder " : "";
    if (question.policy.has_dropout) {
      parts.push_back(outer_item(question, stack + "dropout mask", is_encoder, stage, d_model, kMaskBytes));
    }
    if (config.embed_norm.kind == NormKind::kNone) continue;
    parts.push_back(
        outer_item(question, stack + "norm input", is_encoder, stage, d_model, question.policy.element_bytes));
    parts.push_back(outer_item(question, stack + "statistics", is_encoder, stage,
                               {"row statistics", n_statistics(config.embed_norm)}, kFloatBytes));
  }
  return sum_item("embedding", std::move(parts));
}

// The final norm and the head's input; of an encoder-decoder also the encoder's output, which all layers of the decoder
// read.
PlanItem end_item(const ActivationQuestion& question, int64_t stage) {
  std::vector<PlanItem> parts;
  const ModelConfig& config = question.config;
  const Factor d_model{"d_model", config.d_model};
  const int64_t n_bytes = question.policy.element_bytes;
  const int64_t n_values = n_statistics(config.final_norm);
  for (const bool is_encoder : {false, true}) {
    if (is_encoder && config.encoder_blocks.empty()) continue;
    const std::string stack = is_encoder ? "encoder " : "";
    if (n_values > 0) {
      parts.push_back(outer_item(question, stack + "final norm input", is_encoder, stage, d_model, n_bytes));
      parts.push_back(outer_item(question, stack + "final norm statistics", is_encoder, stage,
                                 {"row statistics", n_values}, kFloatBytes));
    }
    const bool is_head_trained = !question.is_lora || is_encoder;  // cross attention reads the encoder's output
    if (!is_head_trained) continue;
    parts.push_back(
        outer_item(question, is_encoder ? "encoder output" : "head input", is_encoder, stage, d_model, n_bytes));
    if (config.d_embed == 0 || is_encoder) continue;
    parts.push_back(outer_item(question, "projected head input", false, stage, {"d_embed", config.d_embed}, n_bytes));
  }
  return sum_item("final norm and head", std::move(parts));
}

}  // namespace

std::string_view recomputation_name(Recomputation recomputation) {
  return kRecomputations[static_cast<size_t>(recomputation)];
}
std::string_view loss_kind_name(LossKind kind) { return kLossKinds[static_cast<size_t>(kind)]; }

Result<Recomputation> parse_recomputation(std::string_view name) {
  VITRO_TRY_ASSIGN(const size_t index, find_choice(kRecomputations, "--recompute", name));
  return static_cast<Recomputation>(index);
}

Result<LossKind> parse_loss_kind(std::string_view name) {
  VITRO_TRY_ASSIGN(const size_t index, find_choice(kLossKinds, "--loss", name));
  return static_cast<LossKind>(index);
}

int64_t TrainingShape::n_rows() const { return sat_mul(micro_batch, seq_len); }

int64_t n_in_flight(const ParallelLayout& layout, int64_t n_micro_batches, int64_t stage) {
  const int64_t p = layout.pipeline, v = layout.n_chunks;
  if (v == 1) return std::min(n_micro_batches, p - stage);
  return std::min(sat_mul(n_micro_batches, v), 2 * (p - stage - 1) + (v - 1) * p + 1);
}

PlanItem block_activation_item(const ActivationQuestion& question, const BlockSpec& block, bool is_encoder) {
  return sum_item("a layer", tensor_items(question, block, is_encoder, {}, false));
}

PlanItem saved_item(const ActivationQuestion& question, int64_t stage) {
  std::vector<PlanItem> parts;
  if (stage == 0 && !question.is_lora) parts.push_back(embedding_item(question, stage));
  for (const bool is_encoder : {true, false}) {
    std::vector<PlanItem> items = stack_items(question, is_encoder, stage);
    std::move(items.begin(), items.end(), std::back_inserter(parts));
  }
  if (stage == question.layout.pipeline - 1) parts.push_back(end_item(question, stage));
  return sum_item("activations", std::move(parts));
}

}  // namespace vitro
