// StableLM: Llama's layout with LayerNorms and partial rotary positions; larger ones normalise q and k, each head with
// gains of its own, and run both halves in parallel behind one norm. Bellagente et al. 2024 (arXiv 2402.17834).
#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"stablelm"};
constexpr std::string_view kGgufNames[] = {"stablelm"};
constexpr double kRotatedPart = 0.25;

struct StablelmKnobs {
  double eps = 1e-5;
  RopeSpec rope = {};
  bool has_qkv_bias = false;
  bool has_qk_norm = false;
  bool is_parallel = false;
  ActivationKind activation = ActivationKind::kSilu;
};

UniformDecoder make_decoder(const DecoderSizes& sizes, const StablelmKnobs& knobs) {
  BlockSpec block = rms_block(sizes, knobs.rope, knobs.eps);
  block.norm = layer_norm(knobs.eps);
  block.ffn.activation = knobs.activation;
  if (knobs.is_parallel) block.residual = Residual::kParallelSharedNorm;
  set_qkv_biases(knobs.has_qkv_bias, &block.attn);
  if (knobs.has_qk_norm) {
    block.attn.qk_norm = QkNorm::kPerHeadOwn;
    block.attn.qk_norm_spec = {.kind = NormKind::kLayerNorm, .eps = knobs.eps};
  }
  return {sizes, block};
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "stablelm"};
  const DecoderSizes sizes = read_hf_sizes(reader, {.n_kv_head = 32, .n_ctx = 4096}, &out);
  StablelmKnobs knobs;
  knobs.eps = reader.get_real("norm.eps", {"layer_norm_eps", "norm_eps"}, knobs.eps);
  knobs.activation = read_hf_activation(reader, {"hidden_act"}, "silu");
  knobs.rope = read_hf_rope(reader, {.d_head = sizes.d_head, .n_ctx = out.n_ctx, .fraction = kRotatedPart});
  knobs.has_qkv_bias = reader.get_bool("attn.has_qkv_bias", {"use_qkv_bias"}, false);
  knobs.has_qk_norm = reader.get_bool("attn.has_qk_norm", {"qk_layernorm"}, false);
  knobs.is_parallel = reader.get_bool("is_parallel", {"use_parallel_residual"}, false);
  return finish_decoder(reader, make_decoder(sizes, knobs), std::move(out));
}

Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "stablelm");
  ModelConfig out{.family = "stablelm"};
  const DecoderSizes sizes = read_gguf_sizes(reader, config, &out);
  StablelmKnobs knobs;
  knobs.eps = reader.need_real("norm.eps", {"attention.layer_norm_epsilon"});
  knobs.rope = read_gguf_rope(reader, config, {.d_head = sizes.d_head, .n_ctx = out.n_ctx, .fraction = kRotatedPart});
  knobs.has_qkv_bias = read_gguf_bias(reader, config, "attn.has_qkv_bias", "blk.0.attn_q.bias");
  knobs.has_qk_norm = gguf_has_tensor(config, "blk.0.attn_q_norm.weight");
  // Converters write true where config.json says nothing, which means false: the second norm tells.
  knobs.is_parallel = !gguf_has_tensor(config, "blk.0.ffn_norm.weight");
  reader.get_value({"use_parallel_residual"});
  reader.note("ffn.activation", "not in GGUF", "silu", ValueOrigin::kDefault);
  return finish_decoder(reader, make_decoder(sizes, knobs), std::move(out));
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  if (format == SourceFormat::kGguf) return decoder_slots(config, gguf_names());
  ModuleNames names = hf_names();
  names.q_norm = "self_attn.q_layernorm.norms";
  names.k_norm = "self_attn.k_layernorm.norms";
  names.is_head_norm_apart = true;
  return decoder_slots(config, names);
}

}  // namespace

const Architecture kStablelm = {.name = "stablelm",
                                .hf_model_types = kHfTypes,
                                .gguf_names = kGgufNames,
                                .golden = "stablelm",
                                .read_config = read_config,
                                .tensor_slots = tensor_slots,
                                .ignorable_tensors = kLlamaIgnorable};

}  // namespace vitro
