// BERT and RoBERTa (XLM-RoBERTa, CamemBERT): encoders that see the whole text, norms after each sum, learned positions;
// BERT adds a vector for the kind of segment. What stands on top is named by the file's architecture. Devlin et al.
// 2018 (arXiv 1810.04805), Liu et al. 2019 (1907.11692).
#include "model/arch/families.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypesBert[] = {"bert"};
constexpr std::string_view kHfTypesRoberta[] = {"roberta", "xlm-roberta", "camembert"};
constexpr std::string_view kRootsBert[] = {"bert.", ""};
constexpr std::string_view kRootsRoberta[] = {"roberta.", ""};
// Position numbers, repeats of the tied head and of its bias, and heads and poolers that the named class does not use.
constexpr std::string_view kIgnorable[] = {
    "embeddings.position_ids",      ".embeddings.position_ids",    ".embeddings.token_type_ids",
    ".pooler.dense.weight",         ".pooler.dense.bias",          "cls.predictions.decoder.weight",
    "cls.predictions.decoder.bias", "cls.seq_relationship.weight", "cls.seq_relationship.bias",
    "lm_head.decoder.weight",       "lm_head.decoder.bias"};

struct Kind {
  std::string_view family;
  bool is_roberta = false;
};

void read_positions(ConfigReader& reader, const Kind& kind, ModelConfig* out) {
  reader.expect_string("position_embedding_type", {"absolute"});
  if (!kind.is_roberta) return set_learned_positions(out);
  // Rows up to that of the padding token are no positions.
  const int64_t offset = reader.get_int("position_offset", {"pad_token_id"}, 1) + 1;
  if (offset < 0 || offset >= out->n_ctx) {
    reader.problem("'pad_token_id' leaves no positions");
    return;
  }
  out->n_ctx -= offset;
  set_learned_positions(out, offset);
}

Result<ModelConfig> read_config(const Value& config, const Kind& kind) {
  ConfigReader reader(config, "", "config.json");
  read_hf_common_keys(reader);
  ModelConfig out{.family = std::string(kind.family), .kind = ModelKind::kEncoder};
  UniformDecoder encoder;
  encoder.sizes =
      read_hf_sizes(reader, {.has_n_kv_head = false, .has_d_head = false, .n_ctx = 512, .is_head_tied = true}, &out);
  const double eps = reader.get_real("norm.eps", {"layer_norm_eps"}, 1e-12);
  encoder.block = layer_norm_block(encoder.sizes, eps, read_hf_activation(reader, {"hidden_act"}, "gelu"));
  encoder.block.norm_place = NormPlace::kPost;
  encoder.block.attn.mask = MaskKind::kFull;
  out.n_token_types = reader.get_size("n_token_types", {"type_vocab_size"}, 2, kMaxVocab);
  out.embed_norm = encoder.block.norm;
  read_positions(reader, kind, &out);
  read_hf_head(reader, config, &out);
  out.has_pooler = out.head == HeadKind::kNone || (out.head == HeadKind::kTextClasses && !kind.is_roberta);
  out.has_head_transform = out.head == HeadKind::kMaskedLm || (out.head == HeadKind::kTextClasses && kind.is_roberta);
  // Of a pooler that was never built.
  reader.ignore({"directionality", "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
                 "pooler_size_per_head", "pooler_type"});
  VITRO_TRY_ASSIGN(out, finish_decoder(reader, encoder, std::move(out)));
  out.final_norm = {};
  return out;
}

Result<ModelConfig> read_bert(SourceFormat, const Value& config) { return read_config(config, {"bert"}); }
Result<ModelConfig> read_roberta(SourceFormat, const Value& config) { return read_config(config, {"roberta", true}); }

ModuleNames encoder_names(std::span<const std::string_view> roots) {
  ModuleNames names = {.roots = roots, .block = "encoder.layer."};
  names.embed = "embeddings.word_embeddings";
  names.pos_embed = "embeddings.position_embeddings";
  names.token_type = "embeddings.token_type_embeddings";
  names.embed_norm = "embeddings.LayerNorm";
  names.q = "attention.self.query";
  names.k = "attention.self.key";
  names.v = "attention.self.value";
  names.o = "attention.output.dense";
  names.attn_norm = "attention.output.LayerNorm";
  names.up = "intermediate.dense";
  names.down = "output.dense";
  names.ffn_norm = "output.LayerNorm";
  names.pooler = "pooler.dense";
  names.unembed = "classifier";
  return names;
}

/// Files of the first years say gamma and beta.
std::vector<TensorSlot> both_spellings(const ModelConfig& config, const ModuleNames& names) {
  ModuleNames old = names;
  old.norm_gain = ".gamma";
  old.norm_bias = ".beta";
  return decoder_slots(config, names, old);
}

std::vector<TensorSlot> bert_slots(SourceFormat, const ModelConfig& config) {
  ModuleNames names = encoder_names(kRootsBert);
  if (config.head == HeadKind::kMaskedLm) {
    names.head_transform = "cls.predictions.transform.dense";
    names.head_norm = "cls.predictions.transform.LayerNorm";
    names.unembed = "cls.predictions.decoder";
    names.head_bias = "cls.predictions";
  }
  return both_spellings(config, names);
}

std::vector<TensorSlot> roberta_slots(SourceFormat, const ModelConfig& config) {
  ModuleNames names = encoder_names(kRootsRoberta);
  if (config.head == HeadKind::kMaskedLm) {
    names.head_transform = "lm_head.dense";
    names.head_norm = "lm_head.layer_norm";
    names.unembed = "lm_head.decoder";
    names.head_bias = "lm_head";
  }
  if (config.head == HeadKind::kTextClasses) {
    names.head_transform = "classifier.dense";
    names.unembed = "classifier.out_proj";
  }
  return both_spellings(config, names);
}

}  // namespace

const Architecture kBert = {.name = "bert",
                            .hf_model_types = kHfTypesBert,
                            .golden = "bert-mlm",
                            .runs = false,
                            .read_config = read_bert,
                            .tensor_slots = bert_slots,
                            .ignorable_tensors = kIgnorable};

const Architecture kRoberta = {.name = "roberta",
                               .hf_model_types = kHfTypesRoberta,
                               .golden = "roberta-mlm",
                               .runs = false,
                               .read_config = read_roberta,
                               .tensor_slots = roberta_slots,
                               .ignorable_tensors = kIgnorable};

}  // namespace vitro
