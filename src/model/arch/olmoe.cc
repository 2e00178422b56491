// OLMoE: Llama's layers with experts of the dense layer's width, q and k normalised over their whole width before they
// are split into heads. Muennighoff et al. 2024 (arXiv 2409.02060).
#include "model/arch/families.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"olmoe"};

Result<ModelConfig> read_config(SourceFormat, const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "olmoe"};
  UniformDecoder decoder = read_hf_rms_decoder(reader, {.n_ctx = 4096, .eps = 1e-5}, &out);
  decoder.block.attn.qk_norm = QkNorm::kWholeProjection;
  decoder.block.attn.qk_norm_spec = decoder.block.norm;
  // OLMo clips before these norms, transformers after; no published model does either.
  reader.expect_off("clip_qkv");
  set_attention_biases(reader.get_bool("attn.has_bias", {"attention_bias"}, false), &decoder.block.attn);
  const MoeSpec moe = read_hf_experts(
      reader, {.n_expert = 64, .n_expert_used = 8, .d_ff_expert = decoder.sizes.d_ff, .has_d_ff_expert = false});
  decoder.block.ffn = with_experts(decoder.block.ffn, moe);
  return finish_decoder(reader, decoder, std::move(out));
}

std::vector<TensorSlot> tensor_slots(SourceFormat, const ModelConfig& config) {
  return decoder_slots(config, hf_names());
}

}  // namespace

const Architecture kOlmoe = {.name = "olmoe",
                             .hf_model_types = kHfTypes,
                             .golden = "olmoe",
                             .read_config = read_config,
                             .tensor_slots = tensor_slots,
                             .ignorable_tensors = kLlamaIgnorable};

}  // namespace vitro
