// T5 (1.0, and 1.1 with Flan-T5): an encoder and a decoder that reads its output, positions as learned biases of the
// scores by distance, no scaling of the scores, no biases. 1.0 ties the head and scales its input; 1.1 has gated
// feed-forwards and a head of its own. Raffel et al. 2019 (arXiv 1910.10683).
#include <fmt/core.h>

#include <cmath>

#include "model/arch/families.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"t5"};
constexpr std::string_view kRoots[] = {""};
// Repeats of the shared embedding, and a table of old files that cross attention never used.
constexpr std::string_view kIgnorable[] = {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight",
                                           "lm_head.weight",
                                           "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"};

/// What both stacks have.
struct Sizes {
  DecoderSizes decoder;
  int64_t n_encoder_layer = 1;
};

Sizes read_sizes(ConfigReader& reader, ModelConfig* out) {
  Sizes sizes;
  out->d_model = reader.need_size("d_model", {"d_model", "hidden_size"});
  out->vocab_size = reader.need_size("vocab_size", {"vocab_size"}, kMaxVocab);
  out->n_ctx = reader.get_size("n_ctx", {"n_positions", "max_position_embeddings"}, 512, kMaxContext);
  sizes.n_encoder_layer = reader.need_size("encoder.n_layer", {"num_layers", "num_hidden_layers"}, kMaxLayers);
  sizes.decoder.n_layer = reader.get_size("n_layer", {"num_decoder_layers"}, sizes.n_encoder_layer, kMaxLayers);
  sizes.decoder.n_head = reader.need_size("attn.n_head", {"num_heads", "num_attention_heads"});
  sizes.decoder.n_kv_head = sizes.decoder.n_head;
  sizes.decoder.d_head = reader.get_size("attn.d_head", {"d_kv", "head_dim"}, 64);
  sizes.decoder.d_ff = reader.need_size("ffn.d_ff", {"d_ff", "intermediate_size"});
  out->n_bias_buckets = reader.get_size("n_bias_buckets", {"relative_attention_num_buckets"}, 32, kMaxBiasBuckets);
  out->bias_max_distance = reader.get_size("bias_max_distance", {"relative_attention_max_distance"}, 128, kMaxContext);
  return sizes;
}

/// "relu", or "gated-gelu", whose gelu is the tanh form.
void read_feed_forward(ConfigReader& reader, FeedForwardSpec* ffn) {
  const std::string kind = reader.get_string("ffn.kind", {"feed_forward_proj"}, "relu");
  ffn->is_gated = kind.starts_with("gated-");
  if (kind == "relu" || kind == "gated-relu") ffn->activation = ActivationKind::kRelu;
  if (kind == "gated-gelu") ffn->activation = ActivationKind::kGeluTanh;
  if (kind == "gated-silu") ffn->activation = ActivationKind::kSilu;
  if (kind != "relu" && !ffn->is_gated) {
    reader.problem(fmt::format("'feed_forward_proj' = {} is not implemented", to_string(Value(kind), 40)));
  }
  reader.expect_bool("is_gated_act", ffn->is_gated);
}

BlockSpec read_block(ConfigReader& reader, const DecoderSizes& sizes) {
  BlockSpec block;
  block.norm = {.kind = NormKind::kRms, .eps = reader.get_real("norm.eps", {"layer_norm_epsilon"}, 1e-6)};
  block.attn = plain_attention(sizes);
  block.attn.scale = 1.0;
  block.attn.position = PositionKind::kDistanceBuckets;
  block.ffn = {.d_ff = sizes.d_ff};
  read_feed_forward(reader, &block.ffn);
  return block;
}

/// The first layer of a stack has the table that all use.
void set_stack(const BlockSpec& block, int64_t n_layer, std::vector<BlockSpec>* blocks) {
  blocks->assign(static_cast<size_t>(n_layer), block);
  blocks->front().attn.has_bias_table = true;
}

