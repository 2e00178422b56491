// Gemma 1 to 3 (text): embeddings times sqrt(d_model), norm gains stored minus one, gated GELU (tanh), tied head.
// Gemma 2 adds norms on the outputs of both halves, a window in every second layer, soft caps on scores and logits;
// Gemma 3 norms of q and k and five window layers for each full one, with a rotary base of their own, instead of caps.
// Gemma Team 2024 (arXiv 2403.08295, 2408.00118), 2025 (2503.19786).
#include <fmt/core.h>

#include <cmath>

#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"gemma"};
constexpr std::string_view kHfTypes2[] = {"gemma2"};
constexpr std::string_view kHfTypes3[] = {"gemma3_text"};
constexpr std::string_view kGgufNames[] = {"gemma"};
constexpr std::string_view kGgufNames2[] = {"gemma2"};
constexpr std::string_view kGgufNames3[] = {"gemma3"};
constexpr std::string_view kHfRoots3[] = {"model.", "language_model.model.", "model.language_model.", ""};
constexpr std::string_view kIgnorable3[] = {".rotary_emb.inv_freq", "lm_head.weight", "language_model.lm_head.weight"};

constexpr int64_t kPeriod2 = 2;
constexpr int64_t kPeriod3 = 6;
constexpr double kGlobalTheta = 1'000'000.0;
constexpr double kLocalTheta = 10'000.0;
// GGUF does not keep query_pre_attn_scalar: it is d_head in every published model but the 27B of each generation,
// known by its layers, which takes d_model / n_head.
constexpr int64_t kLayersOf27B2 = 46;
constexpr int64_t kLayersOf27B3 = 62;

/// A Gemma while it is read: layers that see a window may rotate by another base.
struct Gemma {
  UniformDecoder decoder;
  LayerWindows windows;
  RopeSpec rope_window;
};

void set_norms(double eps, BlockSpec* block) { block->norm = {.kind = NormKind::kRms, .eps = eps, .gain_offset = 1.0}; }

void add_head_norms(BlockSpec* block) {
  block->attn.qk_norm = QkNorm::kPerHeadShared;
  block->attn.qk_norm_spec = block->norm;
}

Result<ModelConfig> finish(ConfigReader& reader, const Gemma& gemma, ModelConfig config) {
  config.embed_scale = std::sqrt(static_cast<double>(config.d_model));
  VITRO_TRY_ASSIGN(ModelConfig out, finish_decoder(reader, gemma.decoder, std::move(config), gemma.windows));
  for (BlockSpec& block : out.blocks) {
    if (block.attn.mask == MaskKind::kWindow) block.attn.rope = gemma.rope_window;
  }
  return out;
}

// ---- config.json ----

/// hidden_activation, else hidden_act, of which the first Gemma's files say "gelu" and mean the tanh form.
ActivationKind read_hf_gemma_activation(ConfigReader& reader) {
  reader.ignore({"hidden_act", "hidden_activation"});
  if (reader.has({"hidden_activation"})) return read_hf_activation(reader, {"hidden_activation"}, "");
  const ActivationKind said = read_hf_activation(reader, {"hidden_act"}, "gelu_pytorch_tanh");
  if (said != ActivationKind::kGeluErf) return said;
  reader.note("ffn.activation", "what \"gelu\" means here", "gelu_pytorch_tanh", ValueOrigin::kDefault);
  return ActivationKind::kGeluTanh;
}

/// What all generations have; RoPE is left to the caller.
Gemma read_hf_gemma(ConfigReader& reader, const HfDefaults& defaults, ModelConfig* config) {
  Gemma gemma;
  gemma.decoder.sizes = read_hf_sizes(reader, defaults, config);
  gemma.decoder.block = rms_block(gemma.decoder.sizes, {}, 1.0);
  BlockSpec& block = gemma.decoder.block;
  set_norms(reader.get_real("norm.eps", {"rms_norm_eps"}, 1e-6), &block);
  block.ffn.activation = read_hf_gemma_activation(reader);
  set_attention_biases(reader.get_bool("attn.has_bias", {"attention_bias"}, false), &block.attn);
  reader.expect_off("use_bidirectional_attention");
  return gemma;
}

