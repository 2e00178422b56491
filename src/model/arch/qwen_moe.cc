// Qwen1.5-MoE and Qwen2-MoE (qwen2_moe), Qwen3-MoE: the dense models' layers with experts; some layers may stay dense.
// Qwen2-MoE adds a shared expert that every token passes, behind a sigmoid of its own. Yang et al. 2024 (arXiv
// 2407.10671), 2025 (2505.09388).
#include "model/arch/families.h"
#include "model/arch/hf_config.h"
#include "model/arch/qwen.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes2[] = {"qwen2_moe"};
constexpr std::string_view kHfTypes3[] = {"qwen3_moe"};

/// Layers without experts: every one but each decoder_sparse_step-th, and those that mlp_only_layers lists.
std::vector<bool> read_dense_layers(ConfigReader& reader, int64_t n_layer) {
  const int64_t step = reader.get_size("moe.layer_step", {"decoder_sparse_step"}, 1, kMaxLayers);
  std::vector<bool> is_dense;
  for (int64_t i = 0; i < n_layer; ++i) is_dense.push_back((i + 1) % step != 0);
  if (!reader.has({"mlp_only_layers"})) {
    reader.ignore({"mlp_only_layers"});
    return is_dense;
  }
  for (const double layer : reader.get_reals("moe.dense_layers", {"mlp_only_layers"})) {
    if (layer >= 0 && layer < static_cast<double>(n_layer)) is_dense[static_cast<size_t>(layer)] = true;
  }
  return is_dense;
}

Result<ModelConfig> finish_with_experts(ConfigReader& reader, const UniformDecoder& decoder, ModelConfig config,
                                        const MoeSpec& moe) {
  const std::vector<bool> is_dense = read_dense_layers(reader, decoder.sizes.n_layer);
  const LayerWindows windows = read_qwen_windows(reader, decoder.sizes.n_layer);
  VITRO_TRY_ASSIGN(config, finish_decoder(reader, decoder, std::move(config), windows));
  for (size_t i = 0; i < config.blocks.size(); ++i) {
    if (!is_dense[i]) config.blocks[i].ffn = with_experts(config.blocks[i].ffn, moe);
  }
  return config;
}

Result<ModelConfig> read_config2(SourceFormat, const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "qwen2moe"};
  UniformDecoder decoder = read_hf_rms_decoder(reader, {.n_kv_head = 16, .n_ctx = 32768}, &out);
  set_qkv_biases(reader.get_bool("attn.has_qkv_bias", {"qkv_bias"}, true), &decoder.block.attn);
  MoeSpec moe = read_hf_experts(reader, {.n_expert = 60, .n_expert_used = 4, .d_ff_expert = 1408});
  moe.d_ff_shared = reader.get_size("moe.d_ff_shared", {"shared_expert_intermediate_size"}, 5632);
  moe.has_shared_gate = true;
  return finish_with_experts(reader, decoder, std::move(out), moe);
}

Result<ModelConfig> read_config3(SourceFormat, const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "qwen3moe"};
  UniformDecoder decoder = read_hf_rms_decoder(reader, {.n_kv_head = 4, .d_head = 128, .n_ctx = 32768}, &out);
  add_head_norms(&decoder.block);
  set_attention_biases(reader.get_bool("attn.has_bias", {"attention_bias"}, false), &decoder.block.attn);
  const MoeSpec moe = read_hf_experts(reader, {.n_expert = 128, .n_expert_used = 8, .d_ff_expert = 768});
  return finish_with_experts(reader, decoder, std::move(out), moe);
}

std::vector<TensorSlot> tensor_slots(SourceFormat, const ModelConfig& config) {
  ModuleNames names = hf_names();
  names.shared_gate = "mlp.shared_expert.gate_proj";
  names.shared_up = "mlp.shared_expert.up_proj";
  names.shared_down = "mlp.shared_expert.down_proj";
  names.shared_switch = "mlp.shared_expert_gate";
  return decoder_slots(config, names);
}

}  // namespace

const Architecture kQwen2Moe = {.name = "qwen2moe",
                                .hf_model_types = kHfTypes2,
                                .golden = "qwen2-moe",
                                .runs = false,
                                .read_config = read_config2,
                                .tensor_slots = tensor_slots,
                                .ignorable_tensors = kLlamaIgnorable};

const Architecture kQwen3Moe = {.name = "qwen3moe",
                                .hf_model_types = kHfTypes3,
                                .golden = "qwen3-moe",
                                .runs = false,
                                .read_config = read_config3,
                                .tensor_slots = tensor_slots,
                                .ignorable_tensors = kLlamaIgnorable};

}  // namespace vitro
