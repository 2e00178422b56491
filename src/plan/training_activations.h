// What the forward pass of training keeps for the backward, tensor by tensor, for a stated policy.
//
// Formulas: Korthikanti et al. 2022 (arXiv 2205.05198) for the GPT block with dropout, sbh (34 + 5 as/h), generalised
// to any widths, grouped heads, gated feed-forwards, experts, latent attention and cross attention. What that paper
// neglects (row statistics of norms, the log-sum-exp of tiled attention) has lines of its own here.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/config.h"
#include "plan/item.h"
#include "plan/lora.h"
#include "plan/parallel_layout.h"

namespace vitro {

/// X-macro: enum name, printed name, what it is.
// clang-format off
#define VITRO_RECOMPUTATIONS(X)                                                                        \
  X(kNone, "none", "everything the backward needs is kept")                                            \
  X(kSelective, "selective", "naive attention's n x n matrices are computed again from q, k, v")       \
  X(kFull, "full", "only the input of every k-th layer is kept; the k layers run again")
/// X-macro: enum name, printed name, whether there are logits in the type of the activations, float32 ones, a float32
/// gradient, a gradient in the type of the activations; what it is, with the bytes where that type has 16 bits. Where
/// it is float32 itself nothing is converted: no second logits, no second gradient.
#define VITRO_LOSS_KINDS(X)                                                                            \
  X(kNaive, "naive", 1, 1, 1, 1, "logits, float32 copy, its gradient, the gradient in 16 bits: 12 B")  \
  X(kShared, "shared", 1, 1, 1, 0, "the 16-bit gradient takes the place of the logits: 10 B")          \
  X(kInPlaceF32, "in-place-f32", 0, 1, 0, 0, "float32 logits become their gradient (Megatron): 4 B")   \
  X(kInPlace, "in-place", 1, 0, 0, 0, "logits become their gradient (llm.c): 2 B")                     \
  X(kChunked, "chunked", 0, 1, 0, 0, "float32 logits of some rows at a time: rows x V x 4 B")
// clang-format on

enum class Recomputation : uint8_t {
#define VITRO_X(name, text, doc) name,
  VITRO_RECOMPUTATIONS(VITRO_X)
#undef VITRO_X
};
enum class LossKind : uint8_t {
#define VITRO_X(name, text, logit, copy, gradient, cast, doc) name,
  VITRO_LOSS_KINDS(VITRO_X)
#undef VITRO_X
};
std::string_view recomputation_name(Recomputation recomputation);
std::string_view loss_kind_name(LossKind kind);
/// InvalidArgument lists the names.
Result<Recomputation> parse_recomputation(std::string_view name);
Result<LossKind> parse_loss_kind(std::string_view name);

struct ActivationPolicy {
  int64_t element_bytes = 2;
  bool is_tiled = true;  ///< FlashAttention: output and float32 log-sum-exp instead of the n x n matrices
  Recomputation recomputation = Recomputation::kNone;
  int64_t layers_per_checkpoint = 1;  ///< kFull
  bool recomputes_product = false;    ///< input of the down projection is made again from what it was made of
  bool recomputes_norms = false;      ///< outputs of the blocks' norms are made again from their inputs
  bool has_dropout = false;           ///< masks of a byte: embedding, both halves, naive attention's probabilities
  LossKind loss = LossKind::kNaive;
  int64_t loss_rows = 1024;  ///< kChunked: rows of logits at a time
};

/// Rows of one micro-batch. n_source: positions of the encoder of an encoder-decoder.
struct TrainingShape {
  int64_t seq_len = 0;
  int64_t n_source = 0;
  int64_t micro_batch = 1;      ///< sequences
  int64_t n_micro_batches = 1;  ///< gradient accumulation: micro-batches a step on each data-parallel rank
  int64_t n_rows() const;       ///< micro_batch x seq_len, saturating
};

/// Everything that the activations of one rank depend on.
struct ActivationQuestion {
  const ModelConfig& config;
  TrainingShape shape;
  ActivationPolicy policy = {};
  ParallelLayout layout = {};
  LoraTargets adapted = kAllLoraTargets;  ///< matrices whose gradients are wanted: their inputs are kept
  bool is_lora = false;                   ///< false: all are, embedding and head too
  int64_t lora_rank = 0;
};

/// What one block keeps of one micro-batch, without recomputation of whole layers; parts by tensor. is_encoder: a block
/// of config.encoder_blocks, over the source's rows.
PlanItem block_activation_item(const ActivationQuestion& question, const BlockSpec& block, bool is_encoder = false);
/// "activations": what is kept at the end of the forward on a stage, all micro-batches that are in flight then.
PlanItem saved_item(const ActivationQuestion& question, int64_t stage);
/// Of a micro-batch: layers that run again before their backward (kFull), or one layer's tensors that are made again.
PlanItem recomputed_item(const ActivationQuestion& question, int64_t stage);
/// Buffers of logits and loss on the last stage.
PlanItem loss_item(const ActivationQuestion& question);
/// Gradients of activations that are alive at once in one block's backward: the residual's, and the larger of
/// feed-forward and attention. Estimated: buffers are taken to be reused.
PlanItem working_gradient_item(const ActivationQuestion& question, int64_t stage);

/// Micro-batches (n_chunks 1) or chunks of them whose activations a stage holds at most: 1F1B min(m, p - stage);
/// interleaved 2 (p - stage - 1) + (v - 1) p + 1 of L / (p v) layers each, at most m v.
int64_t n_in_flight(const ParallelLayout& layout, int64_t n_micro_batches, int64_t stage);

}  // namespace vitro
