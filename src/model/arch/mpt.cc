// MPT: norms without bias, ALiBi (or learned positions), projections that may be clamped, q, k, v in one tensor, no
// biases. MosaicML 2023 (llm-foundry), whose code decides where transformers ignores a key: expansion_ratio,
// alibi_bias_max, no_bias, qk_ln, logit_scale, grouped heads.
#include <fmt/core.h>

#include <cmath>

#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"mpt"};
constexpr std::string_view kGgufNames[] = {"mpt"};
constexpr std::string_view kHfRoots[] = {"transformer.", ""};
constexpr std::string_view kIgnorable[] = {"lm_head.weight", "output.weight"};

struct MptKnobs {
  double eps = 1e-5;
  bool has_bias = false;
  double alibi_max_bias = 0.0;  ///< 0: no ALiBi
  bool has_learned_positions = true;
  double qkv_clip = 0.0;
  bool has_qk_norm = false;
  double score_scale = 0.0;  ///< 0: d_head^-1/2
};

Result<ModelConfig> finish_mpt(ConfigReader& reader, const DecoderSizes& sizes, const MptKnobs& knobs,
                               ModelConfig config) {
  BlockSpec block = layer_norm_block(sizes, knobs.eps, ActivationKind::kGeluErf);
  block.norm.has_bias = knobs.has_bias;
  set_projection_biases(knobs.has_bias, &block);
  block.attn.qkv_clip = knobs.qkv_clip;
  if (knobs.has_qk_norm) {
    block.attn.qk_norm = QkNorm::kWholeProjection;
    block.attn.qk_norm_spec = block.norm;
  }
  if (knobs.score_scale != 0.0) block.attn.scale = knobs.score_scale;
  if (knobs.alibi_max_bias != 0.0) {
    set_alibi(knobs.alibi_max_bias, &block.attn);
  } else if (knobs.has_learned_positions) {
    set_learned_positions(&config);
  }
  return finish_decoder(reader, {sizes, block}, std::move(config));
}

int64_t read_kv_heads(ConfigReader& attn, int64_t n_head) {
  const std::string kind = attn.get_string("attn.kind", {"attn_type"}, "multihead_attention");
  if (kind == "grouped_query_attention") return attn.need_size("attn.n_kv_head", {"kv_n_heads"});
  const int64_t n_kv_head = kind == "multiquery_attention" ? 1 : n_head;
  attn.expect_int("kv_n_heads", n_kv_head);
  if (kind != "multiquery_attention" && kind != "multihead_attention") {
    attn.problem(fmt::format("'attn_config.attn_type' = {} is not implemented", to_string(Value(kind), 40)));
  }
  return n_kv_head;
}

/// "attn_config", which transformers fills up with the keys of every configuration.
void read_attention(ConfigReader& reader, DecoderSizes* sizes, MptKnobs* knobs) {
  const Value none = Value(Value::Object{});
  const Value* object = reader.get_value({"attn_config"});
  ConfigReader attn = reader.inner(object ? *object : none, "attn_config");
  read_hf_common_keys(attn);
  sizes->n_kv_head = read_kv_heads(attn, sizes->n_head);
  const bool has_alibi = attn.get_bool("attn.has_alibi", {"alibi"}, true);
  const double max_bias = attn.get_real("attn.alibi_max_bias", {"alibi_bias_max"}, kAlibiMaxBias);
  if (max_bias <= 0.0) attn.problem(fmt::format("'attn_config.alibi_bias_max' = {} must be above 0", max_bias));
  knobs->alibi_max_bias = has_alibi ? max_bias : 0.0;
  knobs->qkv_clip = attn.get_real("attn.qkv_clip", {"clip_qkv"}, 0.0);
  knobs->has_qk_norm = attn.get_bool("attn.has_qk_norm", {"qk_ln"}, false);
  knobs->score_scale = attn.get_real("attn.scale", {"softmax_scale"}, 0.0);
  for (const std::string_view key :
       {"prefix_lm", "qk_gn", "rope", "attn_uses_sequence_id", "attn_logit_softcapping", "kv_dim"}) {
    attn.expect_off(key);
  }
  attn.expect_int("sliding_window_size", -1);
  attn.ignore({"attn_impl", "fused_qkv", "tie_word_embeddings", "tf_legacy_loss", "rope_theta", "rope_impl",
               "rope_dail_config", "rope_hf_config"});
  reader.absorb(std::move(attn));
}

