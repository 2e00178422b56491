// OLMoE: Llama's layers with experts of the dense layer's width, q and k normalised over their whole width before they
// are split into heads. Muennighoff et al. 2024 (arXiv 2409.02060).
#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"olmoe"};
constexpr std::string_view kGgufNames[] = {"olmoe"};

void set_norms(BlockSpec* block) {
  block->attn.qk_norm = QkNorm::kWholeProjection;
  block->attn.qk_norm_spec = block->norm;
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "olmoe"};
  UniformDecoder decoder = read_hf_rms_decoder(reader, {.n_ctx = 4096, .eps = 1e-5}, &out);
  set_norms(&decoder.block);
  // OLMo clips before these norms, transformers after; no published model does either.
  reader.expect_off("clip_qkv");
  set_attention_biases(reader.get_bool("attn.has_bias", {"attention_bias"}, false), &decoder.block.attn);
  const MoeSpec moe = read_hf_experts(
      reader, {.n_expert = 64, .n_expert_used = 8, .d_ff_expert = decoder.sizes.d_ff, .has_d_ff_expert = false});
  decoder.block.ffn = with_experts(decoder.block.ffn, moe);
  return finish_decoder(reader, decoder, std::move(out));
}

Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "olmoe");
  ModelConfig out{.family = "olmoe"};
  UniformDecoder decoder = read_gguf_rms_decoder(reader, config, &out);
  set_norms(&decoder.block);
  decoder.block.ffn = with_experts(decoder.block.ffn, read_gguf_experts(reader, decoder.sizes.d_ff));
  return finish_decoder(reader, decoder, std::move(out));
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  return decoder_slots(config, format == SourceFormat::kGguf ? gguf_names() : hf_names());
}

}  // namespace

const Architecture kOlmoe = {.name = "olmoe",
                             .hf_model_types = kHfTypes,
                             .gguf_names = kGgufNames,
                             .golden = "olmoe",
                             .runs = false,
                             .read_config = read_config,
                             .tensor_slots = tensor_slots,
                             .ignorable_tensors = kLlamaIgnorable};

}  // namespace vitro
