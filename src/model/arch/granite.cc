// Granite 3 (dense): Llama's layout with four multipliers, on the embeddings, the scores, what each half adds to the
// stream, and (dividing) the logits. IBM 2024, "Granite 3.0 Language Models".
#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"granite"};
constexpr std::string_view kGgufNames[] = {"granite"};

/// A scaling that divides the logits; 0 stays for the check of the description to refuse.
double inverse(double scaling) { return scaling == 0.0 ? 0.0 : 1.0 / scaling; }

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "granite"};
  UniformDecoder decoder = read_hf_rms_decoder(reader, {}, &out);
  BlockSpec& block = decoder.block;
  set_attention_biases(reader.get_bool("attn.has_bias", {"attention_bias"}, false), &block.attn);
  block.ffn.has_in_bias = block.ffn.has_out_bias = reader.get_bool("ffn.has_bias", {"mlp_bias"}, false);
  out.embed_scale = reader.get_real("embed_scale", {"embedding_multiplier"}, 1.0);
  block.attn.scale = reader.get_real("attn.scale", {"attention_multiplier"}, 1.0);
  block.residual_scale = reader.get_real("residual_scale", {"residual_multiplier"}, 1.0);
  out.logit_scale = inverse(reader.get_real("logit_divisor", {"logits_scaling"}, 1.0));
  return finish_decoder(reader, decoder, std::move(out));
}

Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "granite");
  ModelConfig out{.family = "granite"};
  UniformDecoder decoder = read_gguf_rms_decoder(reader, config, &out);
  BlockSpec& block = decoder.block;
  set_attention_biases(read_gguf_bias(reader, config, "attn.has_bias", "blk.0.attn_q.bias"), &block.attn);
  block.ffn.has_in_bias = block.ffn.has_out_bias = read_gguf_bias(reader, config, "ffn.has_bias", "blk.0.ffn_up.bias");
  out.embed_scale = reader.need_real("embed_scale", {"embedding_scale"});
  block.attn.scale = reader.need_real("attn.scale", {"attention.scale"});
  block.residual_scale = reader.need_real("residual_scale", {"residual_scale"});
  out.logit_scale = inverse(reader.need_real("logit_divisor", {"logit_scale"}));
  return finish_decoder(reader, decoder, std::move(out));
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  return decoder_slots(config, format == SourceFormat::kGguf ? gguf_permuted_names() : hf_names());
}

}  // namespace

const Architecture kGranite = {.name = "granite",
                               .hf_model_types = kHfTypes,
                               .gguf_names = kGgufNames,
                               .golden = "granite",
                               .read_config = read_config,
                               .tensor_slots = tensor_slots,
                               .ignorable_tensors = kLlamaIgnorable};

}  // namespace vitro