Result<ModelConfig> read_config(SourceFormat, const Value& config) {
  ConfigReader reader(config, "", "config.json");
  read_hf_common_keys(reader, true);
  ModelConfig out{.family = "t5", .kind = ModelKind::kEncoderDecoder, .position = PositionKind::kNone};
  const Sizes sizes = read_sizes(reader, &out);
  BlockSpec block = read_block(reader, sizes.decoder);
  out.head = read_hf_generator(reader, config);
  out.is_head_tied = reader.get_bool("is_head_tied", {"tie_word_embeddings"}, true);
  const bool is_scaled = reader.get_bool("is_head_scaled", {"scale_decoder_outputs"}, out.is_head_tied);
  if (is_scaled) out.logit_scale = 1.0 / std::sqrt(static_cast<double>(out.d_model));
  read_hf_token_ids(reader, &out);
  // dense_act_fn repeats feed_forward_proj.
  reader.ignore({"dropout_rate", "dense_act_fn", "output_past"});
  VITRO_TRY(reader.finish());
  out.final_norm = block.norm;
  block.attn.mask = MaskKind::kFull;
  set_stack(block, sizes.n_encoder_layer, &out.encoder_blocks);
  block.attn.mask = MaskKind::kCausal;
  block.has_cross_attention = true;
  set_stack(block, sizes.decoder.n_layer, &out.blocks);
  out.values = reader.take_values();
  return out;
}

// The last part of a block, whose number is that of the parts before it.
struct FeedForwardNames {
  std::string_view norm, wi, wi_0, wi_1, wo;
};
constexpr FeedForwardNames kEncoderFfn = {"layer.1.layer_norm", "layer.1.DenseReluDense.wi",
                                          "layer.1.DenseReluDense.wi_0", "layer.1.DenseReluDense.wi_1",
                                          "layer.1.DenseReluDense.wo"};
constexpr FeedForwardNames kDecoderFfn = {"layer.2.layer_norm", "layer.2.DenseReluDense.wi",
                                          "layer.2.DenseReluDense.wi_0", "layer.2.DenseReluDense.wi_1",
                                          "layer.2.DenseReluDense.wo"};

ModuleNames stack_names(const ModelConfig& config, const FeedForwardNames& ffn) {
  ModuleNames names = {.roots = kRoots, .embed = "shared", .unembed = "lm_head"};
  names.attn_norm = "layer.0.layer_norm";
  names.q = "layer.0.SelfAttention.q";
  names.k = "layer.0.SelfAttention.k";
  names.v = "layer.0.SelfAttention.v";
  names.o = "layer.0.SelfAttention.o";
  names.rel_bias = "layer.0.SelfAttention.relative_attention_bias";
  names.ffn_norm = ffn.norm;
  names.gate = ffn.wi_0;
  names.up = config.blocks.front().ffn.is_gated ? ffn.wi_1 : ffn.wi;
  names.down = ffn.wo;
  return names;
}

ModuleNames encoder_names(const ModelConfig& config) {
  ModuleNames names = stack_names(config, kEncoderFfn);
  names.block = "encoder.block.";
  names.final_norm = "encoder.final_layer_norm";
  return names;
}

ModuleNames decoder_names(const ModelConfig& config) {
  ModuleNames names = stack_names(config, kDecoderFfn);
  names.block = "decoder.block.";
  names.final_norm = "decoder.final_layer_norm";
  names.cross_norm = "layer.1.layer_norm";
  names.cross_q = "layer.1.EncDecAttention.q";
  names.cross_k = "layer.1.EncDecAttention.k";
  names.cross_v = "layer.1.EncDecAttention.v";
  names.cross_o = "layer.1.EncDecAttention.o";
  return names;
}

std::vector<TensorSlot> tensor_slots(SourceFormat, const ModelConfig& config) {
  return encoder_decoder_slots(config, encoder_names(config), decoder_names(config));
}

}  // namespace

const Architecture kT5 = {.name = "t5",
                          .hf_model_types = kHfTypes,
                          .golden = "t5",
                          .runs = false,
                          .read_config = read_config,
                          .tensor_slots = tensor_slots,
                          .ignorable_tensors = kIgnorable};

}  // namespace vitro
