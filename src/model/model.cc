#include "model/model.h"

#include <fmt/core.h>

#include <algorithm>

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

}  // namespace

std::vector<Rotary> rotary_for(const Model& model, int64_t seq_len) {
  std::vector<Rotary> out;
  for (const RopeSpec& spec : model.rope_kinds) {
    out.push_back({rope_frequencies(spec, seq_len, model.rope_factors), rope_attention_factor(spec)});
  }
  return out;
}

NormOp norm_op(const NormSpec& spec, const NormWeights& weights) {
  return {spec.kind == NormKind::kRms ? NormOp::Kind::kRms : NormOp::Kind::kLayerNorm, weights.gain, weights.bias,
          static_cast<float>(spec.gain_offset), static_cast<float>(spec.eps)};
}

std::shared_ptr<Model> assemble_model(ModelConfig config, Tensors tensors) {
  auto model = std::make_shared<Model>();
  model->config = std::move(config);
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
