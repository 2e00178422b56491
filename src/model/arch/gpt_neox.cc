// GPT-NeoX-20B, Pythia and relatives: LayerNorm, rotary positions on a part of each head, both halves of a block in
// parallel (each with its own norm) or one after the other, biases everywhere. Black et al. 2022 (arXiv 2204.06745),
// Biderman et al. 2023 (2304.01373).
#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"gpt_neox"};
constexpr std::string_view kGgufNames[] = {"gptneox"};
constexpr std::string_view kHfRoots[] = {"gpt_neox.", ""};
constexpr std::string_view kIgnorable[] = {".attention.bias", ".attention.masked_bias", ".rotary_emb.inv_freq",
                                           "embed_out.weight"};
constexpr double kRotatedPart = 0.25;

struct NeoxKnobs {
  double eps = 1e-5;
  bool is_parallel = true;
  bool has_attention_bias = true;
  ActivationKind activation = ActivationKind::kGeluErf;
};

UniformDecoder make_decoder(const DecoderSizes& sizes, const RopeSpec& rope, const NeoxKnobs& knobs) {
  BlockSpec block = layer_norm_block(sizes, knobs.eps, knobs.activation);
  block.residual = knobs.is_parallel ? Residual::kParallel : Residual::kSequential;
  set_rope(rope, &block.attn);
  set_attention_biases(knobs.has_attention_bias, &block.attn);
  return {sizes, block};
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "gpt_neox"};
  const DecoderSizes sizes = read_hf_sizes(reader, {.has_n_kv_head = false}, &out);
  NeoxKnobs knobs;
  knobs.eps = reader.get_real("norm.eps", {"layer_norm_eps"}, knobs.eps);
  knobs.activation = read_hf_activation(reader, {"hidden_act"}, "gelu");
  knobs.is_parallel = reader.get_bool("is_parallel", {"use_parallel_residual"}, true);
  knobs.has_attention_bias = reader.get_bool("attn.has_bias", {"attention_bias"}, true);
  const RopeSpec rope = read_hf_rope(reader, {.d_head = sizes.d_head, .n_ctx = out.n_ctx, .fraction = kRotatedPart});
  return finish_decoder(reader, make_decoder(sizes, rope, knobs), std::move(out));
}

Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "gptneox");
  ModelConfig out{.family = "gpt_neox"};
  const DecoderSizes sizes = read_gguf_sizes(reader, config, &out);
  NeoxKnobs knobs;
  knobs.eps = reader.need_real("norm.eps", {"attention.layer_norm_epsilon"});
  knobs.is_parallel = reader.get_bool("is_parallel", {"use_parallel_residual"}, true);
  knobs.has_attention_bias = read_gguf_bias(reader, config, "attn.has_bias", "blk.0.attn_qkv.bias");
  reader.note("ffn.activation", "not in GGUF", "gelu", ValueOrigin::kDefault);
  const RopeSpec rope =
      read_gguf_rope(reader, config, {.d_head = sizes.d_head, .n_ctx = out.n_ctx, .fraction = kRotatedPart});
  return finish_decoder(reader, make_decoder(sizes, rope, knobs), std::move(out));
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

ModuleNames hf_module_names() {
  ModuleNames names = hf_megatron_names(kHfRoots);
  names.block = "layers.";
  names.embed = "embed_in";
  names.final_norm = "final_layer_norm";
  names.unembed = "embed_out";
  names.o = "attention.dense";
  names.qkv = "attention.query_key_value";
  return names;
}

/// GGUF's converter re-orders q, k, v from heads to blocks.
std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  return decoder_slots(config, format == SourceFormat::kGguf ? gguf_fused_names() : hf_module_names());
}

}  // namespace

const Architecture kGptNeox = {.name = "gpt_neox",
                               .hf_model_types = kHfTypes,
                               .gguf_names = kGgufNames,
                               .golden = "gpt-neox",
                               .read_config = read_config,
                               .tensor_slots = tensor_slots,
                               .ignorable_tensors = kIgnorable};

}  // namespace vitro
