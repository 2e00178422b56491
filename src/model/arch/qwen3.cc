// Qwen3 (dense): Llama's layout with a wider head, and q and k normalised over each head before the rotary step. Yang
// et al. 2025 (arXiv 2505.09388).
#include <algorithm>

#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"qwen3"};
constexpr std::string_view kGgufNames[] = {"qwen3"};
constexpr std::string_view kHfRoots[] = {"model.", ""};
constexpr std::string_view kIgnorable[] = {".rotary_emb.inv_freq", "lm_head.weight"};

BlockSpec make_block(const DecoderSizes& sizes, const RopeSpec& rope, double eps) {
  BlockSpec block;
  block.norm = {.kind = NormKind::kRms, .eps = eps};
  block.attn = rope_attention(sizes, rope);
  block.attn.qk_norm = QkNorm::kPerHeadShared;
  block.attn.qk_norm_spec = block.norm;
  block.ffn = {.d_ff = sizes.d_ff};
  return block;
}

/// Which layers see a window: layer_types where the file has the list, else all from max_window_layers on if windows
/// are on at all.
void read_windows(ConfigReader& reader, int64_t n_layer, std::vector<MaskKind>* masks, int64_t* window) {
  const bool has_windows = reader.get_bool("attn.has_windows", {"use_sliding_window"}, false);
  const int64_t first = reader.get_int("attn.first_window_layer", {"max_window_layers"}, 28);
  *masks = read_hf_layer_types(reader, n_layer);
  if (masks->empty()) {
    for (int64_t i = 0; i < n_layer; ++i)
      masks->push_back(has_windows && i >= first ? MaskKind::kWindow : MaskKind::kCausal);
  }
  const bool is_used = std::find(masks->begin(), masks->end(), MaskKind::kWindow) != masks->end();
  *window = is_used ? reader.get_size("attn.window", {"sliding_window"}, 4096, kMaxContext) : 0;
  reader.get_value({"sliding_window"});
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "qwen3"};
  const DecoderSizes sizes = read_hf_sizes(reader, {.n_kv_head = 32, .d_head = 128, .n_ctx = 32768}, &out);
  const double eps = reader.get_real("norm.eps", {"rms_norm_eps"}, 1e-6);
  const ActivationKind activation = read_hf_activation(reader, {"hidden_act"}, "silu");
  const bool has_bias = reader.get_bool("attn.has_bias", {"attention_bias"}, false);
  const RopeSpec rope = read_hf_rope(reader, {.d_head = sizes.d_head, .n_ctx = out.n_ctx});
  std::vector<MaskKind> masks;
  int64_t window = 0;
  read_windows(reader, sizes.n_layer, &masks, &window);
  VITRO_TRY(reader.finish());
  BlockSpec block = make_block(sizes, rope, eps);
  block.ffn.activation = activation;
  set_attention_biases(has_bias, &block.attn);
  set_blocks(sizes.n_layer, block, &out);
  for (size_t i = 0; i < masks.size(); ++i) {
    if (masks[i] == MaskKind::kWindow) set_window(window, &out.blocks[i].attn);
  }
  out.values = reader.take_values();
  return out;
}

Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "qwen3");
  ModelConfig out{.family = "qwen3"};
  const DecoderSizes sizes = read_gguf_sizes(reader, config, &out);
  const double eps = reader.need_real("norm.eps", {"attention.layer_norm_rms_epsilon"});
  const RopeSpec rope = read_gguf_rope(reader, config, {.d_head = sizes.d_head, .n_ctx = out.n_ctx});
  const bool has_bias = read_gguf_bias(reader, config, "attn.has_bias", "blk.0.attn_q.bias");
  VITRO_TRY(reader.finish());
  BlockSpec block = make_block(sizes, rope, eps);
  set_attention_biases(has_bias, &block.attn);
  set_blocks(sizes.n_layer, block, &out);
  out.values = reader.take_values();
  return out;
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  if (format == SourceFormat::kGguf) return decoder_slots(config, gguf_names());
  ModuleNames names = hf_names(kHfRoots);
  names.q_norm = "self_attn.q_norm";
  names.k_norm = "self_attn.k_norm";
  return decoder_slots(config, names);
}

}  // namespace

const Architecture kQwen3 = {.name = "qwen3",
                             .hf_model_types = kHfTypes,
                             .gguf_names = kGgufNames,
                             .golden = "qwen3",
                             .read_config = read_config,
                             .tensor_slots = tensor_slots,
                             .ignorable_tensors = kIgnorable};

}  // namespace vitro
