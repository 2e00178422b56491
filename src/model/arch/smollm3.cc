// SmolLM3: Llama's layout, in which every fourth layer has no positions at all ("NoPE", Yang et al. 2025, arXiv
// 2501.18795). Bakouch et al. 2025.
#include <fmt/core.h>

#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"smollm3"};
constexpr std::string_view kGgufNames[] = {"smollm3"};
constexpr int64_t kInterval = 4;

/// Whether each layer has positions: layers interval - 1, 2 interval - 1, ... have none.
std::vector<bool> periodic_positions(int64_t n_layer, int64_t interval) {
  std::vector<bool> positions;
  for (int64_t i = 0; i < n_layer; ++i) positions.push_back((i + 1) % interval != 0);
  return positions;
}

/// "no_rope_layers" has a 1 for each layer with positions, in spite of its name, and a 0 for the others; where it is
/// missing, the interval says it.
std::vector<bool> read_positions(ConfigReader& reader, int64_t n_layer) {
  const int64_t interval = reader.get_size("attn.no_position_interval", {"no_rope_layer_interval"}, kInterval);
  if (!reader.has({"no_rope_layers"})) {
    reader.ignore({"no_rope_layers"});
    return periodic_positions(n_layer, interval);
  }
  std::vector<bool> positions;
  for (const double flag : reader.get_reals("attn.has_position", {"no_rope_layers"})) positions.push_back(flag != 0.0);
  if (static_cast<int64_t>(positions.size()) == n_layer) return positions;
  reader.problem(fmt::format("'no_rope_layers' must be a list of {} numbers, found {}", n_layer, positions.size()));
  return periodic_positions(n_layer, interval);
}

void set_positions(const std::vector<bool>& positions, ModelConfig* config) {
  for (size_t i = 0; i < config->blocks.size(); ++i) {
    if (!positions[i]) config->blocks[i].attn.position = PositionKind::kNone;
  }
}

/// The class lets layers without positions see a window where windows are on and the layers are not listed.
LayerWindows read_windows(ConfigReader& reader, const std::vector<bool>& positions) {
  std::vector<MaskKind> by_rule;
  for (const bool has_position : positions) by_rule.push_back(has_position ? MaskKind::kCausal : MaskKind::kWindow);
  return read_hf_windows(reader, by_rule, 0);
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "smollm3"};
  UniformDecoder decoder =
      read_hf_rms_decoder(reader, {.n_kv_head = 4, .n_ctx = 32768, .is_head_tied = true, .theta = 2e6}, &out);
  set_attention_biases(reader.get_bool("attn.has_bias", {"attention_bias"}, false), &decoder.block.attn);
  decoder.block.ffn.has_in_bias = decoder.block.ffn.has_out_bias = reader.get_bool("ffn.has_bias", {"mlp_bias"}, false);
  const std::vector<bool> positions = read_positions(reader, decoder.sizes.n_layer);
  const LayerWindows windows = read_windows(reader, positions);
  // Published files have these of the classes that this one came from; its own does not look at them.
  reader.ignore({"max_window_layers", "pretraining_tp"});
  VITRO_TRY_ASSIGN(out, finish_decoder(reader, decoder, std::move(out), windows));
  set_positions(positions, &out);
  return out;
}

/// GGUF keeps no list of layers: the published models' interval.
Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "smollm3");
  ModelConfig out{.family = "smollm3"};
  const UniformDecoder decoder = read_gguf_rms_decoder(reader, config, &out);
  reader.note("attn.no_position_interval", "not in GGUF", fmt::format("{}", kInterval), ValueOrigin::kDefault);
  VITRO_TRY_ASSIGN(out, finish_decoder(reader, decoder, std::move(out)));
  set_positions(periodic_positions(decoder.sizes.n_layer, kInterval), &out);
  return out;
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

/// GGUF's converter permutes q and k in all layers, those without positions too.
std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  return decoder_slots(config, format == SourceFormat::kGguf ? gguf_permuted_names() : hf_names());
}

}  // namespace

const Architecture kSmolLm3 = {.name = "smollm3",
                               .hf_model_types = kHfTypes,
                               .gguf_names = kGgufNames,
                               .golden = "smollm3",
                               .read_config = read_config,
                               .tensor_slots = tensor_slots,
                               .ignorable_tensors = kLlamaIgnorable};

}  // namespace vitro
