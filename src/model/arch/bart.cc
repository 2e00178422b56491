// BART, and with norms before each half mBART, and with sinusoidal positions and no norm of the embedding Marian: an
// encoder and a decoder as in the first transformer, biases everywhere. Vaswani et al. 2017 (arXiv 1706.03762), Lewis
// et al. 2019 (1910.13461), Liu et al. 2020 (2001.08210), Junczys-Dowmunt et al. 2018 (1804.00344).
#include <cmath>

#include "model/arch/families.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"bart", "mbart", "marian"};
constexpr std::string_view kRoots[] = {"model.", ""};
// Repeats of the shared embedding and of the tied head; Marian's sinusoids.
constexpr std::string_view kIgnorable[] = {".encoder.embed_tokens.weight",
                                           ".decoder.embed_tokens.weight",
                                           "encoder.embed_tokens.weight",
                                           "decoder.embed_tokens.weight",
                                           "lm_head.weight",
                                           "model.encoder.embed_positions.weight",
                                           "model.decoder.embed_positions.weight"};
constexpr double kEps = 1e-5;
/// Rows of the position table that no position has.
constexpr int64_t kPositionOffset = 2;

bool is_type(const Value& config, std::string_view name) {
  const Value* type = config.find("model_type");
  return type && type->as_string() && *type->as_string() == name;
}

/// The sizes of one stack have its name in front.
DecoderSizes read_stack(ConfigReader& reader, std::string_view layers, std::string_view heads, std::string_view d_ff,
                        int64_t d_model) {
  const bool is_encoder = layers.starts_with("encoder");
  DecoderSizes sizes;
  sizes.n_layer = reader.get_size(is_encoder ? "encoder.n_layer" : "n_layer", {layers}, 12, kMaxLayers);
  sizes.n_head = sizes.n_kv_head = reader.get_size(is_encoder ? "encoder.attn.n_head" : "attn.n_head", {heads}, 16);
  sizes.d_ff = reader.get_size(is_encoder ? "encoder.ffn.d_ff" : "ffn.d_ff", {d_ff}, 4096);
  sizes.d_head = d_model / sizes.n_head;
  return sizes;
}

void expect_old_switches(ConfigReader& reader, bool is_pre_norm) {
  reader.expect_bool("normalize_before", is_pre_norm);
  reader.expect_bool("add_final_layer_norm", is_pre_norm);
  reader.expect_bool("add_bias_logits", false);
  reader.expect_int("extra_pos_embeddings", kPositionOffset);
  // num_hidden_layers repeats encoder_layers.
  reader.ignore({"classif_dropout", "encoder_layerdrop", "decoder_layerdrop", "force_bos_token_to_be_generated",
                 "num_hidden_layers"});
}

void read_embedding(ConfigReader& reader, bool is_marian, ModelConfig* out) {
  out->d_model = reader.need_size("d_model", {"d_model", "hidden_size"});
  out->vocab_size = reader.need_size("vocab_size", {"vocab_size"}, kMaxVocab);
  out->n_ctx = reader.get_size("n_ctx", {"max_position_embeddings"}, 1024, kMaxContext);
  if (reader.get_bool("embed.is_scaled", {"scale_embedding"}, false)) {
    out->embed_scale = std::sqrt(static_cast<double>(out->d_model));
  }
  reader.expect_bool("static_position_embeddings", is_marian);
  reader.expect_bool("normalize_embedding", !is_marian);
  if (is_marian) {
    out->position = PositionKind::kSinusoidal;
    out->is_sinusoid_adjacent = false;
    reader.expect_int("decoder_vocab_size", out->vocab_size);
    reader.expect_bool("share_encoder_decoder_embeddings", true);
  } else {
    set_learned_positions(out, kPositionOffset);
    out->embed_norm = layer_norm(kEps);
  }
}

