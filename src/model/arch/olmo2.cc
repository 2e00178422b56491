// OLMo 2: Llama's layout with the norms moved behind both halves, and q and k normalised over their whole width before
// they are split into heads. OLMo Team 2024 (arXiv 2501.00656).
#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"olmo2"};
constexpr std::string_view kGgufNames[] = {"olmo2"};

void set_norms(BlockSpec* block) {
  block->norm_place = NormPlace::kOutOnly;
  block->attn.qk_norm = QkNorm::kWholeProjection;
  block->attn.qk_norm_spec = block->norm;
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "olmo2"};
  UniformDecoder decoder = read_hf_rms_decoder(reader, {.eps = 1e-5}, &out);
  set_norms(&decoder.block);
  set_attention_biases(reader.get_bool("attn.has_bias", {"attention_bias"}, false), &decoder.block.attn);
  return finish_decoder(reader, decoder, std::move(out));
}

Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "olmo2");
  ModelConfig out{.family = "olmo2"};
  UniformDecoder decoder = read_gguf_rms_decoder(reader, config, &out);
  set_norms(&decoder.block);
  set_attention_biases(read_gguf_bias(reader, config, "attn.has_bias", "blk.0.attn_q.bias"), &decoder.block.attn);
  return finish_decoder(reader, decoder, std::move(out));
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  if (format == SourceFormat::kGguf) return decoder_slots(config, gguf_names());
  ModuleNames names = hf_names();
  names.attn_post_norm = "post_attention_layernorm";
  names.ffn_post_norm = "post_feedforward_layernorm";
  return decoder_slots(config, names);
}

}  // namespace

const Architecture kOlmo2 = {.name = "olmo2",
                             .hf_model_types = kHfTypes,
                             .gguf_names = kGgufNames,
                             .golden = "olmo2",
                             .read_config = read_config,
                             .tensor_slots = tensor_slots,
                             .ignorable_tensors = kLlamaIgnorable};

}  // namespace vitro
