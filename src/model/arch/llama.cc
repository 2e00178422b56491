// Llama 1 to 3.x and everything that uses its layout (SmolLM2, TinyLlama, Yi), and Mistral, which adds a window: RMS
// norms before each half, rotary positions, grouped heads, gated SiLU. Touvron et al. 2023 (arXiv 2302.13971,
// 2307.09288), Jiang et al. 2023 (2310.06825). Also llama2.c files, whose weights are Meta's: adjacent rotary pairs, as
// in GGUF.
#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"llama", "mistral"};
constexpr std::string_view kGgufNames[] = {"llama"};
constexpr std::string_view kHfRoots[] = {"model.", ""};
constexpr std::string_view kNoRoot[] = {""};
constexpr std::string_view kIgnorable[] = {".rotary_emb.inv_freq", "lm_head.weight", "output.weight"};
constexpr std::string_view kDiffers =
    "Dynamic scaling: a sequence keeps the frequencies of its prompt's length. transformers takes new ones while the "
    "text "
    "grows, but leaves the keys in its cache rotated by the old ones.";

/// Biases of one half of a block; Llama has one switch for each half.
struct Biases {
  bool attention = false;
  bool feed_forward = false;
};

BlockSpec make_block(const DecoderSizes& sizes, const RopeSpec& rope, double eps, Biases biases) {
  BlockSpec block;
  block.norm = {.kind = NormKind::kRms, .eps = eps};
  block.attn = rope_attention(sizes, rope);
  set_attention_biases(biases.attention, &block.attn);
  block.ffn = {.d_ff = sizes.d_ff, .has_in_bias = biases.feed_forward, .has_out_bias = biases.feed_forward};
  return block;
}

/// Mistral's class default is a window, so only an explicit null means none.
int64_t read_mistral_window(ConfigReader& reader, const Value& config) {
  const Value* value = config.find("sliding_window");
  if (!value || !value->is_null()) return reader.get_size("attn.window", {"sliding_window"}, 4096, kMaxContext);
  reader.get_value({"sliding_window"});
  reader.note("attn.window", "sliding_window", "null", ValueOrigin::kFile);
  return 0;
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  const Value* type = config.find("model_type");
  const bool is_mistral = type && type->as_string() && *type->as_string() == "mistral";
  ModelConfig out{.family = "llama"};
  const DecoderSizes sizes = read_hf_sizes(reader, {.n_kv_head = is_mistral ? 8 : 0}, &out);
  const double eps = reader.get_real("norm.eps", {"rms_norm_eps"}, 1e-6);
  const ActivationKind activation = read_hf_activation(reader, {"hidden_act"}, "silu");
  const RopeSpec rope = read_hf_rope(reader, {.d_head = sizes.d_head, .n_ctx = out.n_ctx});
  const Biases biases = {reader.get_bool("attn.has_bias", {"attention_bias"}, false),
                         reader.get_bool("ffn.has_bias", {"mlp_bias"}, false)};
  const int64_t window = is_mistral ? read_mistral_window(reader, config) : 0;
  reader.expect_int("pretraining_tp", 1);
  reader.expect_bool("rope_interleaved", false);
  reader.ignore({"max_sequence_length"});
  VITRO_TRY(reader.finish());
  BlockSpec block = make_block(sizes, rope, eps, biases);
  block.ffn.activation = activation;
  set_window(window, &block.attn);
  set_blocks(sizes.n_layer, block, &out);
  out.values = reader.take_values();
  return out;
}

Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "llama");
  ModelConfig out{.family = "llama"};
  const DecoderSizes sizes = read_gguf_sizes(reader, config, &out);
  const double eps = reader.need_real("norm.eps", {"attention.layer_norm_rms_epsilon"});
  const RopeSpec rope = read_gguf_rope(reader, config, {.d_head = sizes.d_head, .n_ctx = out.n_ctx});
  const Biases biases = {read_gguf_bias(reader, config, "attn.has_bias", "blk.0.attn_q.bias"),
                         read_gguf_bias(reader, config, "ffn.has_bias", "blk.0.ffn_up.bias")};
  const int64_t window = read_gguf_window(reader);
  // How the converter says that q and k rows are in Meta's order, which all files of this family are.
  reader.get_value({"tensor_data_layout"});
  VITRO_TRY(reader.finish());
  BlockSpec block = make_block(sizes, rope, eps, biases);
  set_window(window, &block.attn);
  set_blocks(sizes.n_layer, block, &out);
  out.values = reader.take_values();
  return out;
}

Result<ModelConfig> read_llama2c(const Value& config) {
  ConfigReader reader(config, "", "llama2.c header");
  ModelConfig out{.family = "llama"};
  DecoderSizes sizes;
  out.d_model = reader.need_size("d_model", {"dim"});
  sizes.d_ff = reader.need_size("ffn.d_ff", {"hidden_dim"});
  sizes.n_layer = reader.need_size("n_layer", {"n_layers"}, kMaxLayers);
  sizes.n_head = reader.need_size("attn.n_head", {"n_heads"});
  sizes.n_kv_head = reader.need_size("attn.n_kv_head", {"n_kv_heads"});
  sizes.d_head = out.d_model / sizes.n_head;
  out.vocab_size = reader.need_size("vocab_size", {"vocab_size"}, kMaxVocab);
  out.n_ctx = reader.need_size("n_ctx", {"seq_len"}, kMaxContext);
  out.is_head_tied = reader.get_bool("is_head_tied", {"shared_classifier"}, true);
  reader.note("norm.eps", "run.c", "1e-05", ValueOrigin::kDefault);
  reader.note("rope.theta", "run.c", "10000", ValueOrigin::kDefault);
  // run.c begins with token 1 and takes it (or 2) as the end.
  out.bos_id = 1;
  out.eos_ids = {1, 2};
  VITRO_TRY(reader.finish());
  set_blocks(sizes.n_layer, make_block(sizes, {.d_rot = sizes.d_head}, 1e-5, {}), &out);
  out.values = reader.take_values();
  return out;
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  switch (format) {
    case SourceFormat::kHuggingFace:
      return read_hf(config);
    case SourceFormat::kGguf:
      return read_gguf(config);
    case SourceFormat::kLlama2c:
      return read_llama2c(config);
  }
  return fail(ErrorCode::kInternal, "unknown source format");
}

ModuleNames llama2c_names() {
  return {.roots = kNoRoot,
          .block = "layers.",
          .embed = "tok_embeddings",
          .final_norm = "norm",
          .unembed = "output",
          .attn_norm = "attention_norm",
          .q = "attention.wq",
          .k = "attention.wk",
          .v = "attention.wv",
          .o = "attention.wo",
          .ffn_norm = "ffn_norm",
          .gate = "feed_forward.w1",
          .up = "feed_forward.w3",
          .down = "feed_forward.w2",
          .is_rope_adjacent = true};
}

std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  if (format == SourceFormat::kLlama2c) return decoder_slots(config, llama2c_names());
  if (format == SourceFormat::kHuggingFace) return decoder_slots(config, hf_names(kHfRoots));
  ModuleNames names = gguf_names();
  names.is_rope_adjacent = true;
  return decoder_slots(config, names);
}

}  // namespace

const Architecture kLlama = {.name = "llama",
                             .hf_model_types = kHfTypes,
                             .gguf_names = kGgufNames,
                             .golden = "llama-gqa",
                             .read_config = read_config,
                             .tensor_slots = tensor_slots,
                             .ignorable_tensors = kIgnorable,
                             .differs = kDiffers};

}  // namespace vitro
