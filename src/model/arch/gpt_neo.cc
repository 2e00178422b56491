// GPT-Neo: GPT-2 with plain matrices, scores that are not scaled, no biases in front of attention, and a window in
// every second layer. Black et al. 2021 (GPT-Neo, Zenodo 5297715).
#include <fmt/core.h>

#include "model/arch/families.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"gpt_neo"};
constexpr std::string_view kHfRoots[] = {"transformer.", ""};
constexpr std::string_view kIgnorable[] = {".attn.attention.bias", ".attn.attention.masked_bias", "lm_head.weight"};

/// Appends the masks that a list of "global" and "local" names; false for any other value.
bool append_masks(const Value& names, std::vector<MaskKind>* masks) {
  const Value::Array* items = names.as_array();
  if (!items) return false;
  for (const Value& item : *items) {
    const std::string* name = item.as_string();
    if (!name || (*name != "global" && *name != "local")) return false;
    masks->push_back(*name == "local" ? MaskKind::kWindow : MaskKind::kCausal);
  }
  return true;
}

/// [[names, repeats], ...] written out. Stops behind n_layer masks, whatever number of repeats a file asks for.
bool expand_masks(const Value& types, int64_t n_layer, std::vector<MaskKind>* masks) {
  const Value::Array* groups = types.as_array();
  if (!groups) return false;
  for (const Value& group : *groups) {
    const Value::Array* pair = group.as_array();
    const int64_t* n_repeats = pair && pair->size() == 2 ? (*pair)[1].as_int() : nullptr;
    std::vector<MaskKind> pattern;
    if (!n_repeats || !append_masks((*pair)[0], &pattern) || pattern.empty()) return false;
    for (int64_t i = 0; i < *n_repeats && static_cast<int64_t>(masks->size()) <= n_layer; ++i) {
      masks->insert(masks->end(), pattern.begin(), pattern.end());
    }
  }
  return true;
}

/// attention_types, and attention_layers, which repeats it layer by layer; the class's default is for 24 layers.
std::vector<MaskKind> read_masks(ConfigReader& reader, int64_t n_layer) {
  constexpr size_t kDefaultLayers = 24;
  std::vector<MaskKind> by_type, by_layer;
  const Value* types = reader.get_value({"attention_types"});
  const Value* layers = reader.get_value({"attention_layers"});
  bool is_readable = true;
  if (types) is_readable = expand_masks(*types, n_layer, &by_type);
  if (layers) is_readable = append_masks(*layers, &by_layer) && is_readable;
  if (!types && !layers) {
    reader.note("attn.masks", "attention_types", R"([[["global", "local"], 12]])", ValueOrigin::kDefault);
    for (size_t i = 0; i < kDefaultLayers; ++i) by_type.push_back(i % 2 == 1 ? MaskKind::kWindow : MaskKind::kCausal);
  }
  const std::vector<MaskKind>& masks = layers ? by_layer : by_type;
  if (!is_readable || static_cast<int64_t>(masks.size()) != n_layer || (types && layers && by_type != by_layer)) {
    reader.problem(
        fmt::format("'attention_types' ([[names, repeats], ...]) and 'attention_layers' ([names]) must say global or "
                    "local for each "
                    "of the {} layers, and the same",
                    n_layer));
    return {};
  }
  return masks;
}

Result<ModelConfig> read_config(SourceFormat /*format*/, const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "gpt_neo"};
  const DecoderSizes sizes =
      read_hf_sizes(reader, {.has_n_kv_head = false, .d_ff_ratio = 4, .is_head_tied = true}, &out);
  const double eps = reader.get_real("norm.eps", {"layer_norm_epsilon"}, 1e-5);
  const ActivationKind activation = read_hf_activation(reader, {"activation_function"}, "gelu_new");
  const LayerWindows windows = {.masks = read_masks(reader, sizes.n_layer),
                                .window = reader.get_size("attn.window", {"window_size"}, 256, kMaxContext)};
  set_learned_positions(&out);
  BlockSpec block = layer_norm_block(sizes, eps, activation);
  block.attn.scale = 1.0;
  set_qkv_biases(false, &block.attn);
  return finish_decoder(reader, {sizes, block}, std::move(out), windows);
}

std::vector<TensorSlot> tensor_slots(SourceFormat /*format*/, const ModelConfig& config) {
  ModuleNames names = hf_gpt_names(kHfRoots);
  names.q = "attn.attention.q_proj";
  names.k = "attn.attention.k_proj";
  names.v = "attn.attention.v_proj";
  names.o = "attn.attention.out_proj";
  return decoder_slots(config, names);
}

}  // namespace

const Architecture kGptNeo = {.name = "gpt_neo",
                              .hf_model_types = kHfTypes,
                              .gguf_names = {},
                              .golden = "gpt-neo-alternating",
                              .read_config = read_config,
                              .tensor_slots = tensor_slots,
                              .ignorable_tensors = kIgnorable};

}  // namespace vitro
