// Model: a description and its weights, resolved by name once. Immutable; shared by every session that runs it.
#pragma once

#include <deque>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "formats/checkpoint.h"
#include "model/arch/architecture.h"
#include "model/batch.h"
#include "model/config.h"
#include "model/rope.h"
#include "ops/norm.h"
#include "tensor/panel_matrix.h"
#include "weights/tensors.h"

namespace vitro {

/// Views of one norm's vectors; null where the spec has none.
struct NormWeights {
  const float* gain = nullptr;
  const float* bias = nullptr;
};

struct AttentionWeights {
  PanelMatrix w_q, w_k, w_v, w_o;
  const float *b_q = nullptr, *b_k = nullptr, *b_v = nullptr, *b_o = nullptr;
  NormWeights q_norm, k_norm;  ///< per-head gains of their own lie side by side, [n_head, d_head]
};

struct FeedForwardWeights {
  PanelMatrix w_gate, w_up, w_down;
  const float *b_gate = nullptr, *b_up = nullptr, *b_down = nullptr;
};

struct BlockWeights {
  NormWeights attn_norm, attn_post_norm, ffn_norm, ffn_post_norm;
  AttentionWeights attn;
  FeedForwardWeights ffn;
};

struct Model {
  ModelConfig config;
  Tensors tensors;                                 ///< owns what the views below see,
  std::deque<std::vector<float>> head_norms = {};  ///< together with these: norms that the tensors hold head by head

  PanelMatrix w_embed;      ///< [vocab_size, embed_width]
  PanelMatrix w_embed_in;   ///< [d_model, d_embed], where the embedding is projected
  PanelMatrix w_embed_out;  ///< [d_embed, d_model], before the head
  PanelMatrix w_pos;        ///< [n_position_rows, d_model], learned positions
  NormWeights embed_norm;
  std::vector<BlockWeights> blocks;
  NormWeights final_norm;
  PanelMatrix w_unembed;  ///< w_embed itself when tied
  const float* b_unembed = nullptr;

  std::vector<RopeSpec> rope_kinds;  ///< the distinct rotary kinds of the blocks
  std::vector<int> rope_kind_of;     ///< [n_layer], index into rope_kinds, -1: none
  RopeFactors rope_factors;          ///< divisors that a GGUF file brings
  std::vector<float> alibi_slopes;   ///< [n_head], or empty
  std::vector<double> sinusoid;      ///< frequencies of sinusoidal positions [d_model / 2], or empty
};

/// A model of these weights: names resolved to views, tables of positions made. `tensors` must be what the slots of a
/// description with the same shapes were filled with; `config` one that check_runnable accepts.
std::shared_ptr<Model> assemble_model(ModelConfig config, Tensors tensors);

/// Bytes of a model beside its tensors that grow with layers, heads and width: specs and views of each block, norms
/// laid side by side, tables of positions. What a model of this description takes, and what one holds.
int64_t model_table_bytes(const ModelConfig& config);
int64_t held_table_bytes(const Model& model);

/// Rotary positions of every kind for a sequence whose prompt has `seq_len` tokens.
std::vector<Rotary> rotary_for(const Model& model, int64_t seq_len);

/// Bytes that the rotary positions of one sequence take: a record and frequencies for each kind.
int64_t rotary_bytes(const ModelConfig& config);

/// What `norm` does with these vectors.
NormOp norm_op(const NormSpec& spec, const NormWeights& weights);

/// Loads an opened checkpoint as described: limits, names, weights. The description is describe_model's, or one that
/// differs in what needs no other weights (model/extend_context.h). Every error of check_runnable, bind and
/// load_tensors.
Result<std::shared_ptr<const Model>> load_model(const Checkpoint& checkpoint, ModelDescription description,
                                                const LoadOptions& options, ThreadPool& pool);
/// The same as the checkpoint describes itself.
Result<std::shared_ptr<const Model>> load_model(const Checkpoint& checkpoint, const LoadOptions& options,
                                                ThreadPool& pool);

}  // namespace vitro
