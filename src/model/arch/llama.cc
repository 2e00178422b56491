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

void set_biases(Biases biases, BlockSpec* block) {
  set_attention_biases(biases.attention, &block->attn);
  block->ffn.has_in_bias = block->ffn.has_out_bias = biases.feed_forward;
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  const Value* type = config.find("model_type");
  const bool is_mistral = type && type->as_string() && *type->as_string() == "mistral";
  ModelConfig out{.family = "llama"};
  UniformDecoder decoder = read_hf_rms_decoder(reader, {.n_kv_head = is_mistral ? 8 : 0}, &out);
  set_biases({reader.get_bool("attn.has_bias", {"attention_bias"}, false),
              reader.get_bool("ffn.has_bias", {"mlp_bias"}, false)},
             &decoder.block);
  // Mistral's class has a window where the file says nothing.
  if (is_mistral) set_window(read_hf_window(reader, 4096), &decoder.block.attn);
  reader.expect_int("pretraining_tp", 1);
  reader.expect_bool("rope_interleaved", false);
  reader.ignore({"max_sequence_length"});
  return finish_decoder(reader, decoder, std::move(out));
}

Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "llama");
  ModelConfig out{.family = "llama"};
  UniformDecoder decoder = read_gguf_rms_decoder(reader, config, &out);
  set_biases({read_gguf_bias(reader, config, "attn.has_bias", "blk.0.attn_q.bias"),
              read_gguf_bias(reader, config, "ffn.has_bias", "blk.0.ffn_up.bias")},
             &decoder.block);
  set_window(read_gguf_window(reader), &decoder.block.attn);
  // Mixtral.
  MoeSpec moe = read_gguf_experts(reader, decoder.sizes.d_ff);
  moe.is_renormalised = moe.n_expert > 0;
  if (moe.n_expert > 0) decoder.block.ffn = with_experts(decoder.block.ffn, moe);
  // How the converter says that q and k rows are in Meta's order, which all files of this family are.
  reader.get_value({"tensor_data_layout"});
  return finish_decoder(reader, decoder, std::move(out));
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
  return finish_decoder(reader, {sizes, rms_block(sizes, {.d_rot = sizes.d_head}, 1e-5)}, std::move(out));
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
  return decoder_slots(config, format == SourceFormat::kGguf ? gguf_permuted_names() : hf_names());
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
