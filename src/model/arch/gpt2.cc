// GPT-2, GPT-3-shaped models and Cerebras-GPT: LayerNorm before each half, learned positions, plain feed-forward,
// biases everywhere, tied head. Radford et al. 2019. The checkpoints store matrices as [in, out] (Conv1D) and q, k, v
// as one.
#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"gpt2"};
constexpr std::string_view kGgufNames[] = {"gpt2"};
constexpr std::string_view kHfRoots[] = {"transformer.", ""};
constexpr std::string_view kIgnorable[] = {".attn.bias", ".attn.masked_bias", "lm_head.weight"};

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "gpt2"};
  const DecoderSizes sizes =
      read_hf_sizes(reader, {.has_n_kv_head = false, .n_ctx = 1024, .d_ff_ratio = 4, .is_head_tied = true}, &out);
  const double eps = reader.get_real("norm.eps", {"layer_norm_epsilon"}, 1e-5);
  const ActivationKind activation = read_hf_activation(reader, {"activation_function"}, "gelu_new");
  const bool is_scaled = reader.get_bool("attn.is_scaled", {"scale_attn_weights"}, true);
  const bool is_scaled_by_layer =
      reader.get_bool("attn.is_scaled_by_layer", {"scale_attn_by_inverse_layer_idx"}, false);
  // Only a question of precision in half floats; scores are float32 here.
  reader.get_value({"reorder_and_upcast_attn"});
  set_learned_positions(&out);
  BlockSpec block = layer_norm_block(sizes, eps, activation);
  if (!is_scaled) block.attn.scale = 1.0;
  VITRO_TRY_ASSIGN(out, finish_decoder(reader, {sizes, block}, std::move(out)));
  for (size_t i = 0; is_scaled_by_layer && i < out.blocks.size(); ++i)
    out.blocks[i].attn.scale /= static_cast<double>(i + 1);
  return out;
}

/// GGUF keeps neither the activation nor the scalings by layer: those are GPT-2's own.
Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "gpt2");
  ModelConfig out{.family = "gpt2"};
  const DecoderSizes sizes = read_gguf_sizes(reader, config, &out);
  const double eps = reader.need_real("norm.eps", {"attention.layer_norm_epsilon"});
  reader.note("ffn.activation", "not in GGUF", "gelu_new", ValueOrigin::kDefault);
  set_learned_positions(&out);
  return finish_decoder(reader, {sizes, layer_norm_block(sizes, eps, ActivationKind::kGeluTanh)}, std::move(out));
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

ModuleNames hf_module_names() {
  ModuleNames names = hf_gpt_names(kHfRoots);
  names.qkv = "attn.c_attn";
  names.o = "attn.c_proj";
  names.is_transposed = true;
  return names;
}

std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  return decoder_slots(config, format == SourceFormat::kGguf ? gguf_fused_names() : hf_module_names());
}

}  // namespace

const Architecture kGpt2 = {.name = "gpt2",
                            .hf_model_types = kHfTypes,
                            .gguf_names = kGgufNames,
                            .golden = "gpt2",
                            .read_config = read_config,
                            .tensor_slots = tensor_slots,
                            .ignorable_tensors = kIgnorable};

}  // namespace vitro
