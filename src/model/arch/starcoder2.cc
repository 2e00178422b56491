// StarCoder 2: LayerNorms, rotary positions, grouped heads, a plain feed-forward with the tanh form of GELU, biases
// everywhere, a window. Lozhkov et al. 2024 (arXiv 2402.19173).
#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"starcoder2"};
constexpr std::string_view kGgufNames[] = {"starcoder2"};

BlockSpec make_block(const DecoderSizes& sizes, const RopeSpec& rope, double eps, bool has_bias) {
  BlockSpec block = layer_norm_block(sizes, eps, ActivationKind::kGeluTanh);
  set_rope(rope, &block.attn);
  set_projection_biases(has_bias, &block);
  return block;
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "starcoder2"};
  const DecoderSizes sizes = read_hf_sizes(reader, {.n_kv_head = 2, .n_ctx = 4096, .is_head_tied = true}, &out);
  const double eps = reader.get_real("norm.eps", {"norm_epsilon"}, 1e-5);
  const ActivationKind activation = read_hf_activation(reader, {"hidden_act"}, "gelu_pytorch_tanh");
  const RopeSpec rope = read_hf_rope(reader, {.d_head = sizes.d_head, .n_ctx = out.n_ctx});
  const bool has_bias = reader.get_bool("has_bias", {"use_bias"}, true);
  const int64_t window = read_hf_window(reader, 0);
  reader.expect_string("mlp_type", {"default"});
  reader.expect_string("norm_type", {"layer_norm"});
  BlockSpec block = make_block(sizes, rope, eps, has_bias);
  block.ffn.activation = activation;
  set_window(window, &block.attn);
  return finish_decoder(reader, {sizes, block}, std::move(out));
}

Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "starcoder2");
  ModelConfig out{.family = "starcoder2"};
  const DecoderSizes sizes = read_gguf_sizes(reader, config, &out);
  const double eps = reader.need_real("norm.eps", {"attention.layer_norm_epsilon"});
  const RopeSpec rope = read_gguf_rope(reader, config, {.d_head = sizes.d_head, .n_ctx = out.n_ctx});
  const bool has_bias = read_gguf_bias(reader, config, "has_bias", "blk.0.attn_q.bias");
  const int64_t window = read_gguf_window(reader);
  reader.note("ffn.activation", "not in GGUF", "gelu_pytorch_tanh", ValueOrigin::kDefault);
  BlockSpec block = make_block(sizes, rope, eps, has_bias);
  set_window(window, &block.attn);
  return finish_decoder(reader, {sizes, block}, std::move(out));
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  if (format == SourceFormat::kGguf) return decoder_slots(config, gguf_names());
  ModuleNames names = hf_names();
  names.up = "mlp.c_fc";
  names.down = "mlp.c_proj";
  return decoder_slots(config, names);
}

}  // namespace

const Architecture kStarcoder2 = {.name = "starcoder2",
                                  .hf_model_types = kHfTypes,
                                  .gguf_names = kGgufNames,
                                  .golden = "starcoder2",
                                  .read_config = read_config,
                                  .tensor_slots = tensor_slots,
                                  .ignorable_tensors = kLlamaIgnorable};

}  // namespace vitro
