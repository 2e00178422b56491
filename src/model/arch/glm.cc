// GLM-4-9B in the Hugging Face layout (glm) and GLM-4-0414 (glm4): adjacent rotary pairs on the first half of each
// head, biases on q, k and v, gate and up in one tensor; glm4 also normalises what both halves give. GLM Team 2024
// (arXiv 2406.12793).
#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"glm"};
constexpr std::string_view kHfTypes4[] = {"glm4"};
constexpr std::string_view kGgufNames4[] = {"glm4"};
constexpr double kRotatedPart = 0.5;

Result<ModelConfig> read_hf(std::string_view family, NormPlace norm_place, const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = std::string(family)};
  const HfDefaults defaults = {
      .n_kv_head = 2, .d_head = 128, .n_ctx = 131072, .eps = 1.5625e-7, .rope_fraction = kRotatedPart};
  UniformDecoder decoder = read_hf_rms_decoder(reader, defaults, &out);
  decoder.block.norm_place = norm_place;
  decoder.block.attn.rope.pairing = RopePairing::kAdjacent;
  set_qkv_biases(reader.get_bool("attn.has_bias", {"attention_bias"}, true), &decoder.block.attn);
  return finish_decoder(reader, decoder, std::move(out));
}

Result<ModelConfig> read_gguf4(const Value& config) {
  ConfigReader reader = gguf_reader(config, "glm4");
  ModelConfig out{.family = "glm4"};
  UniformDecoder decoder = read_gguf_rms_decoder(reader, config, &out, {.fraction = kRotatedPart});
  decoder.block.norm_place = NormPlace::kSandwich;
  decoder.block.attn.rope.pairing = RopePairing::kAdjacent;
  set_qkv_biases(read_gguf_bias(reader, config, "attn.has_bias", "blk.0.attn_q.bias"), &decoder.block.attn);
  return finish_decoder(reader, decoder, std::move(out));
}

Result<ModelConfig> read_config(SourceFormat, const Value& config) { return read_hf("glm", NormPlace::kPre, config); }

Result<ModelConfig> read_config4(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf4(config) : read_hf("glm4", NormPlace::kSandwich, config);
}

std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  const bool is_gguf = format == SourceFormat::kGguf;
  ModuleNames names = is_gguf ? gguf_names() : hf_names();
  names.gate_up = is_gguf ? "ffn_up" : "mlp.gate_up_proj";
  if (!is_gguf) {
    names.attn_post_norm = "post_self_attn_layernorm";
    names.ffn_post_norm = "post_mlp_layernorm";
  }
  return decoder_slots(config, names);
}

}  // namespace

const Architecture kGlm = {.name = "glm",
                           .hf_model_types = kHfTypes,
                           .gguf_names = {},
                           .golden = "glm",
                           .read_config = read_config,
                           .tensor_slots = tensor_slots,
                           .ignorable_tensors = kLlamaIgnorable};

const Architecture kGlm4 = {.name = "glm4",
                            .hf_model_types = kHfTypes4,
                            .gguf_names = kGgufNames4,
                            .golden = "glm4",
                            .read_config = read_config4,
                            .tensor_slots = tensor_slots,
                            .ignorable_tensors = kLlamaIgnorable};

}  // namespace vitro
