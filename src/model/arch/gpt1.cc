// GPT: norms after each half instead of before, and so none at the end; learned positions, matrices stored as [in, out]
// (Conv1D) with q, k, v as one. Radford et al. 2018.
#include "model/arch/families.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"openai-gpt"};
constexpr std::string_view kHfRoots[] = {"transformer.", ""};
constexpr std::string_view kIgnorable[] = {".attn.bias", "lm_head.weight"};

/// In this family "gelu" means the tanh form.
ActivationKind read_activation(ConfigReader& reader) {
  const ActivationKind kind = read_hf_activation(reader, {"afn"}, "gelu");
  return kind == ActivationKind::kGeluErf ? ActivationKind::kGeluTanh : kind;
}

Result<ModelConfig> read_config(SourceFormat /*format*/, const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "gpt1"};
  const DecoderSizes sizes =
      read_hf_sizes(reader, {.has_n_kv_head = false, .n_ctx = 512, .d_ff_ratio = 4, .is_head_tied = true}, &out);
  const double eps = reader.get_real("norm.eps", {"layer_norm_epsilon"}, 1e-5);
  const ActivationKind activation = read_activation(reader);
  // Rows that the classifiers add to the embedding.
  reader.expect_int("n_special", 0);
  reader.ignore({"predict_special_tokens"});
  set_learned_positions(&out);
  BlockSpec block = layer_norm_block(sizes, eps, activation);
  block.norm_place = NormPlace::kPost;
  VITRO_TRY_ASSIGN(out, finish_decoder(reader, {sizes, block}, std::move(out)));
  out.final_norm = {};
  return out;
}

std::vector<TensorSlot> tensor_slots(SourceFormat /*format*/, const ModelConfig& config) {
  ModuleNames names = hf_gpt_names(kHfRoots);
  names.embed = "tokens_embed";
  names.pos_embed = "positions_embed";
  names.qkv = "attn.c_attn";
  names.o = "attn.c_proj";
  names.is_transposed = true;
  return decoder_slots(config, names);
}

}  // namespace

const Architecture kGpt1 = {.name = "gpt1",
                            .hf_model_types = kHfTypes,
                            .gguf_names = {},
                            .golden = "gpt1",
                            .read_config = read_config,
                            .tensor_slots = tensor_slots,
                            .ignorable_tensors = kIgnorable};

}  // namespace vitro