RopeFrame rope_frame(const Gemma& gemma, const ModelConfig& config, double theta) {
  return {.d_head = gemma.decoder.sizes.d_head, .n_ctx = config.n_ctx, .theta = theta};
}

Result<ModelConfig> read_hf1(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "gemma"};
  Gemma gemma = read_hf_gemma(reader, {.n_kv_head = 16, .d_head = 256, .n_ctx = 8192, .is_head_tied = true}, &out);
  gemma.decoder.block.attn.rope = read_hf_rope(reader, rope_frame(gemma, out, kLocalTheta));
  return finish(reader, gemma, std::move(out));
}

/// A soft cap; null means none, also where the class has a default.
double read_hf_cap(ConfigReader& reader, std::string_view ours, std::string_view key, double default_cap) {
  return reader.is_null(ours, key) ? 0.0 : reader.get_real(ours, {key}, default_cap);
}

/// What the later generations add.
void read_hf_later(ConfigReader& reader, double score_cap, double logit_cap, Gemma* gemma, ModelConfig* config) {
  BlockSpec& block = gemma->decoder.block;
  block.norm_place = NormPlace::kSandwich;
  const double scalar = reader.get_real("attn.query_pre_attn_scalar", {"query_pre_attn_scalar"}, 256.0);
  block.attn.scale = scalar > 0.0 ? 1.0 / std::sqrt(scalar) : 0.0;
  block.attn.softcap = read_hf_cap(reader, "attn.softcap", "attn_logit_softcapping", score_cap);
  config->logit_softcap = read_hf_cap(reader, "logit_softcap", "final_logit_softcapping", logit_cap);
  gemma->windows.window = reader.get_size("attn.window", {"sliding_window", "sliding_window_size"}, 4096, kMaxContext);
  gemma->windows.masks = read_hf_layer_types(reader, gemma->decoder.sizes.n_layer);
}

Result<ModelConfig> read_hf2(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "gemma2"};
  Gemma gemma = read_hf_gemma(reader, {.n_kv_head = 4, .d_head = 256, .n_ctx = 8192, .is_head_tied = true}, &out);
  read_hf_later(reader, 50.0, 30.0, &gemma, &out);
  if (gemma.windows.masks.empty()) gemma.windows.masks = periodic_masks(gemma.decoder.sizes.n_layer, kPeriod2);
  gemma.decoder.block.attn.rope = gemma.rope_window = read_hf_rope(reader, rope_frame(gemma, out, kLocalTheta));
  return finish(reader, gemma, std::move(out));
}

/// transformers 5 has one object a layer type; 4 has one global description and a second base for window layers, which
/// are never stretched.
void read_hf_ropes3(ConfigReader& reader, const ModelConfig& config, Gemma* gemma) {
  const RopeFrame global = rope_frame(*gemma, config, kGlobalTheta);
  RopeSpec& rope_full = gemma->decoder.block.attn.rope;
  const Value* parameters = reader.has({"rope_parameters"}) ? reader.get_value({"rope_parameters"}) : nullptr;
  if (!parameters || (!parameters->find("full_attention") && !parameters->find("sliding_attention"))) {
    rope_full = read_hf_rope(reader, global);
    gemma->rope_window.d_rot = rope_full.d_rot;
    gemma->rope_window.theta = reader.get_real("rope.window.theta", {"rope_local_base_freq"}, kLocalTheta);
    return;
  }
  ConfigReader kinds = reader.inner(*parameters, "rope_parameters");
  rope_full = read_hf_rope_object(kinds, kinds.need_value({"full_attention"}), "full_attention", "rope", global);
  gemma->rope_window = read_hf_rope_object(kinds, kinds.need_value({"sliding_attention"}), "sliding_attention",
                                           "rope.window", rope_frame(*gemma, config, kLocalTheta));
  reader.absorb(std::move(kinds));
}

