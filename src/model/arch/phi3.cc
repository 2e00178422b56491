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
constexpr std::string_view kHfRoots[] = {"model.", ""};
constexpr std::string_view kIgnorable[] = {".rotary_emb.inv_freq", "lm_head.weight"};
constexpr int64_t kOriginalContext = 4096;

void set_phi3_blocks(const DecoderSizes& sizes, const RopeSpec& rope, double eps, int64_t window, ModelConfig* config) {
  BlockSpec block;
  block.norm = {.kind = NormKind::kRms, .eps = eps};
  block.attn = rope_attention(sizes, rope);
  // A window as long as the context hides nothing.
  if (window < config->n_ctx) set_window(window, &block.attn);
  block.ffn = {.d_ff = sizes.d_ff};
  set_blocks(sizes.n_layer, block, config);
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "phi3"};
  const DecoderSizes sizes = read_hf_sizes(reader, {.n_ctx = kOriginalContext}, &out);
  const double eps = reader.get_real("norm.eps", {"rms_norm_eps"}, 1e-5);
  const ActivationKind activation = read_hf_activation(reader, {"hidden_act"}, "silu");
  const int64_t original =
      reader.get_size("n_ctx_original", {"original_max_position_embeddings"}, kOriginalContext, kMaxContext);
  const RopeSpec rope = read_hf_rope(reader, {.d_head = sizes.d_head, .n_ctx = out.n_ctx, .n_ctx_original = original});
  const int64_t window =
      reader.has({"sliding_window"}) ? reader.get_size("attn.window", {"sliding_window"}, 1, kMaxContext) : 0;
  reader.get_value({"sliding_window"});
  for (const std::string_view key : {"attention_bias", "mlp_bias", "lm_head_bias"}) reader.expect_bool(key, false);
  for (const std::string_view key : {"full_attn_mod", "interpolate_factor"}) reader.expect_int(key, 1);
  VITRO_TRY(reader.finish());
  set_phi3_blocks(sizes, rope, eps, window, &out);
  for (BlockSpec& block : out.blocks) block.ffn.activation = activation;
  out.values = reader.take_values();
  return out;
}

Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "phi3");
  ModelConfig out{.family = "phi3"};
  const DecoderSizes sizes = read_gguf_sizes(reader, config, &out);
  const double eps = reader.need_real("norm.eps", {"attention.layer_norm_rms_epsilon"});
  const RopeSpec rope = read_gguf_rope(reader, config, {.d_head = sizes.d_head, .n_ctx = out.n_ctx});
  const int64_t window = read_gguf_window(reader);
  VITRO_TRY(reader.finish());
  set_phi3_blocks(sizes, rope, eps, window, &out);
  out.values = reader.take_values();
  return out;
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  ModuleNames names = format == SourceFormat::kGguf ? gguf_fused_names() : hf_names(kHfRoots);
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
                            .ignorable_tensors = kIgnorable};

}  // namespace vitro
