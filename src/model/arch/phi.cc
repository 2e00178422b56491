// Phi-1, Phi-1.5 and Phi-2: both halves in parallel behind one LayerNorm, partial rotary positions, biases everywhere,
// also in the head. Li et al. 2023 (arXiv 2309.05463).
#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"phi"};
constexpr std::string_view kGgufNames[] = {"phi2"};
constexpr double kRotatedPart = 0.5;

BlockSpec make_block(const DecoderSizes& sizes, const RopeSpec& rope, double eps, ActivationKind activation) {
  BlockSpec block = layer_norm_block(sizes, eps, activation);
  block.residual = Residual::kParallelSharedNorm;
  set_rope(rope, &block.attn);
  return block;
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "phi", .has_head_bias = true};
  const DecoderSizes sizes = read_hf_sizes(reader, {}, &out);
  const double eps = reader.get_real("norm.eps", {"layer_norm_eps"}, 1e-5);
  const ActivationKind activation = read_hf_activation(reader, {"hidden_act"}, "gelu_new");
  const RopeSpec rope = read_hf_rope(reader, {.d_head = sizes.d_head, .n_ctx = out.n_ctx, .fraction = kRotatedPart});
  const bool has_qk_norm = reader.get_bool("attn.has_qk_norm", {"qk_layernorm"}, false);
  BlockSpec block = make_block(sizes, rope, eps, activation);
  if (has_qk_norm) {
    block.attn.qk_norm = QkNorm::kPerHeadShared;
    block.attn.qk_norm_spec = block.norm;
  }
  return finish_decoder(reader, {sizes, block}, std::move(out));
}

Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "phi2");
  ModelConfig out{.family = "phi", .has_head_bias = true};
  const DecoderSizes sizes = read_gguf_sizes(reader, config, &out);
  const double eps = reader.need_real("norm.eps", {"attention.layer_norm_epsilon"});
  const RopeSpec rope =
      read_gguf_rope(reader, config, {.d_head = sizes.d_head, .n_ctx = out.n_ctx, .fraction = kRotatedPart});
  reader.note("ffn.activation", "not in GGUF", "gelu_new", ValueOrigin::kDefault);
  return finish_decoder(reader, {sizes, make_block(sizes, rope, eps, ActivationKind::kGeluTanh)}, std::move(out));
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

ModuleNames hf_module_names() {
  ModuleNames names = hf_names();
  names.final_norm = "final_layernorm";
  names.q_norm = "self_attn.q_layernorm";
  names.k_norm = "self_attn.k_layernorm";
  names.o = "self_attn.dense";
  names.up = "mlp.fc1";
  names.down = "mlp.fc2";
  return names;
}

/// GGUF files made from the first published checkpoints have q, k, v in one tensor.
std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  if (format == SourceFormat::kGguf) return decoder_slots(config, gguf_names(), gguf_fused_names());
  return decoder_slots(config, hf_module_names());
}

}  // namespace

const Architecture kPhi = {.name = "phi",
                           .hf_model_types = kHfTypes,
                           .gguf_names = kGgufNames,
                           .golden = "phi2",
                           .read_config = read_config,
                           .tensor_slots = tensor_slots,
                           .ignorable_tensors = kLlamaIgnorable};

}  // namespace vitro
