// Activations: every intermediate buffer of a forward pass, by name, size and lifetime. plan/ lays them out, a session
// allocates them once, and the pass itself allocates nothing.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/saturating.h"
#include "model/config.h"
#include "model/hook.h"
#include "tensor/buffer.h"
#include "tensor/view.h"

namespace vitro {

/// X-macro: enum name, printed name. Moments of a pass, in order; the ones from kAttnNorm to kFfnAdd repeat in every
/// block.
#define VITRO_STEPS(X)              \
  X(kEmbed, "the embedding")        \
  X(kAttnNorm, "attention's norm")  \
  X(kQkv, "q, k, v projections")    \
  X(kRotate, "rotation")            \
  X(kAttend, "attention")           \
  X(kAttnOut, "output projection")  \
  X(kAttnAdd, "attention's sum")    \
  X(kFfnNorm, "feed-forward norm")  \
  X(kGateUp, "gate and up")         \
  X(kFfnAct, "activation function") \
  X(kFfnDown, "down projection")    \
  X(kFfnAdd, "feed-forward sum")    \
  X(kFinalNorm, "the final norm")   \
  X(kHead, "the head")              \
  X(kAfter, "after the pass")

enum class Step : uint8_t {
#define VITRO_X(name, text) name,
  VITRO_STEPS(VITRO_X)
#undef VITRO_X
};
std::string_view step_name(Step step);

/// X-macro: enum name, printed name, what it holds.
#define VITRO_ACTIVATIONS(X)                                                                \
  X(kEmbedNarrow, "embed_narrow", "embeddings before their projection [n_tokens, d_embed]") \
  X(kResid, "resid", "residual stream [n_tokens, d_model]")                                 \
  X(kRopeCos, "rope_cos", "cosines of each rotary kind [n_kinds * n_tokens, n_pairs]")      \
  X(kRopeSin, "rope_sin", "sines of each rotary kind")                                      \
  X(kAttendBias, "attend_bias", "ALiBi by head and distance [n_head, n_ctx + kAttendTile]") \
  X(kAttnIn, "attn_in", "normalised rows [n_tokens, d_model]")                              \
  X(kQ, "q", "[n_tokens, n_head * d_head]")                                                 \
  X(kK, "k", "[n_tokens, n_kv_head * d_head]")                                              \
  X(kV, "v", "[n_tokens, n_kv_head * d_head]")                                              \
  X(kZ, "z", "weighted values [n_tokens, n_head * d_head]")                                 \
  X(kLse, "lse", "log-sum-exp of scores [n_tokens, n_head]")                                \
  X(kAttendScratch, "attend_scratch", "tiles of each thread")                               \
  X(kAttnOut, "attn_out", "[n_tokens, d_model]")                                            \
  X(kFfnIn, "ffn_in", "normalised rows [n_tokens, d_model]")                                \
  X(kGate, "gate", "[n_tokens, d_ff]")                                                      \
  X(kUp, "up", "[n_tokens, d_ff]; gated layers only")                                       \
  X(kFfnOut, "ffn_out", "[n_tokens, d_model]")                                              \
  X(kFinal, "final", "rows that need logits [n_logits, d_model]")                           \
  X(kFinalNarrow, "final_narrow", "the same after their projection [n_logits, d_embed]")    \
  X(kLogits, "logits", "[n_logits, vocab_size]")

enum class Act : uint8_t {
#define VITRO_X(name, text, doc) name,
  VITRO_ACTIVATIONS(VITRO_X)
#undef VITRO_X
};
inline constexpr int kNActs = static_cast<int>(Act::kLogits) + 1;
std::string_view act_name(Act act);

/// The largest pass that the buffers are made for.
struct BatchLimits {
  int64_t n_tokens = 256;
  int64_t n_logits = 1;
  int64_t n_sequences = 1;
  int n_threads = 1;
  int64_t n_ctx = 1;  ///< positions of the longest sequence
};

/// One buffer: floats it needs at the limits, and the first and last step that touches it (both included).
struct ActivationSlot {
  Act act;
  int64_t n_rows = 0;
  int64_t width = 0;
  Step first = Step::kEmbed;
  Step last = Step::kAfter;

  int64_t n_bytes() const { return sat_mul(n_rows, width, static_cast<int64_t>(sizeof(float))); }  ///< saturating
};

/// Buffers of this model, indexed by Act; unused ones have no rows. Pure.
std::array<ActivationSlot, kNActs> activation_slots(const ModelConfig& config, const BatchLimits& limits);

/// Bytes of the tables that attention makes for each layer: where the keys and values of each head of each sequence
/// lie.
int64_t attend_table_bytes(const ModelConfig& config, const BatchLimits& limits);

/// The buffers, placed: owns the arena and the small tables a pass needs.
class Activations {
 public:
  /// offsets[act]: bytes from the start of the arena, multiples of 64, as plan/ laid them out.
  Activations(const std::array<ActivationSlot, kNActs>& slots, const std::array<int64_t, kNActs>& offsets, Buffer arena,
              const ModelConfig& config, const BatchLimits& limits);

  /// The first n_rows rows of a buffer, seen with `width` columns (its own width by default; layers may be narrower).
  Rows rows(Act act, int64_t n_rows, int64_t width = 0) const;

  const BatchLimits& limits() const { return limits_; }
  int64_t n_bytes() const { return static_cast<int64_t>(arena_.size()); }
  int64_t n_table_bytes() const;

  /// Rooms for the tables that attention makes for each layer; sized for the limits, never grown by a pass.
  std::vector<KvHead>& kv_heads() { return kv_heads_; }
  std::vector<AttendSequence>& attend_sequences() { return attend_sequences_; }

 private:
  std::array<ActivationSlot, kNActs> slots_;
  std::array<int64_t, kNActs> offsets_;
  Buffer arena_;
  BatchLimits limits_;
  std::vector<KvHead> kv_heads_;
  std::vector<AttendSequence> attend_sequences_;
};

}  // namespace vitro
