// GPT-2, GPT-3-shaped models and Cerebras-GPT: LayerNorm before each half, learned positions, plain feed-forward,
// biases everywhere, tied head. Radford et al. 2019. The checkpoints store matrices as [in, out] (Conv1D) and q, k, v
// as one.
#include <fmt/core.h>

#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"gpt2"};
constexpr std::string_view kGgufNames[] = {"gpt2"};
constexpr std::string_view kHfRoots[] = {"transformer.", ""};
constexpr std::string_view kIgnorable[] = {".attn.bias", ".attn.masked_bias", "lm_head.weight"};

BlockSpec make_block(const DecoderSizes& sizes, double eps, ActivationKind activation) {
  BlockSpec block;
  block.norm = {.kind = NormKind::kLayerNorm, .eps = eps, .has_bias = true};
  block.attn = plain_attention(sizes);
  set_attention_biases(true, &block.attn);
  block.ffn = {
      .d_ff = sizes.d_ff, .is_gated = false, .activation = activation, .has_in_bias = true, .has_out_bias = true};
  return block;
}

void set_positions(ModelConfig* config) {
  config->position = PositionKind::kLearned;
  config->n_position_rows = config->n_ctx;
}

DecoderSizes read_sizes(ConfigReader& reader, ModelConfig* config) {
  DecoderSizes sizes;
  config->d_model = reader.need_size("d_model", {"n_embd", "hidden_size"});
  sizes.n_layer = reader.need_size("n_layer", {"n_layer", "num_hidden_layers"}, kMaxLayers);
  sizes.n_head = sizes.n_kv_head = reader.need_size("attn.n_head", {"n_head", "num_attention_heads"});
  sizes.d_head = config->d_model / sizes.n_head;
  config->vocab_size = reader.need_size("vocab_size", {"vocab_size"}, kMaxVocab);
  config->n_ctx = reader.need_size("n_ctx", {"n_positions", "n_ctx", "max_position_embeddings"}, kMaxContext);
  sizes.d_ff = reader.get_size("ffn.d_ff", {"n_inner"}, 4 * config->d_model);
  config->is_head_tied = reader.get_bool("is_head_tied", {"tie_word_embeddings"}, true);
  read_hf_token_ids(reader, config);
  return sizes;
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "gpt2"};
  const DecoderSizes sizes = read_sizes(reader, &out);
  const double eps = reader.get_real("norm.eps", {"layer_norm_epsilon"}, 1e-5);
  const ActivationKind activation = read_hf_activation(reader, {"activation_function"}, "gelu_new");
  const bool is_scaled = reader.get_bool("attn.is_scaled", {"scale_attn_weights"}, true);
  const bool is_scaled_by_layer =
      reader.get_bool("attn.is_scaled_by_layer", {"scale_attn_by_inverse_layer_idx"}, false);
  // Only a question of precision in half floats; scores are float32 here.
  reader.get_value({"reorder_and_upcast_attn"});
  VITRO_TRY(reader.finish());
  set_positions(&out);
  BlockSpec block = make_block(sizes, eps, activation);
  if (!is_scaled) block.attn.scale = 1.0;
  set_blocks(sizes.n_layer, block, &out);
  for (size_t i = 0; is_scaled_by_layer && i < out.blocks.size(); ++i)
    out.blocks[i].attn.scale /= static_cast<double>(i + 1);
  out.values = reader.take_values();
  return out;
}

/// GGUF keeps neither the activation nor the scalings by layer: those are GPT-2's own.
Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "gpt2");
  ModelConfig out{.family = "gpt2"};
  const DecoderSizes sizes = read_gguf_sizes(reader, config, &out);
  const double eps = reader.need_real("norm.eps", {"attention.layer_norm_epsilon"});
  reader.note("ffn.activation", "not in GGUF", "gelu_new", ValueOrigin::kDefault);
  VITRO_TRY(reader.finish());
  set_positions(&out);
  set_blocks(sizes.n_layer, make_block(sizes, eps, ActivationKind::kGeluTanh), &out);
  out.values = reader.take_values();
  return out;
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

ModuleNames hf_module_names() {
  return {.roots = kHfRoots,
          .block = "h.",
          .embed = "wte",
          .pos_embed = "wpe",
          .final_norm = "ln_f",
          .unembed = "lm_head",
          .attn_norm = "ln_1",
          .o = "attn.c_proj",
          .ffn_norm = "ln_2",
          .up = "mlp.c_fc",
          .down = "mlp.c_proj",
          .qkv = "attn.c_attn",
          .is_transposed = true};
}

std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  return decoder_slots(config, format == SourceFormat::kGguf ? gguf_fused_names() : hf_module_names());
}

}  // namespace

const Architecture kGpt2 = {.name = "gpt2",
                            .hf_model_types = kHfTypes,
                            .gguf_names = kGgufNames,
                            .golden = "gpt2",
                            .read_config = read_config,
                            .tensor_slots = tensor_slots,
                            .ignorable_tensors = kIgnorable};

}  // namespace vitro
