// Phi-3, Phi-3.5-mini and Phi-4: Llama's layout with q, k, v in one tensor and gate, up in another; long versions
// stretch the rotary positions by LongRoPE. Abdin et al. 2024 (arXiv 2404.14219).
#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"phi3"};
constexpr std::string_view kGgufNames[] = {"phi3"};
constexpr int64_t kOriginalContext = 4096;
constexpr std::string_view kDiffers =
    "LongRoPE: a sequence that grows past the original length is computed anew with the long factors, once. "
    "transformers "
    "changes the factors there, but leaves the keys in its cache rotated by the short ones.";

/// A window as long as the context hides nothing.
void set_shorter_window(int64_t window, int64_t n_ctx, UniformDecoder* decoder) {
  if (window < n_ctx) set_window(window, &decoder->block.attn);
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "phi3"};
  UniformDecoder decoder =
      read_hf_rms_decoder(reader, {.n_ctx = kOriginalContext, .eps = 1e-5, .n_ctx_original = kOriginalContext}, &out);
  set_shorter_window(read_hf_window(reader, 0), out.n_ctx, &decoder);
  for (const std::string_view key : {"attention_bias", "mlp_bias", "lm_head_bias"}) reader.expect_bool(key, false);
  for (const std::string_view key : {"full_attn_mod", "interpolate_factor"}) reader.expect_int(key, 1);
  return finish_decoder(reader, decoder, std::move(out));
}

Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "phi3");
  ModelConfig out{.family = "phi3"};
  UniformDecoder decoder = read_gguf_rms_decoder(reader, config, &out);
  set_shorter_window(read_gguf_window(reader), out.n_ctx, &decoder);
  return finish_decoder(reader, decoder, std::move(out));
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  ModuleNames names = format == SourceFormat::kGguf ? gguf_fused_names() : hf_names();
  if (format != SourceFormat::kGguf) {
    names.q = names.k = names.v = "";
    names.qkv = "self_attn.qkv_proj";
  }
  names.gate_up = format == SourceFormat::kGguf ? "ffn_up" : "mlp.gate_up_proj";
  return decoder_slots(config, names);
}

}  // namespace

const Architecture kPhi3 = {.name = "phi3",
                            .hf_model_types = kHfTypes,
                            .gguf_names = kGgufNames,
                            .golden = "phi3",
                            .read_config = read_config,
                            .tensor_slots = tensor_slots,
                            .ignorable_tensors = kLlamaIgnorable,
                            .differs = kDiffers};

}  // namespace vitro