BlockSpec make_block(const DecoderSizes& sizes, ActivationKind activation, bool is_pre_norm) {
  BlockSpec block = layer_norm_block(sizes, kEps, activation);
  block.norm_place = is_pre_norm ? NormPlace::kPre : NormPlace::kPost;
  return block;
}

Result<ModelConfig> read_config(SourceFormat, const Value& config) {
  ConfigReader reader(config, "", "config.json");
  read_hf_common_keys(reader, true);
  const bool is_pre_norm = is_type(config, "mbart");
  ModelConfig out{.family = "bart", .kind = ModelKind::kEncoderDecoder};
  read_embedding(reader, is_type(config, "marian"), &out);
  const DecoderSizes encoder =
      read_stack(reader, "encoder_layers", "encoder_attention_heads", "encoder_ffn_dim", out.d_model);
  const DecoderSizes decoder =
      read_stack(reader, "decoder_layers", "decoder_attention_heads", "decoder_ffn_dim", out.d_model);
  const ActivationKind activation = read_hf_activation(reader, {"activation_function"}, "gelu");
  out.head = read_hf_generator(reader, config);
  out.is_head_tied = reader.get_bool("is_head_tied", {"tie_word_embeddings"}, true);
  read_hf_token_ids(reader, &out);
  expect_old_switches(reader, is_pre_norm);
  VITRO_TRY(reader.finish());
  BlockSpec block = make_block(encoder, activation, is_pre_norm);
  block.attn.mask = MaskKind::kFull;
  out.encoder_blocks.assign(static_cast<size_t>(encoder.n_layer), block);
  block = make_block(decoder, activation, is_pre_norm);
  block.has_cross_attention = true;
  out.blocks.assign(static_cast<size_t>(decoder.n_layer), block);
  if (is_pre_norm) out.final_norm = block.norm;
  // In the file it is a table of zeros that training leaves alone.
  out.has_head_bias = out.head == HeadKind::kLogits;
  out.values = reader.take_values();
  return out;
}

ModuleNames stack_names() {
  ModuleNames names = {.roots = kRoots, .embed = "shared", .unembed = "lm_head"};
  names.attn_norm = "self_attn_layer_norm";
  names.q = "self_attn.q_proj";
  names.k = "self_attn.k_proj";
  names.v = "self_attn.v_proj";
  names.o = "self_attn.out_proj";
  names.cross_norm = "encoder_attn_layer_norm";
  names.cross_q = "encoder_attn.q_proj";
  names.cross_k = "encoder_attn.k_proj";
  names.cross_v = "encoder_attn.v_proj";
  names.cross_o = "encoder_attn.out_proj";
  names.ffn_norm = "final_layer_norm";
  names.up = "fc1";
  names.down = "fc2";
  return names;
}

std::vector<TensorSlot> tensor_slots(SourceFormat, const ModelConfig& config) {
  ModuleNames encoder = stack_names();
  encoder.block = "encoder.layers.";
  encoder.pos_embed = "encoder.embed_positions";
  encoder.embed_norm = "encoder.layernorm_embedding";
  encoder.final_norm = "encoder.layer_norm";
  ModuleNames decoder = stack_names();
  decoder.block = "decoder.layers.";
  decoder.pos_embed = "decoder.embed_positions";
  decoder.embed_norm = "decoder.layernorm_embedding";
  decoder.final_norm = "decoder.layer_norm";
  std::vector<TensorSlot> slots = encoder_decoder_slots(config, encoder, decoder);
  if (!config.has_head_bias) return slots;
  TensorSlot& bias = slots.back();
  bias.sources = {{.name = "final_logits_bias", .shape = {1, config.vocab_size}}};
  bias.is_optional = true;
  bias.is_parameter = false;
  return slots;
}

}  // namespace

const Architecture kBart = {.name = "bart",
                            .hf_model_types = kHfTypes,
                            .golden = "bart",
                            .runs = false,
                            .read_config = read_config,
                            .tensor_slots = tensor_slots,
                            .ignorable_tensors = kIgnorable};

}  // namespace vitro
