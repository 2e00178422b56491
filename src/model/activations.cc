#include "model/activations.h"

#include <algorithm>

#include "base/check.h"
#include "base/held_bytes.h"

namespace vitro {
namespace {

constexpr auto kNames = std::to_array<std::string_view>({
#define VITRO_X(name, text, doc) text,
    VITRO_ACTIVATIONS(VITRO_X)
#undef VITRO_X
});

constexpr auto kStepNames = std::to_array<std::string_view>({
#define VITRO_X(name, text) text,
    VITRO_STEPS(VITRO_X)
#undef VITRO_X
});

// The widest layer decides, because blocks share the buffers.
struct Widths {
  int64_t q = 0, kv = 0, d_ff = 0, n_head = 0, d_head = 0, n_kv_head = 0, n_pairs = 0, n_rope_kinds = 0;
  bool is_gated = false;
};

// A row's inner values: the chosen experts side by side.
int64_t row_width(const FeedForwardSpec& ffn) {
  const MoeSpec& moe = ffn.moe;
  return moe.n_expert == 0 ? ffn.d_ff : moe.n_expert_used * moe.d_ff_expert + moe.d_ff_shared;
}

Widths widest(const ModelConfig& config) {
  Widths w;
  for (const BlockSpec& block : config.blocks) {
    const AttentionSpec& attn = block.attn;
    w.q = std::max(w.q, attn.n_head * attn.d_head);
    w.kv = std::max(w.kv, attn.n_kv_head * attn.d_head);
    w.n_head = std::max(w.n_head, attn.n_head);
    w.n_kv_head = std::max(w.n_kv_head, attn.n_kv_head);
    w.d_head = std::max(w.d_head, attn.d_head);
    w.d_ff = std::max(w.d_ff, row_width(block.ffn));
    w.is_gated |= block.ffn.is_gated;
  }
  const std::vector<RopeSpec> kinds = rope_kinds(config);
  for (const RopeSpec& kind : kinds) w.n_pairs = std::max(w.n_pairs, kind.d_rot / 2);
  w.n_rope_kinds = static_cast<int64_t>(kinds.size());
  return w;
}

}  // namespace

std::string_view step_name(Step step) { return kStepNames[static_cast<size_t>(step)]; }

std::string_view act_name(Act act) { return kNames[static_cast<size_t>(act)]; }

std::array<ActivationSlot, kNActs> activation_slots(const ModelConfig& config, const BatchLimits& limits) {
  const Widths w = widest(config);
  const int64_t n = limits.n_tokens, d = config.d_model, n_angles = sat_mul(w.n_rope_kinds, n);
  const bool is_parallel = std::any_of(config.blocks.begin(), config.blocks.end(),
                                       [](const BlockSpec& b) { return b.residual != Residual::kSequential; });
  const Step attn_out_last = is_parallel ? Step::kFfnAdd : Step::kAttnAdd;
  const Step attn_in_last = is_parallel ? Step::kGateUp : Step::kQkv;
  std::array<ActivationSlot, kNActs> slots{};
  const auto set = [&](ActivationSlot slot) { slots[static_cast<size_t>(slot.act)] = slot; };
  const AttentionSpec* alibi = alibi_spec(config);
  set({Act::kEmbedNarrow, config.d_embed > 0 ? n : 0, config.d_embed, Step::kEmbed, Step::kEmbed});
  set({Act::kAttendBias, alibi ? alibi->n_head : 0, limits.n_ctx + kAttendTile, Step::kEmbed, Step::kFfnAdd});
  set({Act::kFinalNarrow, config.d_embed > 0 ? limits.n_logits : 0, config.d_embed, Step::kHead, Step::kHead});
  set({Act::kResid, n, d, Step::kEmbed, Step::kFinalNorm});
  set({Act::kRopeCos, n_angles, w.n_pairs, Step::kEmbed, Step::kFfnAdd});
  set({Act::kRopeSin, n_angles, w.n_pairs, Step::kEmbed, Step::kFfnAdd});
  set({Act::kAttnIn, n, d, Step::kEmbed, attn_in_last});
  set({Act::kQ, n, w.q, Step::kQkv, Step::kAttend});
  set({Act::kK, n, w.kv, Step::kQkv, Step::kAttend});
  set({Act::kV, n, w.kv, Step::kQkv, Step::kAttend});
  set({Act::kZ, n, w.q, Step::kAttend, Step::kAttnOut});
  set({Act::kLse, n, w.n_head, Step::kAttend, Step::kAttend});
  set({Act::kAttendScratch, limits.n_threads, attend_scratch_floats(w.d_head), Step::kAttend, Step::kAttend});
  set({Act::kAttnOut, n, d, Step::kAttnOut, attn_out_last});
  set({Act::kFfnIn, n, d, Step::kFfnNorm, Step::kGateUp});
  set({Act::kGate, n, w.d_ff, Step::kGateUp, Step::kFfnDown});
  set({Act::kUp, w.is_gated ? n : 0, w.d_ff, Step::kGateUp, Step::kFfnAct});
  set({Act::kFfnOut, n, d, Step::kFfnDown, Step::kFfnAdd});
  set({Act::kFinal, limits.n_logits, d, Step::kFinalNorm, Step::kHead});
  set({Act::kLogits, limits.n_logits, config.vocab_size, Step::kHead, Step::kAfter});
  return slots;
}

int64_t attend_table_bytes(const ModelConfig& config, const BatchLimits& limits) {
  const int64_t heads = widest(config).n_kv_head * static_cast<int64_t>(sizeof(KvHead));
  return limits.n_sequences * (heads + static_cast<int64_t>(sizeof(AttendSequence)));
}

int64_t Activations::n_table_bytes() const { return held_bytes(kv_heads_) + held_bytes(attend_sequences_); }

Activations::Activations(const std::array<ActivationSlot, kNActs>& slots, const std::array<int64_t, kNActs>& offsets,
                         Buffer arena, const ModelConfig& config, const BatchLimits& limits)
    : slots_(slots), offsets_(offsets), arena_(std::move(arena)), limits_(limits) {
  kv_heads_.reserve(static_cast<size_t>(limits.n_sequences * widest(config).n_kv_head));
  attend_sequences_.reserve(static_cast<size_t>(limits.n_sequences));
}

Rows Activations::rows(Act act, int64_t n_rows, int64_t width) const {
  const ActivationSlot& slot = slots_[static_cast<size_t>(act)];
  const int64_t columns = width == 0 ? slot.width : width;
  VITRO_CHECK(n_rows <= slot.n_rows && columns <= slot.width);
  return {arena_.as<float>(static_cast<size_t>(offsets_[static_cast<size_t>(act)])), n_rows, columns};
}

}  // namespace vitro
