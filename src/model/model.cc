#include "model/model.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/held_bytes.h"
#include "model/alibi.h"
#include "model/sinusoid.h"
#include "weights/bind.h"

namespace vitro {
namespace {

// Resolves our names to views, once.
class Resolver {
 public:
  Resolver(const Tensors& tensors, std::deque<std::vector<float>>& head_norms)
      : tensors_(tensors), head_norms_(head_norms) {}

  PanelMatrix matrix(std::string_view prefix, std::string_view name) const {
    return tensors_.matrix(fmt::format("{}{}", prefix, name));
  }
  /// Vectors "{name}.{h}{suffix}" of heads 0, 1, ..., laid side by side; null if there are none.
  const float* stacked(const std::string& prefix, std::string_view suffix) const {
    std::vector<float> all;
    for (int64_t h = 0;; ++h) {
      const auto values = tensors_.vector(fmt::format("{}.{}{}", prefix, h, suffix));
      if (values.empty()) break;
      all.insert(all.end(), values.begin(), values.end());
    }
    all.shrink_to_fit();
    return all.empty() ? nullptr : head_norms_.emplace_back(std::move(all)).data();
  }
  NormWeights head_norm(std::string_view prefix, std::string_view name, QkNorm kind) const {
    if (kind != QkNorm::kPerHeadOwn) return norm(prefix, name);
    const std::string norm_name = fmt::format("{}{}", prefix, name);
    return {stacked(norm_name, ".gain"), stacked(norm_name, ".bias")};
  }
  const float* vector(std::string_view prefix, std::string_view name) const {
    const auto values = tensors_.vector(fmt::format("{}{}", prefix, name));
    return values.empty() ? nullptr : values.data();
  }
  NormWeights norm(std::string_view prefix, std::string_view name) const {
    const std::string norm_name = fmt::format("{}{}", prefix, name);
    return {vector(norm_name, ".gain"), vector(norm_name, ".bias")};
  }
  AttentionWeights attention(const std::string& p, QkNorm kind) const {
    return {matrix(p, "w_q"),
            matrix(p, "w_k"),
            matrix(p, "w_v"),
            matrix(p, "w_o"),
            vector(p, "b_q"),
            vector(p, "b_k"),
            vector(p, "b_v"),
            vector(p, "b_o"),
            head_norm(p, "q_norm", kind),
            head_norm(p, "k_norm", kind)};
  }
  FeedForwardWeights feed_forward(const std::string& p) const {
    return {matrix(p, "w_gate"), matrix(p, "w_up"), matrix(p, "w_down"),
            vector(p, "b_gate"), vector(p, "b_up"), vector(p, "b_down")};
  }
  BlockWeights block(int64_t layer, const BlockSpec& spec) const {
    const std::string p = fmt::format("blocks.{}.", layer);
    return {norm(p, "attn_norm"),
            norm(p, "attn_post_norm"),
            norm(p, "ffn_norm"),
            norm(p, "ffn_post_norm"),
            attention(p + "attn.", spec.attn.qk_norm),
            feed_forward(p + "ffn.")};
  }

