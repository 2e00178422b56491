// OPT and Galactica: learned positions behind two unused rows, ReLU, norms before each half or (350M) after it, where
// embeddings may also be narrower than the model. Zhang et al. 2022 (arXiv 2205.01068).
#include "model/arch/families.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"opt"};
constexpr std::string_view kHfRoots[] = {"model.decoder.", "decoder.", ""};
constexpr std::string_view kIgnorable[] = {"lm_head.weight", "decoder.version", ".decoder.version"};

constexpr double kEps = 1e-5;  // fixed in the vendor's code
constexpr int64_t kPositionOffset = 2;

struct OptKnobs {
  bool has_norm_before = true;
  bool has_final_norm = true;
  bool has_norm_weights = true;
  bool has_bias = true;
  ActivationKind activation = ActivationKind::kRelu;
};

OptKnobs read_knobs(ConfigReader& reader) {
  OptKnobs knobs;
  knobs.has_norm_before = reader.get_bool("has_norm_before", {"do_layer_norm_before"}, true);
  // An early version of the class forgot the last norm; files trained with it say so.
  knobs.has_final_norm =
      !reader.get_bool("lacks_final_norm", {"_remove_final_layer_norm"}, false) && knobs.has_norm_before;
  knobs.has_norm_weights = reader.get_bool("norm.has_weights", {"layer_norm_elementwise_affine"}, true);
  knobs.has_bias = reader.get_bool("has_bias", {"enable_bias"}, true);
  knobs.activation = read_hf_activation(reader, {"activation_function"}, "relu");
  // Galactica's.
  reader.expect_bool("learned_embeddings", true);
  reader.expect_bool("scale_embeddings", false);
  return knobs;
}

UniformDecoder make_decoder(const DecoderSizes& sizes, const OptKnobs& knobs) {
  BlockSpec block = layer_norm_block(sizes, kEps, knobs.activation);
  block.norm.has_gain = block.norm.has_bias = knobs.has_norm_weights;
  block.norm_place = knobs.has_norm_before ? NormPlace::kPre : NormPlace::kPost;
  set_projection_biases(knobs.has_bias, &block);
  return {sizes, block};
}

Result<ModelConfig> read_config(SourceFormat /*format*/, const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "opt"};
  const DecoderSizes sizes = read_hf_sizes(reader, {.has_n_kv_head = false, .is_head_tied = true}, &out);
  const OptKnobs knobs = read_knobs(reader);
  const int64_t d_embed = reader.get_size("d_embed", {"word_embed_proj_dim"}, out.d_model);
  if (d_embed != out.d_model) out.d_embed = d_embed;
  set_learned_positions(&out, kPositionOffset);
  VITRO_TRY_ASSIGN(out, finish_decoder(reader, make_decoder(sizes, knobs), std::move(out)));
  if (!knobs.has_final_norm) out.final_norm = {};
  return out;
}

std::vector<TensorSlot> tensor_slots(SourceFormat /*format*/, const ModelConfig& config) {
  ModuleNames names = hf_names(kHfRoots);
  names.pos_embed = "embed_positions";
  names.embed_in = "project_in";
  names.embed_out = "project_out";
  names.final_norm = "final_layer_norm";
  names.attn_norm = "self_attn_layer_norm";
  names.o = "self_attn.out_proj";
  names.ffn_norm = "final_layer_norm";
  names.up = "fc1";
  names.down = "fc2";
  return decoder_slots(config, names);
}

}  // namespace

const Architecture kOpt = {.name = "opt",
                           .hf_model_types = kHfTypes,
                           .gguf_names = {},
                           .golden = "opt",
                           .read_config = read_config,
                           .tensor_slots = tensor_slots,
                           .ignorable_tensors = kIgnorable};

}  // namespace vitro
