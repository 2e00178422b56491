#include "plan/saved_tensors.h"

#include <algorithm>
#include <utility>

#include "base/saturating.h"
#include "plan/element_bytes.h"

namespace vitro {
namespace {

constexpr int64_t kIndexBytes = 4;
constexpr int64_t kMaskBytes = 1;

constexpr LoraTargets kAttentionIn = lora_bit(LoraTarget::kQ) | lora_bit(LoraTarget::kK) | lora_bit(LoraTarget::kV);
constexpr LoraTargets kFfnIn = lora_bit(LoraTarget::kGate) | lora_bit(LoraTarget::kUp);

// Hidden units of a feed-forward as one row passes them.
struct Hidden {
  std::string prefix;         // "", "expert ", "shared "
  std::vector<Factor> width;  // of gate, up, product
};

class BlockTensors {
 public:
  BlockTensors(const ActivationQuestion& question, const BlockSpec& block, bool is_encoder)
      : question_(question), policy_(question.policy), block_(block), is_encoder_(is_encoder) {}

  std::vector<SavedTensor> take() {
    const bool is_one_norm = block_.residual == Residual::kParallelSharedNorm;
    add_half("attn", is_one_norm ? kAttentionIn | kFfnIn : kAttentionIn, true);
    add_attention();
    if (block_.has_cross_attention) {
      add_half("cross", lora_bit(LoraTarget::kQ), true);
      add_core("cross ", n_source(), true);
    }
    if (!is_one_norm) add_half("ffn", kFfnIn, block_.residual == Residual::kSequential);
    add_feed_forward();
    add("statistics", {{"row statistics", n_statistics_}}, {.element_bytes = kFloatBytes, .is_sequence = true});
    add_adapters();
    return std::move(tensors_);
  }

 private:
  struct How {
    int64_t element_bytes = 0;  // 0: of the policy
    LoraTargets wanted_by = 0;  // matrices whose gradient needs it; 0: needed in any case
    bool is_source = false, is_sequence = false, is_dropped = false;
  };

  void add(std::string name, std::vector<Factor> width, How how) {
    const bool is_wanted = !question_.is_lora || how.wanted_by == 0 || (how.wanted_by & question_.adapted) != 0;
    if (!is_wanted) return;
    const int64_t n_bytes = how.element_bytes == 0 ? policy_.element_bytes : how.element_bytes;
    tensors_.push_back({std::move(name), std::move(width), n_bytes, how.is_source, how.is_sequence, how.is_dropped});
  }

  // A size that tensor parallelism divides.
  Factor divided(std::string name, int64_t value) const {
    const int64_t t = question_.layout.tensor;
    return t == 1 ? Factor{std::move(name), value}
                  : Factor{name + " / tensor-parallel", std::max<int64_t>(value / t, 1)};
  }
  Factor d_model() const { return {"d_model", question_.config.d_model}; }
  int64_t n_rows_of_keys() const { return is_encoder_ ? n_source() : question_.shape.seq_len; }
  int64_t n_source() const { return question_.shape.n_source; }

  // The input of a half (attention, cross attention, feed-forward) and what its norms keep. has_own_input: the norm's
  // input is not the one of the half before.
  void add_half(const std::string& half, LoraTargets wanted_by, bool has_own_input) {
    const bool has_norm = block_.norm.kind != NormKind::kNone;
    const bool is_before =
        has_norm && (block_.norm_place == NormPlace::kPre || block_.norm_place == NormPlace::kSandwich);
    const bool is_behind = has_norm && block_.norm_place != NormPlace::kPre;
    if (is_before) add_norm_input(half + " norm input", has_own_input);
    const bool is_normed = is_before || (has_norm && block_.norm_place == NormPlace::kPost);
    add(half + (is_before ? " norm output" : " input"), {d_model()},
        {.wanted_by = wanted_by, .is_sequence = true, .is_dropped = is_normed && policy_.recomputes_norms});
    if (is_behind) add_norm_input(half + " output norm input", true);
    if (policy_.has_dropout) {
      add(half + " dropout mask", {d_model()}, {.element_bytes = kMaskBytes, .is_sequence = true});
    }
  }

  void add_norm_input(std::string name, bool has_own_input) {
    if (has_own_input) add(std::move(name), {d_model()}, {.is_sequence = true});
    n_statistics_ += block_.norm.kind == NormKind::kLayerNorm ? 2 : 1;
  }

