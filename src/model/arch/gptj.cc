// GPT-J: attention and feed-forward in parallel behind one norm, rotary positions on adjacent pairs of a part of each
// head, no biases in attention, a bias in the head. Wang & Komatsuzaki 2021 (mesh-transformer-jax).
#include "model/arch/families.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"gptj"};
constexpr std::string_view kHfRoots[] = {"transformer.", ""};
constexpr std::string_view kIgnorable[] = {".attn.bias", ".attn.masked_bias", ".attn.embed_positions",
                                           "lm_head.weight"};

Result<ModelConfig> read_config(SourceFormat /*format*/, const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "gptj", .has_head_bias = true};
  const DecoderSizes sizes = read_hf_sizes(reader, {.has_n_kv_head = false, .d_ff_ratio = 4}, &out);
  const double eps = reader.get_real("norm.eps", {"layer_norm_epsilon"}, 1e-5);
  const ActivationKind activation = read_hf_activation(reader, {"activation_function"}, "gelu_new");
  const RopeSpec rope = {.d_rot = reader.get_size("rope.d_rot", {"rotary_dim"}, 64), .pairing = RopePairing::kAdjacent};
  reader.note("rope.theta", "not in config.json", "10000", ValueOrigin::kDefault);
  for (const std::string_view key : {"rotary", "scale_attn_weights"}) reader.expect_bool(key, true);
  BlockSpec block = layer_norm_block(sizes, eps, activation);
  block.residual = Residual::kParallelSharedNorm;
  set_attention_biases(false, &block.attn);
  set_rope(rope, &block.attn);
  return finish_decoder(reader, {sizes, block}, std::move(out));
}

std::vector<TensorSlot> tensor_slots(SourceFormat /*format*/, const ModelConfig& config) {
  ModuleNames names = hf_gpt_names(kHfRoots);
  names.q = "attn.q_proj";
  names.k = "attn.k_proj";
  names.v = "attn.v_proj";
  names.o = "attn.out_proj";
  names.up = "mlp.fc_in";
  names.down = "mlp.fc_out";
  return decoder_slots(config, names);
}

}  // namespace

const Architecture kGptJ = {.name = "gptj",
                            .hf_model_types = kHfTypes,
                            .gguf_names = {},
                            .golden = "gptj",
                            .read_config = read_config,
                            .tensor_slots = tensor_slots,
                            .ignorable_tensors = kIgnorable};

}  // namespace vitro
