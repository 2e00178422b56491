// Qwen 1.5 to 2.5 (qwen2) and Qwen3 (dense): Llama's layout, windows in the later layers where they are switched on.
// Qwen2 has biases on q, k and v; Qwen3 a wider head, and q and k normalised over each head before the rotary step.
// Bai et al. 2023 (arXiv 2309.16609), Yang et al. 2024 (2407.10671), 2025 (2505.09388).
#include "model/arch/qwen.h"

#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes2[] = {"qwen2"};
constexpr std::string_view kHfTypes3[] = {"qwen3"};
constexpr std::string_view kGgufNames2[] = {"qwen2"};
constexpr std::string_view kGgufNames3[] = {"qwen3"};

Result<ModelConfig> read_hf_qwen2(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "qwen2"};
  UniformDecoder decoder = read_hf_rms_decoder(reader, {.n_kv_head = 32, .n_ctx = 32768}, &out);
  set_qkv_biases(true, &decoder.block.attn);
  reader.expect_bool("use_mrope", false);
  const LayerWindows windows = read_qwen_windows(reader, decoder.sizes.n_layer);
  return finish_decoder(reader, decoder, std::move(out), windows);
}

Result<ModelConfig> read_hf_qwen3(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "qwen3"};
  UniformDecoder decoder = read_hf_rms_decoder(reader, {.n_kv_head = 32, .d_head = 128, .n_ctx = 32768}, &out);
  add_head_norms(&decoder.block);
  set_attention_biases(reader.get_bool("attn.has_bias", {"attention_bias"}, false), &decoder.block.attn);
  const LayerWindows windows = read_qwen_windows(reader, decoder.sizes.n_layer);
  return finish_decoder(reader, decoder, std::move(out), windows);
}

/// GGUF keeps no windows.
Result<ModelConfig> read_gguf_qwen2(const Value& config) {
  ConfigReader reader = gguf_reader(config, "qwen2");
  ModelConfig out{.family = "qwen2"};
  UniformDecoder decoder = read_gguf_rms_decoder(reader, config, &out);
  set_qkv_biases(read_gguf_bias(reader, config, "attn.has_bias", "blk.0.attn_q.bias"), &decoder.block.attn);
  return finish_decoder(reader, decoder, std::move(out));
}

Result<ModelConfig> read_gguf_qwen3(const Value& config) {
  ConfigReader reader = gguf_reader(config, "qwen3");
  ModelConfig out{.family = "qwen3"};
  UniformDecoder decoder = read_gguf_rms_decoder(reader, config, &out);
  add_head_norms(&decoder.block);
  set_attention_biases(read_gguf_bias(reader, config, "attn.has_bias", "blk.0.attn_q.bias"), &decoder.block.attn);
  return finish_decoder(reader, decoder, std::move(out));
}

Result<ModelConfig> read_qwen2(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf_qwen2(config) : read_hf_qwen2(config);
}

Result<ModelConfig> read_qwen3(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf_qwen3(config) : read_hf_qwen3(config);
}

std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  return decoder_slots(config, format == SourceFormat::kGguf ? gguf_names() : hf_names());
}

}  // namespace

void add_head_norms(BlockSpec* block) {
  block->attn.qk_norm = QkNorm::kPerHeadShared;
  block->attn.qk_norm_spec = block->norm;
}

LayerWindows read_qwen_windows(ConfigReader& reader, int64_t n_layer) {
  const int64_t first = reader.get_int("attn.first_window_layer", {"max_window_layers"}, 28);
  std::vector<MaskKind> by_rule;
  for (int64_t i = 0; i < n_layer; ++i) by_rule.push_back(i >= first ? MaskKind::kWindow : MaskKind::kCausal);
  return read_hf_windows(reader, by_rule, 4096);
}

const Architecture kQwen2 = {.name = "qwen2",
                             .hf_model_types = kHfTypes2,
                             .gguf_names = kGgufNames2,
                             .golden = "qwen2",
                             .read_config = read_qwen2,
                             .tensor_slots = tensor_slots,
                             .ignorable_tensors = kLlamaIgnorable};

const Architecture kQwen3 = {.name = "qwen3",
                             .hf_model_types = kHfTypes3,
                             .gguf_names = kGgufNames3,
                             .golden = "qwen3",
                             .read_config = read_qwen3,
                             .tensor_slots = tensor_slots,
                             .ignorable_tensors = kLlamaIgnorable};

}  // namespace vitro
