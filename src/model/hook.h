// Hook points: named places of the forward pass whose values can be looked at while it runs. Names and meanings follow
// TransformerLens (research list in docs/architecture.md). Off costs one test of a mask; on never changes a bit,
// because a sink only reads.
#pragma once

#include <cstdint>
#include <string_view>

#include "cache/kv_cache.h"
#include "model/batch.h"
#include "ops/attend.h"
#include "tensor/view.h"

namespace vitro {

/// X-macro: enum name, name ({i} is the block), shape, what it is.
/// P rows, L rows with logits, D d_model, H heads, G KV heads, d d_head, F d_ff, V vocab_size.
#define VITRO_HOOKS(X)                                                                                                \
  X(kEmbed, "hook_embed", "[P, D]", "token embedding after scale, before positions are added")                        \
  X(kResidPre, "blocks.{i}.hook_resid_pre", "[P, D]", "input of the block")                                           \
  X(kAttnIn, "blocks.{i}.attn.hook_in", "[P, D]", "what q, k, v are projected from: ln1.hook_out in pre-norm blocks") \
  X(kQ, "blocks.{i}.attn.hook_q", "[P, H*d]", "W_q x + b_q, before q-norm and rotary step")                           \
  X(kK, "blocks.{i}.attn.hook_k", "[P, G*d]", "W_k x + b_k")                                                          \
  X(kV, "blocks.{i}.attn.hook_v", "[P, G*d]", "W_v x + b_v")                                                          \
  X(kRotQ, "blocks.{i}.attn.hook_rot_q", "[P, H*d]", "q as the dot product uses it")                                  \
  X(kRotK, "blocks.{i}.attn.hook_rot_k", "[P, G*d]", "k as it goes into the cache")                                   \
  X(kLse, "blocks.{i}.attn.hook_lse", "[P, H]", "log-sum-exp of each row of scores")                                  \
  X(kZ, "blocks.{i}.attn.hook_z", "[P, H*d]", "probabilities times values, by head, before W_o")                      \
  X(kPattern, "blocks.{i}.attn.hook_pattern", "[H, P, S]",                                                            \
    "attention probabilities, recomputed; see HookSink::attention")                                                   \
  X(kAttnModuleOut, "blocks.{i}.attn.hook_out", "[P, D]", "W_o z + b_o")                                              \
  X(kAttnOut, "blocks.{i}.hook_attn_out", "[P, D]", "what attention adds to the residual stream")                     \
  X(kResidMid, "blocks.{i}.hook_resid_mid", "[P, D]", "resid_pre + attn_out; absent in parallel blocks")              \
  X(kMlpIn, "blocks.{i}.mlp.hook_in", "[P, D]", "what the feed-forward layer reads")                                  \
  X(kMlpPre, "blocks.{i}.mlp.hook_pre", "[P, F]", "input of the activation function")                                 \
  X(kMlpPreLinear, "blocks.{i}.mlp.hook_pre_linear", "[P, F]", "the up branch; gated layers only")                    \
  X(kMlpPost, "blocks.{i}.mlp.hook_post", "[P, F]", "the neurons: act(pre) (* pre_linear)")                           \
  X(kMlpModuleOut, "blocks.{i}.mlp.hook_out", "[P, D]", "W_down post + b_down")                                       \
  X(kMlpOut, "blocks.{i}.hook_mlp_out", "[P, D]", "what the feed-forward layer adds to the residual stream")          \
  X(kResidPost, "blocks.{i}.hook_resid_post", "[P, D]", "output of the block")                                        \
  X(kFinalNormOut, "ln_final.hook_out", "[L, D]", "what the head reads; only the rows that need logits")              \
  X(kLogits, "hook_logits", "[L, V]", "final logits of those rows")

enum class HookPoint : uint8_t {
#define VITRO_X(name, text, shape, doc) name,
  VITRO_HOOKS(VITRO_X)
#undef VITRO_X
};

struct HookInfo {
  std::string_view name;
  std::string_view shape;
  std::string_view meaning;
};
const HookInfo& hook_info(HookPoint point);
inline constexpr int kNHooks = static_cast<int>(HookPoint::kLogits) + 1;

/// Set of hook points.
class HookMask {
 public:
  constexpr HookMask() = default;
  constexpr HookMask(std::initializer_list<HookPoint> points) {
    for (const HookPoint point : points) bits_ |= uint64_t{1} << static_cast<int>(point);
  }
  static constexpr HookMask all() {
    HookMask mask;
    mask.bits_ = (uint64_t{1} << kNHooks) - 1;
    return mask;
  }
  constexpr bool has(HookPoint point) const { return (bits_ >> static_cast<int>(point)) & 1; }

 private:
  uint64_t bits_ = 0;
};

/// Where a value was seen: the block, or -1 outside the blocks, and the rows it belongs to.
struct HookSite {
  HookPoint point;
  int64_t layer;
  const TokenBatch& batch;
};

/// Everything needed to recompute any row of an attention map, valid during the call.
struct AttentionSite {
  int64_t layer;
  const TokenBatch& batch;
  const AttendShape& shape;
  ConstRows q;    ///< [P, H*d], as the dot product uses it
  ConstRows lse;  ///< [P, H]
  const KvCache& cache;
  const KernelTable& kernels;
};

/// Someone who looks. Called by the model thread only, in forward order, for points of the mask; must copy what it
/// keeps.
class HookSink {
 public:
  explicit HookSink(HookMask mask) : mask_(mask) {}
  virtual ~HookSink() = default;

  HookMask mask() const { return mask_; }
  virtual void value(const HookSite& site, ConstRows rows) = 0;
  /// Called for kPattern.
  virtual void attention(const AttentionSite& site) = 0;

 private:
  HookMask mask_;
};

}  // namespace vitro
