// Gemma 3 (text): four norms a block whose gains are stored minus one, q and k norms, embeddings times sqrt(d_model),
// five layers that see a window for each one that sees all, with rotary bases of their own. Gemma Team 2025 (arXiv
// 2503.19786).
#include <fmt/core.h>

#include <cmath>

#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"gemma3_text"};
constexpr std::string_view kGgufNames[] = {"gemma3"};
constexpr std::string_view kHfRoots[] = {"model.", "language_model.model.", "model.language_model.", ""};
constexpr std::string_view kIgnorable[] = {".rotary_emb.inv_freq", "lm_head.weight", "language_model.lm_head.weight"};

constexpr int64_t kPeriod = 6;
constexpr double kGlobalTheta = 1'000'000.0;
constexpr double kLocalTheta = 10'000.0;

/// What window layers and full layers differ in, and the rest.
struct GemmaKnobs {
  double eps = 1e-6;
  double score_scale = 1.0;
  bool has_bias = false;
  ActivationKind activation = ActivationKind::kGeluTanh;
  int64_t window = 0;
  RopeSpec rope_window, rope_full;
  double softcap = 0.0;
  std::vector<MaskKind> masks;
};

BlockSpec make_block(const DecoderSizes& sizes, const GemmaKnobs& knobs, MaskKind mask) {
  const bool is_window = mask == MaskKind::kWindow;
  BlockSpec block;
  block.norm = {.kind = NormKind::kRms, .eps = knobs.eps, .gain_offset = 1.0};
  block.norm_place = NormPlace::kSandwich;
  block.attn = rope_attention(sizes, is_window ? knobs.rope_window : knobs.rope_full);
  block.attn.scale = knobs.score_scale;
  block.attn.qk_norm = QkNorm::kPerHeadShared;
  block.attn.qk_norm_spec = block.norm;
  block.attn.softcap = knobs.softcap;
  set_attention_biases(knobs.has_bias, &block.attn);
  if (is_window) set_window(knobs.window, &block.attn);
  block.ffn = {.d_ff = sizes.d_ff, .activation = knobs.activation};
  return block;
}

void set_gemma_blocks(const DecoderSizes& sizes, const GemmaKnobs& knobs, ModelConfig* config) {
  config->embed_scale = std::sqrt(static_cast<double>(config->d_model));
  for (const MaskKind mask : knobs.masks) config->blocks.push_back(make_block(sizes, knobs, mask));
  config->final_norm = {.kind = NormKind::kRms, .eps = knobs.eps, .gain_offset = 1.0};
}

/// Every `period`-th layer sees all, the others a window.
std::vector<MaskKind> periodic_masks(int64_t n_layer, int64_t period) {
  std::vector<MaskKind> masks;
  for (int64_t i = 0; i < n_layer; ++i) masks.push_back((i + 1) % period == 0 ? MaskKind::kCausal : MaskKind::kWindow);
  return masks;
}

/// transformers 5 has one object a layer type; 4 has one global description and a second base for window layers, which
/// are never stretched.
void read_ropes(ConfigReader& reader, const RopeFrame& frame, GemmaKnobs* knobs) {
  RopeFrame local = frame;
  local.theta = kLocalTheta;
  const Value* parameters = reader.has({"rope_parameters"}) ? reader.get_value({"rope_parameters"}) : nullptr;
  if (!parameters || (!parameters->find("full_attention") && !parameters->find("sliding_attention"))) {
    knobs->rope_full = read_hf_rope(reader, frame);
    knobs->rope_window.d_rot = knobs->rope_full.d_rot;
    knobs->rope_window.theta = reader.get_real("rope.window.theta", {"rope_local_base_freq"}, kLocalTheta);
    return;
  }
  ConfigReader kinds = reader.inner(*parameters, "rope_parameters");
  knobs->rope_full = read_hf_rope_object(kinds, kinds.need_value({"full_attention"}), "full_attention", "rope", frame);
  knobs->rope_window =
      read_hf_rope_object(kinds, kinds.need_value({"sliding_attention"}), "sliding_attention", "rope.window", local);
  reader.absorb(std::move(kinds));
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "gemma3"};
  const DecoderSizes sizes =
      read_hf_sizes(reader, {.n_kv_head = 4, .d_head = 256, .n_ctx = 131072, .is_head_tied = true}, &out);
  GemmaKnobs knobs;
  knobs.eps = reader.get_real("norm.eps", {"rms_norm_eps"}, 1e-6);
  knobs.activation = read_hf_activation(reader, {"hidden_activation", "hidden_act"}, "gelu_pytorch_tanh");
  knobs.has_bias = reader.get_bool("attn.has_bias", {"attention_bias"}, false);
  const double scalar = reader.get_real("attn.query_pre_attn_scalar", {"query_pre_attn_scalar"}, 256.0);
  knobs.score_scale = scalar > 0.0 ? 1.0 / std::sqrt(scalar) : 0.0;
  knobs.window = reader.get_size("attn.window", {"sliding_window"}, 4096, kMaxContext);
  knobs.softcap = reader.get_real("attn.softcap", {"attn_logit_softcapping"}, 0.0);
  out.logit_softcap = reader.get_real("logit_softcap", {"final_logit_softcapping"}, 0.0);
  const int64_t period =
      reader.get_size("attn.window_period", {"sliding_window_pattern", "_sliding_window_pattern"}, kPeriod);
  knobs.masks = read_hf_layer_types(reader, sizes.n_layer);
  if (knobs.masks.empty()) knobs.masks = periodic_masks(sizes.n_layer, period);
  read_ropes(reader, {.d_head = sizes.d_head, .n_ctx = out.n_ctx, .theta = kGlobalTheta}, &knobs);
  reader.expect_off("use_bidirectional_attention");
  VITRO_TRY(reader.finish());
  set_gemma_blocks(sizes, knobs, &out);
  out.values = reader.take_values();
  return out;
}