  void add_attention() {
    const AttentionSpec& attn = block_.attn;
    if (attn.kv_lora_rank > 0) add_latents(attn);
    if (attn.qk_norm != QkNorm::kNone) {
      add("q before its norm", {divided("n_head", attn.n_head), {"d_head", attn.d_head}}, {});
      add("k before its norm", {divided("n_kv_head", attn.n_kv_head), {"d_head", attn.d_head}}, {});
      const int64_t n = attn.qk_norm == QkNorm::kWholeProjection ? 2 : attn.n_head + attn.n_kv_head;
      const int64_t n_each = attn.qk_norm_spec.kind == NormKind::kLayerNorm ? 2 : 1;
      add("q, k norm statistics", {divided("norms", n), {"values", n_each}}, {.element_bytes = kFloatBytes});
    }
    add_core("", n_rows_of_keys(), false);
  }

  // Latent vectors before and behind their norms (DeepSeek-AI 2024, arXiv 2405.04434); every rank has them whole.
  void add_latents(const AttentionSpec& attn) {
    const Factor kv{"kv_lora_rank", attn.kv_lora_rank}, q{"q_lora_rank", attn.q_lora_rank};
    add("latent kv and rotary k", {{"kv_lora_rank + d_head_rope", attn.kv_lora_rank + attn.d_head_rope}},
        {.is_sequence = true});
    add("latent kv norm output", {kv}, {.is_sequence = true, .is_dropped = policy_.recomputes_norms});
    ++n_statistics_;
    if (attn.q_lora_rank == 0) return;
    add("latent q", {q}, {.is_sequence = true});
    add("latent q norm output", {q}, {.is_sequence = true, .is_dropped = policy_.recomputes_norms});
    ++n_statistics_;
  }

  // q, k, v and what lies between them and the output projection. Of cross attention, k and v are of the source's rows.
  void add_core(const std::string& prefix, int64_t n_keys, bool is_cross) {
    const AttentionSpec& attn = block_.attn;
    const bool is_latent = attn.kv_lora_rank > 0;
    const Factor heads = divided("n_head", attn.n_head);
    const Factor kv_heads = is_latent ? heads : divided("n_kv_head", attn.n_kv_head);
    const Factor d_head{"d_head", attn.d_head}, d_head_v{"d_head_v", attn.d_head_v};
    add(prefix + "q", {heads, d_head}, {});
    add(prefix + "k", {kv_heads, d_head}, {.is_source = is_cross});
    add(prefix + "v", {kv_heads, d_head_v}, {.is_source = is_cross});
    add_scores(prefix, {heads, {"keys", n_keys}});
    add(prefix + "attention output", {heads, d_head_v},
        {.wanted_by = policy_.is_tiled ? LoraTargets{0} : lora_bit(LoraTarget::kO)});
  }

  void add_scores(const std::string& prefix, const std::vector<Factor>& pairs) {
    if (policy_.is_tiled) return add(prefix + "log-sum-exp", {pairs[0]}, {.element_bytes = kFloatBytes});
    const bool is_dropped = policy_.recomputation == Recomputation::kSelective;
    add(prefix + "scores", pairs, {.is_dropped = is_dropped});
    add(prefix + "probabilities", pairs, {.is_dropped = is_dropped});
    if (!policy_.has_dropout) return;
    add(prefix + "probability dropout mask", pairs, {.element_bytes = kMaskBytes, .is_dropped = is_dropped});
  }

  void add_feed_forward() {
    const MoeSpec& moe = block_.ffn.moe;
    if (moe.n_expert == 0) return add_hidden({"", {divided("d_ff", block_.ffn.d_ff)}});
    const Factor chosen{"n_expert_used", moe.n_expert_used};
    const How whole{.is_sequence = true};
    add("router logits", {{"n_expert", moe.n_expert}}, {.element_bytes = kFloatBytes, .is_sequence = true});
    add("expert weights", {chosen}, {.element_bytes = kFloatBytes, .is_sequence = true});
    add("expert indices", {chosen}, {.element_bytes = kIndexBytes, .is_sequence = true});
    add("rows sent to experts", {chosen, d_model()}, {.wanted_by = kFfnIn, .is_sequence = true});
    add_hidden({"expert ", {chosen, divided("d_ff_expert", moe.d_ff_expert)}});
    add("expert outputs", {chosen, d_model()}, whole);  // the gradient of an expert's weight is <dy, its output>
    if (moe.d_ff_shared == 0) return;
    add_hidden({"shared ", {divided("d_ff_shared", moe.d_ff_shared)}});
    if (moe.has_shared_gate) add("shared output", {d_model()}, whole);
  }