 private:
  const Tensors& tensors_;
  std::deque<std::vector<float>>& head_norms_;
};

void resolve_weights(Model& model) {
  const Resolver resolve(model.tensors, model.head_norms);
  model.w_embed = resolve.matrix("", "embed.w");
  model.w_embed_in = resolve.matrix("", "embed_in.w");
  model.w_embed_out = resolve.matrix("", "embed_out.w");
  model.w_pos = resolve.matrix("", "pos_embed.w");
  model.embed_norm = resolve.norm("", "embed_norm");
  model.blocks.reserve(model.config.blocks.size());
  for (int64_t layer = 0; layer < model.config.n_layer(); ++layer) {
    model.blocks.push_back(resolve.block(layer, model.config.blocks[static_cast<size_t>(layer)]));
  }
  model.final_norm = resolve.norm("", "final_norm");
  model.w_unembed = model.config.is_head_tied ? model.w_embed : resolve.matrix("", "unembed.w");
  model.b_unembed = resolve.vector("", "unembed.b");
  model.rope_factors = {model.tensors.vector("rope_factors"), model.tensors.vector("rope_factors_short"),
                        model.tensors.vector("rope_factors_long")};
}

void collect_positions(Model& model) {
  model.rope_kinds = rope_kinds(model.config);
  model.rope_kinds.shrink_to_fit();
  model.rope_kind_of.reserve(model.config.blocks.size());
  for (const BlockSpec& block : model.config.blocks) {
    const auto it = std::find(model.rope_kinds.begin(), model.rope_kinds.end(), block.attn.rope);
    const bool is_rope = block.attn.position == PositionKind::kRope;
    model.rope_kind_of.push_back(is_rope ? static_cast<int>(it - model.rope_kinds.begin()) : -1);
  }
  if (model.config.position == PositionKind::kSinusoidal) {
    model.sinusoid = sinusoid_frequencies(model.config.d_model);
  }
  if (const AttentionSpec* alibi = alibi_spec(model.config)) {
    model.alibi_slopes = alibi_slopes(alibi->n_head, alibi->alibi_max_bias);
  }
}

// Readers add block after block: what they keep free is given back.
void trim(ModelConfig* config) {
  config->blocks.shrink_to_fit();
  for (BlockSpec& block : config->blocks) {
    block.attn.rope.short_factors.shrink_to_fit();
    block.attn.rope.long_factors.shrink_to_fit();
  }
}

int64_t list_bytes(const RopeSpec& rope) {
  return static_cast<int64_t>((rope.short_factors.size() + rope.long_factors.size()) * sizeof(double));
}
int64_t held_list_bytes(const RopeSpec& rope) { return held_bytes(rope.short_factors) + held_bytes(rope.long_factors); }

// Gains, and biases, of norms that every head has for itself.
int64_t head_norm_bytes(const AttentionSpec& attn) {
  if (attn.qk_norm != QkNorm::kPerHeadOwn) return 0;
  const int64_t n_vectors = (attn.qk_norm_spec.has_gain ? 1 : 0) + (attn.qk_norm_spec.has_bias ? 1 : 0);
  return n_vectors * (attn.n_head + attn.n_kv_head) * attn.d_head * static_cast<int64_t>(sizeof(float));
}

}  // namespace

int64_t model_table_bytes(const ModelConfig& config) {
  int64_t n_bytes = config.n_layer() * static_cast<int64_t>(sizeof(BlockSpec) + sizeof(BlockWeights) + sizeof(int));
  for (const BlockSpec& block : config.blocks) n_bytes += list_bytes(block.attn.rope) + head_norm_bytes(block.attn);
  for (const RopeSpec& kind : rope_kinds(config)) n_bytes += static_cast<int64_t>(sizeof(RopeSpec)) + list_bytes(kind);
  if (config.position == PositionKind::kSinusoidal)
    n_bytes += config.d_model / 2 * static_cast<int64_t>(sizeof(double));
  const AttentionSpec* alibi = alibi_spec(config);
  return n_bytes + (alibi ? alibi->n_head * static_cast<int64_t>(sizeof(float)) : 0);
}

int64_t held_table_bytes(const Model& model) {
  int64_t n_bytes = held_bytes(model.config.blocks) + held_bytes(model.blocks) + held_bytes(model.rope_kind_of) +
                    held_bytes(model.rope_kinds) + held_bytes(model.sinusoid) + held_bytes(model.alibi_slopes);
  for (const BlockSpec& block : model.config.blocks) n_bytes += held_list_bytes(block.attn.rope);
  for (const RopeSpec& kind : model.rope_kinds) n_bytes += held_list_bytes(kind);
  for (const std::vector<float>& norms : model.head_norms) n_bytes += held_bytes(norms);
  return n_bytes;
}

std::vector<Rotary> rotary_for(const Model& model, int64_t seq_len) {
  std::vector<Rotary> out;
  out.reserve(model.rope_kinds.size());
  for (const RopeSpec& spec : model.rope_kinds) {
    out.push_back({rope_frequencies(spec, seq_len, model.rope_factors), rope_attention_factor(spec)});
  }
  return out;
}

int64_t rotary_bytes(const ModelConfig& config) {
  int64_t n_bytes = 0;
  for (const RopeSpec& spec : rope_kinds(config)) {
    n_bytes += static_cast<int64_t>(sizeof(Rotary)) + spec.d_rot / 2 * static_cast<int64_t>(sizeof(double));
  }
  return n_bytes;
}

NormOp norm_op(const NormSpec& spec, const NormWeights& weights) {
  return {spec.kind == NormKind::kRms ? NormOp::Kind::kRms : NormOp::Kind::kLayerNorm, weights.gain, weights.bias,
          static_cast<float>(spec.gain_offset), static_cast<float>(spec.eps)};
}

std::shared_ptr<Model> assemble_model(ModelConfig config, Tensors tensors) {
  auto model = std::make_shared<Model>();
  model->config = std::move(config);
  trim(&model->config);
  model->tensors = std::move(tensors);
  resolve_weights(*model);
  collect_positions(*model);
  return model;
}

Result<std::shared_ptr<const Model>> load_model(const Checkpoint& checkpoint, const LoadOptions& options,
                                                ThreadPool& pool) {
  VITRO_TRY_ASSIGN(ModelDescription description, describe_model(checkpoint));
  return load_model(checkpoint, std::move(description), options, pool);
}

Result<std::shared_ptr<const Model>> load_model(const Checkpoint& checkpoint, ModelDescription description,
                                                const LoadOptions& options, ThreadPool& pool) {
  VITRO_TRY(check_runnable(description.config));
  const Architecture& arch = *description.arch;
  const std::vector<TensorSlot> slots = arch.tensor_slots(checkpoint.format(), description.config);
  VITRO_TRY_ASSIGN(const std::vector<BoundTensor> bound, bind_tensors(checkpoint, slots, arch.ignorable_tensors));
  VITRO_TRY_ASSIGN(Tensors tensors, load_tensors(checkpoint, bound, options, pool));
  return assemble_model(std::move(description.config), std::move(tensors));
}

}  // namespace vitro