Result<ModelConfig> read_hf3(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "gemma3"};
  Gemma gemma = read_hf_gemma(reader, {.n_kv_head = 4, .d_head = 256, .n_ctx = 131072, .is_head_tied = true}, &out);
  read_hf_later(reader, 0.0, 0.0, &gemma, &out);
  add_head_norms(&gemma.decoder.block);
  const int64_t period =
      reader.get_size("attn.window_period", {"sliding_window_pattern", "_sliding_window_pattern"}, kPeriod3);
  if (gemma.windows.masks.empty()) gemma.windows.masks = periodic_masks(gemma.decoder.sizes.n_layer, period);
  read_hf_ropes3(reader, out, &gemma);
  return finish(reader, gemma, std::move(out));
}

// ---- GGUF ----

Gemma read_gguf_gemma(ConfigReader& reader, const Value& config, ModelConfig* out, double theta) {
  Gemma gemma;
  gemma.decoder = read_gguf_rms_decoder(reader, config, out, {.theta = theta});
  BlockSpec& block = gemma.decoder.block;
  set_norms(block.norm.eps, &block);
  reader.note("ffn.activation", "not in GGUF", "gelu_pytorch_tanh", ValueOrigin::kDefault);
  block.ffn.activation = ActivationKind::kGeluTanh;
  return gemma;
}

Result<ModelConfig> read_gguf1(const Value& config) {
  ConfigReader reader = gguf_reader(config, "gemma");
  ModelConfig out{.family = "gemma"};
  const Gemma gemma = read_gguf_gemma(reader, config, &out, kLocalTheta);
  return finish(reader, gemma, std::move(out));
}

void read_gguf_later(ConfigReader& reader, double score_cap, double logit_cap, int64_t n_layer_of_27b, Gemma* gemma,
                     ModelConfig* config) {
  BlockSpec& block = gemma->decoder.block;
  block.norm_place = NormPlace::kSandwich;
  const DecoderSizes& sizes = gemma->decoder.sizes;
  const int64_t scalar = sizes.n_layer == n_layer_of_27b ? config->d_model / sizes.n_head : sizes.d_head;
  reader.note("attn.query_pre_attn_scalar", "not in GGUF", fmt::format("{}", scalar), ValueOrigin::kDefault);
  block.attn.scale = 1.0 / std::sqrt(static_cast<double>(scalar));
  block.attn.softcap = reader.get_real("attn.softcap", {"attn_logit_softcapping"}, score_cap);
  config->logit_softcap = reader.get_real("logit_softcap", {"final_logit_softcapping"}, logit_cap);
}

Result<ModelConfig> read_gguf2(const Value& config) {
  ConfigReader reader = gguf_reader(config, "gemma2");
  ModelConfig out{.family = "gemma2"};
  Gemma gemma = read_gguf_gemma(reader, config, &out, kLocalTheta);
  // The first files of this family have neither caps nor a window.
  read_gguf_later(reader, 50.0, 30.0, kLayersOf27B2, &gemma, &out);
  gemma.windows.window = reader.get_size("attn.window", {"attention.sliding_window"}, 4096, kMaxContext);
  gemma.windows.masks = periodic_masks(gemma.decoder.sizes.n_layer, kPeriod2);
  gemma.rope_window = gemma.decoder.block.attn.rope;
  return finish(reader, gemma, std::move(out));
}

