// DistilBERT: BERT's layers, half as many, without kinds of segments and without a pooler. Sanh et al. 2019 (arXiv
// 1910.01108).
#include "model/arch/families.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"distilbert"};
constexpr std::string_view kRoots[] = {"distilbert.", ""};
constexpr std::string_view kIgnorable[] = {".embeddings.position_ids", "embeddings.position_ids",
                                           "vocab_projector.weight"};
constexpr double kEps = 1e-12;

DecoderSizes read_sizes(ConfigReader& reader, ModelConfig* out) {
  DecoderSizes sizes;
  out->d_model = reader.need_size("d_model", {"dim", "hidden_size"});
  out->vocab_size = reader.need_size("vocab_size", {"vocab_size"}, kMaxVocab);
  out->n_ctx = reader.get_size("n_ctx", {"max_position_embeddings"}, 512, kMaxContext);
  sizes.n_layer = reader.need_size("n_layer", {"n_layers", "num_hidden_layers"}, kMaxLayers);
  sizes.n_head = sizes.n_kv_head = reader.need_size("attn.n_head", {"n_heads", "num_attention_heads"});
  sizes.d_head = out->d_model / sizes.n_head;
  sizes.d_ff = reader.need_size("ffn.d_ff", {"hidden_dim", "intermediate_size"});
  out->is_head_tied = reader.get_bool("is_head_tied", {"tie_word_embeddings"}, true);
  read_hf_token_ids(reader, out);
  return sizes;
}

Result<ModelConfig> read_config(SourceFormat, const Value& config) {
  ConfigReader reader(config, "", "config.json");
  read_hf_common_keys(reader);
  ModelConfig out{.family = "distilbert", .kind = ModelKind::kEncoder};
  UniformDecoder encoder;
  encoder.sizes = read_sizes(reader, &out);
  encoder.block = layer_norm_block(encoder.sizes, kEps, read_hf_activation(reader, {"activation"}, "gelu"));
  encoder.block.norm_place = NormPlace::kPost;
  encoder.block.attn.mask = MaskKind::kFull;
  out.embed_norm = encoder.block.norm;
  set_learned_positions(&out);
  read_hf_head(reader, config, &out);
  out.has_head_transform = out.head == HeadKind::kMaskedLm || out.head == HeadKind::kTextClasses;
  // Sinusoids only fill the table of positions at the start of training.
  reader.ignore({"sinusoidal_pos_embds", "qa_dropout", "seq_classif_dropout", "tie_weights_"});
  VITRO_TRY_ASSIGN(out, finish_decoder(reader, encoder, std::move(out)));
  out.final_norm = {};
  return out;
}

std::vector<TensorSlot> tensor_slots(SourceFormat, const ModelConfig& config) {
  ModuleNames names = {.roots = kRoots, .block = "transformer.layer."};
  names.embed = "embeddings.word_embeddings";
  names.pos_embed = "embeddings.position_embeddings";
  names.embed_norm = "embeddings.LayerNorm";
  names.q = "attention.q_lin";
  names.k = "attention.k_lin";
  names.v = "attention.v_lin";
  names.o = "attention.out_lin";
  names.attn_norm = "sa_layer_norm";
  names.up = "ffn.lin1";
  names.down = "ffn.lin2";
  names.ffn_norm = "output_layer_norm";
  const bool is_masked = config.head == HeadKind::kMaskedLm;
  names.head_transform = is_masked ? "vocab_transform" : "pre_classifier";
  names.head_norm = "vocab_layer_norm";
  names.unembed = is_masked ? "vocab_projector" : "classifier";
  return decoder_slots(config, names);
}

}  // namespace

const Architecture kDistilBert = {.name = "distilbert",
                                  .hf_model_types = kHfTypes,
                                  .golden = "distilbert-seqcls",
                                  .runs = false,
                                  .read_config = read_config,
                                  .tensor_slots = tensor_slots,
                                  .ignorable_tensors = kIgnorable};

}  // namespace vitro