/// attention.sliding_window_pattern: a period, or one bool a layer (true: window); most files have neither.
std::vector<MaskKind> read_gguf_masks(ConfigReader& reader, int64_t n_layer) {
  const Value* pattern = reader.has({"attention.sliding_window_pattern"})
                             ? reader.get_value({"attention.sliding_window_pattern"})
                             : nullptr;
  const Value::Array* flags = pattern ? pattern->as_array() : nullptr;
  if (!flags)
    return periodic_masks(n_layer,
                          reader.get_size("attn.window_period", {"attention.sliding_window_pattern"}, kPeriod));
  std::vector<MaskKind> masks;
  for (const Value& flag : *flags) {
    if (flag.as_bool()) masks.push_back(*flag.as_bool() ? MaskKind::kWindow : MaskKind::kCausal);
  }
  if (masks.size() == flags->size() && static_cast<int64_t>(masks.size()) == n_layer) return masks;
  reader.problem(fmt::format("'attention.sliding_window_pattern' must be a number or {} booleans", n_layer));
  return periodic_masks(n_layer, kPeriod);
}

/// query_pre_attn_scalar, which GGUF does not keep: d_head in every published model but the 27B (62 layers), which
/// takes d_model / n_head.
int64_t gguf_score_scalar(const DecoderSizes& sizes, const ModelConfig& config) {
  constexpr int64_t kLayersOf27B = 62;
  return sizes.n_layer == kLayersOf27B ? config.d_model / sizes.n_head : sizes.d_head;
}

Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "gemma3");
  ModelConfig out{.family = "gemma3"};
  const DecoderSizes sizes = read_gguf_sizes(reader, config, &out);
  GemmaKnobs knobs;
  knobs.eps = reader.need_real("norm.eps", {"attention.layer_norm_rms_epsilon"});
  const double scalar = static_cast<double>(gguf_score_scalar(sizes, out));
  reader.note("attn.query_pre_attn_scalar", "not in GGUF", fmt::format("{}", scalar), ValueOrigin::kDefault);
  knobs.score_scale = 1.0 / std::sqrt(scalar);
  knobs.window = reader.need_size("attn.window", {"attention.sliding_window"}, kMaxContext);
  knobs.softcap = reader.get_real("attn.softcap", {"attn_logit_softcapping"}, 0.0);
  out.logit_softcap = reader.get_real("logit_softcap", {"final_logit_softcapping"}, 0.0);
  knobs.masks = read_gguf_masks(reader, sizes.n_layer);
  knobs.rope_full = read_gguf_rope(reader, config, {.d_head = sizes.d_head, .n_ctx = out.n_ctx, .theta = kGlobalTheta});
  knobs.rope_window.d_rot = knobs.rope_full.d_rot;
  knobs.rope_window.theta = reader.get_real("rope.window.theta", {"rope.freq_base_swa"}, kLocalTheta);
  VITRO_TRY(reader.finish());
  set_gemma_blocks(sizes, knobs, &out);
  out.values = reader.take_values();
  return out;
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

ModuleNames hf_module_names() {
  ModuleNames names = hf_names(kHfRoots);
  names.q_norm = "self_attn.q_norm";
  names.k_norm = "self_attn.k_norm";
  names.attn_post_norm = "post_attention_layernorm";
  names.ffn_norm = "pre_feedforward_layernorm";
  names.ffn_post_norm = "post_feedforward_layernorm";
  return names;
}

std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  if (format != SourceFormat::kGguf) return decoder_slots(config, hf_module_names());
  ModuleNames names = gguf_names();
  names.norm_add = -1.0;
  return decoder_slots(config, names);
}

}  // namespace

const Architecture kGemma3 = {.name = "gemma3",
                              .hf_model_types = kHfTypes,
                              .gguf_names = kGgufNames,
                              .golden = "gemma3",
                              .read_config = read_config,
                              .tensor_slots = tensor_slots,
                              .ignorable_tensors = kIgnorable};

}  // namespace vitro