  // Gated: act(gate) x up is made by one kernel from gate and up. ReLU's gradient needs only its output, which is the
  // input of the down projection.
  void add_hidden(const Hidden& hidden) {
    const How product{.wanted_by = lora_bit(LoraTarget::kDown), .is_dropped = policy_.recomputes_product};
    if (block_.ffn.is_gated) {
      add(hidden.prefix + "gate", hidden.width, {});
      add(hidden.prefix + "up", hidden.width, {});
      return add(hidden.prefix + "product", hidden.width, product);
    }
    if (block_.ffn.activation == ActivationKind::kRelu) return add(hidden.prefix + "activation", hidden.width, {});
    add(hidden.prefix + "pre-activation", hidden.width, {});
    add(hidden.prefix + "activation", hidden.width, product);
  }

  // x A of every adapted matrix: what B's gradient needs.
  void add_adapters() {
    if (!question_.is_lora) return;
    const MoeSpec& moe = block_.ffn.moe;
    const int64_t n_attention = block_.has_cross_attention ? 2 : 1;
    const int64_t n_ffn = moe.n_expert == 0 ? 1 : moe.n_expert_used + (moe.d_ff_shared > 0 ? 1 : 0);
    int64_t n = 0;
    for (const LoraTarget target : {LoraTarget::kQ, LoraTarget::kK, LoraTarget::kV, LoraTarget::kO}) {
      const bool is_there = block_.attn.kv_lora_rank == 0 || target == LoraTarget::kO ||
                            (target == LoraTarget::kQ && block_.attn.q_lora_rank == 0);
      n += is_there && (question_.adapted & lora_bit(target)) != 0 ? n_attention : 0;
    }
    for (const LoraTarget target : {LoraTarget::kGate, LoraTarget::kUp, LoraTarget::kDown}) {
      const bool is_there = block_.ffn.is_gated || target != LoraTarget::kGate;
      n += is_there && (question_.adapted & lora_bit(target)) != 0 ? n_ffn : 0;
    }
    add("adapters' inner rows", {{"adapters", n}, {"lora-rank", question_.lora_rank}}, {});
  }

  const ActivationQuestion& question_;
  const ActivationPolicy& policy_;
  const BlockSpec& block_;
  bool is_encoder_;
  int64_t n_statistics_ = 0;  // float32 a row, of all norms but those of heads
  std::vector<SavedTensor> tensors_;
};

}  // namespace

std::vector<SavedTensor> saved_tensors(const ActivationQuestion& question, const BlockSpec& block, bool is_encoder) {
  return BlockTensors(question, block, is_encoder).take();
}

int64_t divided_up(int64_t n, int64_t by) { return n == kSaturated ? n : n / by + (n % by != 0 ? 1 : 0); }

std::vector<Factor> row_factors(const ActivationQuestion& question, bool is_source, bool is_sequence) {
  const TrainingShape& shape = question.shape;
  Factor rows = is_source ? Factor{"n_source", shape.n_source} : Factor{"seq_len", shape.seq_len};
  if (is_sequence && question.layout.is_sequence_parallel) {
    rows = {rows.name + " / tensor-parallel", divided_up(rows.value, question.layout.tensor)};
  }
  return {{"micro_batch", shape.micro_batch}, std::move(rows)};
}

PlanItem rows_item(std::string name, std::vector<Factor> counts, const std::vector<Factor>& rows,
                   const std::vector<Factor>& width, int64_t element_bytes) {
  counts.insert(counts.end(), rows.begin(), rows.end());
  counts.insert(counts.end(), width.begin(), width.end());
  counts.push_back({"", element_bytes, " B"});
  return product_item(std::move(name), counts);
}

std::vector<PlanItem> tensor_items(const ActivationQuestion& question, const BlockSpec& block, bool is_encoder,
                                   const std::vector<Factor>& counts, bool is_dropped) {
  std::vector<PlanItem> items;
  for (SavedTensor& tensor : saved_tensors(question, block, is_encoder)) {
    if (tensor.is_dropped != is_dropped) continue;
    auto rows = row_factors(question, is_encoder || tensor.is_source, tensor.is_sequence);
    items.push_back(
        rows_item(std::move(tensor.name), counts, std::move(rows), std::move(tensor.width), tensor.element_bytes));
  }
  return items;
}

}  // namespace vitro
