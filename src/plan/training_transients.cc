// What is alive only for a while in a step of training: layers that run again, logits and loss, gradients of
// activations.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/saturating.h"
#include "plan/element_bytes.h"
#include "plan/layer_groups.h"
#include "plan/saved_tensors.h"
#include "plan/training_activations.h"

namespace vitro {
namespace {

// The buffers of logits that a loss has.
struct LossBuffers {
  bool has_logit, has_wide, has_gradient, has_cast;
};
constexpr auto kLossBuffers = std::to_array<LossBuffers>({
#define VITRO_X(name, text, logit, wide, gradient, cast, doc) {logit, wide, gradient, cast},
    VITRO_LOSS_KINDS(VITRO_X)
#undef VITRO_X
});

// Bytes of a logit in each buffer; 0: there is none.
struct LogitBytes {
  int64_t logit, wide, gradient, cast;
};
LogitBytes logit_bytes(LossKind kind, int64_t element_bytes) {
  const LossBuffers loss = kLossBuffers[static_cast<size_t>(kind)];
  const bool is_wide = element_bytes >= kFloatBytes;
  const bool has_wide = loss.has_wide && !(is_wide && loss.has_logit);
  return {loss.has_logit ? element_bytes : 0, has_wide ? kFloatBytes : 0, loss.has_gradient ? kFloatBytes : 0,
          loss.has_cast && !is_wide ? element_bytes : 0};
}

int64_t kept_bytes(const ActivationQuestion& question, const BlockSpec& block, bool is_encoder) {
  return block_activation_item(question, block, is_encoder).amount;
}

// The k consecutive layers that keep the most.
Blocks largest_segment(const ActivationQuestion& question, const Blocks& blocks, bool is_encoder) {
  const auto k = static_cast<size_t>(question.policy.layers_per_checkpoint);
  Blocks largest;
  int64_t most = -1;
  const BlockSpec* last = nullptr;
  int64_t n_last = 0;
  for (size_t begin = 0; begin < blocks.size(); begin += k) {
    const size_t end = std::min(blocks.size() - begin, k) + begin;
    int64_t n = 0;
    for (size_t i = begin; i < end; ++i) {
      if (!last || !(*last == *blocks[i])) n_last = kept_bytes(question, *blocks[i], is_encoder);
      last = blocks[i];
      n = sat_add(n, n_last);
    }
    if (n <= most) continue;
    most = n;
    largest.assign(blocks.begin() + static_cast<std::ptrdiff_t>(begin),
                   blocks.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return largest;
}

// Tensors of one layer that are made again: of the layer that drops the most.
PlanItem dropped_item(const ActivationQuestion& question, const Blocks& blocks, bool is_encoder) {
  PlanItem largest{.name = "tensors made again"};
  for (const LayerGroup& group : group_layers(question, blocks, is_encoder)) {
    PlanItem item = sum_item("tensors made again", tensor_items(question, *group.block, is_encoder, {}, true));
    if (item.amount > largest.amount) largest = std::move(item);
  }
  return largest;
}

// What is alive for itself while a stack's backward is at its worst layer.
PlanItem recomputed_stack_item(const ActivationQuestion& question, int64_t stage, bool is_encoder) {
  const Blocks blocks = blocks_of_stage(question, stage, is_encoder);
  std::vector<PlanItem> parts;
  if (question.policy.recomputation == Recomputation::kFull) {
    parts = layer_items(question, largest_segment(question, blocks, is_encoder), is_encoder, {});
  }
  parts.push_back(dropped_item(question, blocks, is_encoder));
  return sum_item("recomputed", std::move(parts));
}

// Elements of a row that a block's backward works on besides the residual's gradient.
std::vector<PlanItem> working_items(const ActivationQuestion& question, const BlockSpec& block, bool is_encoder) {
  const AttentionSpec& attn = block.attn;
  const FeedForwardSpec& ffn = block.ffn;
  const int64_t t = question.layout.tensor, kv_heads = attn.kv_lora_rank > 0 ? attn.n_head : attn.n_kv_head;
  const int64_t n_hidden = ffn.moe.n_expert == 0
                               ? ffn.d_ff
                               : sat_add(sat_mul(ffn.moe.n_expert_used, ffn.moe.d_ff_expert), ffn.moe.d_ff_shared);
  const int64_t n_attn =
      sat_add(sat_mul(attn.n_head, attn.d_head + attn.d_head_v), sat_mul(kv_heads, attn.d_head + attn.d_head_v));
  const auto rows = row_factors(question, is_encoder, false);
  const int64_t n_bytes = question.policy.element_bytes;
  PlanItem inner =
      rows_item("feed-forward", {}, rows,
                {{"hidden units", divided_up(n_hidden, t)}, {"gate and up", ffn.is_gated ? 2 : 1}}, n_bytes);
  PlanItem attention = rows_item("attention", {}, rows, {{"q, k, v, output", divided_up(n_attn, t)}}, n_bytes);
  if (!question.policy.is_tiled) {
    const Factor keys{"keys", is_encoder ? question.shape.n_source : question.shape.seq_len};
    PlanItem scores = rows_item("scores", {}, rows, {{"n_head", divided_up(attn.n_head, t)}, keys}, n_bytes);
    attention = sum_item("attention", {std::move(attention), std::move(scores)});
  }
  PlanItem residual = rows_item("residual", {}, rows, {{"d_model", question.config.d_model}}, n_bytes);
  return {std::move(residual), attention.amount > inner.amount ? std::move(attention) : std::move(inner)};
}

}  // namespace

PlanItem recomputed_item(const ActivationQuestion& question, int64_t stage) {
  PlanItem decoder = recomputed_stack_item(question, stage, false);
  PlanItem encoder = recomputed_stack_item(question, stage, true);
  return encoder.amount > decoder.amount ? encoder : decoder;
}

PlanItem loss_item(const ActivationQuestion& question) {
  const ActivationPolicy& policy = question.policy;
  if (question.config.kind == ModelKind::kEncoder) return {.name = "logits and loss"};
  const LogitBytes bytes = logit_bytes(policy.loss, policy.element_bytes);
  const Factor vocab{question.layout.tensor == 1 ? "vocab_size" : "vocab_size / tensor-parallel",
                     divided_up(question.config.vocab_size, question.layout.tensor)};
  std::vector<Factor> rows = row_factors(question, false, false);
  PlanItem losses = rows_item("losses", {}, rows, {}, kFloatBytes);
  if (policy.loss == LossKind::kChunked)
    rows = {{"rows at a time", std::min(policy.loss_rows, question.shape.n_rows())}};
  const auto item = [&](std::string name, int64_t n_bytes) {
    return rows_item(std::move(name), {}, rows, {vocab}, n_bytes);
  };
  return sum_item("logits and loss",
                  {item("logits", bytes.logit), item("float32 logits", bytes.wide),
                   item("float32 gradient", bytes.gradient), item("16-bit gradient", bytes.cast), std::move(losses)});
}

PlanItem working_gradient_item(const ActivationQuestion& question, int64_t stage) {
  PlanItem largest{.name = "working gradients"};
  for (const bool is_encoder : {false, true}) {
    for (const LayerGroup& group : group_layers(question, blocks_of_stage(question, stage, is_encoder), is_encoder)) {
      PlanItem item = sum_item("working gradients", working_items(question, *group.block, is_encoder));
      if (item.amount > largest.amount) largest = std::move(item);
    }
  }
  largest.certainty = Certainty::kEstimated;
  return largest;
}

}  // namespace vitro