/// attention.sliding_window_pattern: a period, or one bool a layer (true: window); most files have neither.
std::vector<MaskKind> read_gguf_masks3(ConfigReader& reader, int64_t n_layer) {
  const Value* pattern = reader.has({"attention.sliding_window_pattern"})
                             ? reader.get_value({"attention.sliding_window_pattern"})
                             : nullptr;
  const Value::Array* flags = pattern ? pattern->as_array() : nullptr;
  if (!flags)
    return periodic_masks(n_layer,
                          reader.get_size("attn.window_period", {"attention.sliding_window_pattern"}, kPeriod3));
  std::vector<MaskKind> masks;
  for (const Value& flag : *flags) {
    if (flag.as_bool()) masks.push_back(*flag.as_bool() ? MaskKind::kWindow : MaskKind::kCausal);
  }
  if (masks.size() == flags->size() && static_cast<int64_t>(masks.size()) == n_layer) return masks;
  reader.problem(fmt::format("'attention.sliding_window_pattern' must be a number or {} booleans", n_layer));
  return {};
}

Result<ModelConfig> read_gguf3(const Value& config) {
  ConfigReader reader = gguf_reader(config, "gemma3");
  ModelConfig out{.family = "gemma3"};
  Gemma gemma = read_gguf_gemma(reader, config, &out, kGlobalTheta);
  read_gguf_later(reader, 0.0, 0.0, kLayersOf27B3, &gemma, &out);
  add_head_norms(&gemma.decoder.block);
  gemma.windows.window = reader.need_size("attn.window", {"attention.sliding_window"}, kMaxContext);
  gemma.windows.masks = read_gguf_masks3(reader, gemma.decoder.sizes.n_layer);
  gemma.rope_window.d_rot = gemma.decoder.block.attn.rope.d_rot;
  gemma.rope_window.theta = reader.get_real("rope.window.theta", {"rope.freq_base_swa"}, kLocalTheta);
  return finish(reader, gemma, std::move(out));
}

// ---- the families ----

Result<ModelConfig> read_config1(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf1(config) : read_hf1(config);
}

Result<ModelConfig> read_config2(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf2(config) : read_hf2(config);
}

Result<ModelConfig> read_config3(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf3(config) : read_hf3(config);
}

ModuleNames gguf_module_names() {
  ModuleNames names = gguf_names();
  names.norm_add = -1.0;
  return names;
}

/// The norm that others put before the feed-forward half is behind the attention here.
ModuleNames hf_sandwich_names(std::span<const std::string_view> roots) {
  ModuleNames names = hf_names(roots);
  names.attn_post_norm = "post_attention_layernorm";
  names.ffn_norm = "pre_feedforward_layernorm";
  names.ffn_post_norm = "post_feedforward_layernorm";
  return names;
}

std::vector<TensorSlot> tensor_slots1(SourceFormat format, const ModelConfig& config) {
  return decoder_slots(config, format == SourceFormat::kGguf ? gguf_module_names() : hf_names());
}

std::vector<TensorSlot> tensor_slots2(SourceFormat format, const ModelConfig& config) {
  return decoder_slots(config, format == SourceFormat::kGguf ? gguf_module_names() : hf_sandwich_names(kLlamaRoots));
}

std::vector<TensorSlot> tensor_slots3(SourceFormat format, const ModelConfig& config) {
  return decoder_slots(config, format == SourceFormat::kGguf ? gguf_module_names() : hf_sandwich_names(kHfRoots3));
}

}  // namespace

const Architecture kGemma = {.name = "gemma",
                             .hf_model_types = kHfTypes,
                             .gguf_names = kGgufNames,
                             .golden = "gemma",
                             .read_config = read_config1,
                             .tensor_slots = tensor_slots1,
                             .ignorable_tensors = kLlamaIgnorable};

const Architecture kGemma2 = {.name = "gemma2",
                              .hf_model_types = kHfTypes2,
                              .gguf_names = kGgufNames2,
                              .golden = "gemma2",
                              .read_config = read_config2,
                              .tensor_slots = tensor_slots2,
                              .ignorable_tensors = kLlamaIgnorable};

const Architecture kGemma3 = {.name = "gemma3",
                              .hf_model_types = kHfTypes3,
                              .gguf_names = kGgufNames3,
                              .golden = "gemma3",
                              .read_config = read_config3,
                              .tensor_slots = tensor_slots3,
                              .ignorable_tensors = kIgnorable3};

}  // namespace vitro