/// What logits are multiplied with: a number, or the one rule that the vendor knows by name.
double read_logit_scale(ConfigReader& reader, int64_t d_model) {
  const Value* value = reader.get_value({"logit_scale"});
  const std::string* rule = value ? value->as_string() : nullptr;
  if (!rule) return reader.get_real("logit_scale", {"logit_scale"}, 1.0);
  if (*rule != "inv_sqrt_d_model") {
    reader.problem(fmt::format("'logit_scale' = {} is not implemented", to_string(*value, 40)));
  }
  reader.note("logit_scale", "logit_scale", *rule, ValueOrigin::kFile);
  return 1.0 / std::sqrt(static_cast<double>(d_model));
}

void expect_plain_feed_forward(ConfigReader& reader) {
  const Value* object = reader.get_value({"ffn_config"});
  if (!object) return;
  ConfigReader ffn = reader.inner(*object, "ffn_config");
  ffn.expect_string("ffn_type", {"mptmlp"});
  ffn.ignore({"fc_type"});
  reader.absorb(std::move(ffn));
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "mpt"};
  const int64_t ratio = reader.get_size("ffn.ratio", {"expansion_ratio"}, 4);
  DecoderSizes sizes = read_hf_sizes(reader, {.has_n_kv_head = false, .d_ff_ratio = ratio, .is_head_tied = true}, &out);
  MptKnobs knobs;
  knobs.eps = reader.get_real("norm.eps", {"layer_norm_epsilon"}, knobs.eps);
  knobs.has_bias = !reader.get_bool("lacks_bias", {"no_bias"}, true);
  knobs.has_learned_positions = reader.get_bool("has_learned_positions", {"learned_pos_emb"}, true);
  read_attention(reader, &sizes, &knobs);
  expect_plain_feed_forward(reader);
  out.logit_scale = read_logit_scale(reader, out.d_model);
  reader.expect_string("norm_type", {"low_precision_layernorm", "layernorm"});
  // How weights are made, run and trained; embedding_fraction only scales a gradient.
  reader.ignore({"init_config", "init_device", "param_init_fn", "verbose", "embedding_fraction", "tokenizer_name",
                 "fc_type", "loss_fn", "use_pad_tok_in_ffn"});
  return finish_mpt(reader, sizes, knobs, std::move(out));
}

/// GGUF keeps neither the scale of the scores nor that of the logits.
Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "mpt");
  ModelConfig out{.family = "mpt"};
  const DecoderSizes sizes = read_gguf_sizes(reader, config, &out);
  MptKnobs knobs;
  knobs.eps = reader.need_real("norm.eps", {"attention.layer_norm_epsilon"});
  knobs.has_bias = read_gguf_bias(reader, config, "has_bias", "blk.0.attn_qkv.bias");
  knobs.alibi_max_bias = reader.get_real("attn.alibi_max_bias", {"attention.max_alibi_bias"}, 0.0);
  knobs.has_learned_positions = gguf_has_tensor(config, "position_embd.weight");
  knobs.qkv_clip = reader.get_real("attn.qkv_clip", {"attention.clamp_kqv"}, 0.0);
  knobs.has_qk_norm = gguf_has_tensor(config, "blk.0.attn_q_norm.weight");
  reader.note("attn.scale", "not in GGUF", "0", ValueOrigin::kDefault);
  reader.note("logit_scale", "not in GGUF", "1", ValueOrigin::kDefault);
  return finish_mpt(reader, sizes, knobs, std::move(out));
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

ModuleNames hf_module_names() {
  return {.roots = kHfRoots,
          .block = "blocks.",
          .embed = "wte",
          .pos_embed = "wpe",
          .final_norm = "norm_f",
          .unembed = "lm_head",
          .attn_norm = "norm_1",
          .o = "attn.out_proj",
          .q_norm = "attn.q_ln",
          .k_norm = "attn.k_ln",
          .ffn_norm = "norm_2",
          .up = "ffn.up_proj",
          .down = "ffn.down_proj",
          .qkv = "attn.Wqkv"};
}

std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  return decoder_slots(config, format == SourceFormat::kGguf ? gguf_fused_names() : hf_module_names());
}

constexpr std::string_view kDiffers =
    "expansion_ratio, alibi, alibi_bias_max, no_bias, qk_ln, logit_scale and grouped heads mean what the vendor's code "
    "makes of them; transformers does not look at them.";

}  // namespace

const Architecture kMpt = {.name = "mpt",
                           .hf_model_types = kHfTypes,
                           .gguf_names = kGgufNames,
                           .golden = "mpt",
                           .read_config = read_config,
                           .tensor_slots = tensor_slots,
                           .ignorable_tensors = kIgnorable,
                           .differs = kDiffers};

}  // namespace vitro
