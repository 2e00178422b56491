// Command R and R+, Aya: both halves in parallel behind one LayerNorm without bias, adjacent rotary pairs, tied head,
// scaled logits; R+ also normalises each head of q and k with a gain of its own. Cohere 2024.
#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"cohere"};
constexpr std::string_view kGgufNames[] = {"command-r"};

struct CohereKnobs {
  double eps = 1e-5;
  RopeSpec rope;
  bool has_head_norms = false;
  bool has_bias = false;
  ActivationKind activation = ActivationKind::kSilu;
};

UniformDecoder make_decoder(const DecoderSizes& sizes, CohereKnobs knobs) {
  knobs.rope.pairing = RopePairing::kAdjacent;
  BlockSpec block = rms_block(sizes, knobs.rope, knobs.eps);
  block.norm.kind = NormKind::kLayerNorm;
  block.residual = Residual::kParallelSharedNorm;
  block.ffn.activation = knobs.activation;
  set_attention_biases(knobs.has_bias, &block.attn);
  if (knobs.has_head_norms) {
    block.attn.qk_norm = QkNorm::kPerHeadOwn;
    block.attn.qk_norm_spec = block.norm;
  }
  return {sizes, block};
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "cohere"};
  const DecoderSizes sizes = read_hf_sizes(reader, {.n_ctx = 8192, .is_head_tied = true}, &out);
  // The first files say how long a reference implementation's tables may get; this is the length of the model.
  out.n_ctx = reader.get_size("n_ctx", {"model_max_length"}, out.n_ctx, kMaxContext);
  CohereKnobs knobs;
  knobs.eps = reader.get_real("norm.eps", {"layer_norm_eps"}, knobs.eps);
  knobs.activation = read_hf_activation(reader, {"hidden_act"}, "silu");
  knobs.rope = read_hf_rope(reader, {.d_head = sizes.d_head, .n_ctx = out.n_ctx});
  knobs.has_head_norms = reader.get_bool("attn.has_qk_norm", {"use_qk_norm"}, false);
  knobs.has_bias = reader.get_bool("attn.has_bias", {"attention_bias"}, false);
  out.logit_scale = reader.get_real("logit_scale", {"logit_scale"}, 0.0625);
  reader.expect_int("pretraining_tp", 1);
  return finish_decoder(reader, make_decoder(sizes, knobs), std::move(out));
}

Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "command-r");
  ModelConfig out{.family = "cohere"};
  const DecoderSizes sizes = read_gguf_sizes(reader, config, &out);
  CohereKnobs knobs;
  knobs.eps = reader.need_real("norm.eps", {"attention.layer_norm_epsilon"});
  knobs.rope = read_gguf_rope(reader, config, {.d_head = sizes.d_head, .n_ctx = out.n_ctx});
  knobs.has_head_norms = gguf_has_tensor(config, "blk.0.attn_q_norm.weight");
  reader.note("attn.has_qk_norm", "tensor blk.0.attn_q_norm.weight", knobs.has_head_norms ? "true" : "false",
              ValueOrigin::kFile);
  knobs.has_bias = read_gguf_bias(reader, config, "attn.has_bias", "blk.0.attn_q.bias");
  out.logit_scale = reader.need_real("logit_scale", {"logit_scale"});
  return finish_decoder(reader, make_decoder(sizes, knobs), std::move(out));
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  return decoder_slots(config, format == SourceFormat::kGguf ? gguf_names() : hf_names());
}

}  // namespace

const Architecture kCohere = {.name = "cohere",
                              .hf_model_types = kHfTypes,
                              .gguf_names = kGgufNames,
                              .golden = "cohere",
                              .read_config = read_config,
                              .tensor_slots = tensor_slots,
                              .ignorable_tensors = kLlamaIgnorable};

}  // namespace vitro
