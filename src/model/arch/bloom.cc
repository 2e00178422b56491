// BLOOM: LayerNorm on the embeddings, ALiBi instead of positions, q, k and v of a head side by side, the tanh form of
// GELU. BigScience 2022 (arXiv 2211.05100).
#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"bloom"};
constexpr std::string_view kGgufNames[] = {"bloom"};
constexpr std::string_view kHfRoots[] = {"transformer.", ""};
constexpr std::string_view kIgnorable[] = {"lm_head.weight", "output.weight"};

/// The length that BLOOM was trained at; ALiBi has no end of its own.
constexpr int64_t kTrainedContext = 2048;

UniformDecoder make_decoder(const DecoderSizes& sizes, double eps, bool residual_from_norm) {
  BlockSpec block = layer_norm_block(sizes, eps, ActivationKind::kGeluTanh);
  block.residual_from_norm = residual_from_norm;
  set_alibi(kAlibiMaxBias, &block.attn);
  return {sizes, block};
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "bloom"};
  const DecoderSizes sizes = read_hf_sizes(
      reader, {.has_n_kv_head = false, .n_ctx = kTrainedContext, .d_ff_ratio = 4, .is_head_tied = true}, &out);
  const double eps = reader.get_real("norm.eps", {"layer_norm_epsilon"}, 1e-5);
  const bool residual_from_norm =
      reader.get_bool("residual_from_norm", {"apply_residual_connection_post_layernorm"}, false);
  // How training cut and fused the work; the order of additions at most.
  reader.ignore({"pretraining_tp", "slow_but_exact", "attention_softmax_in_fp32", "masked_softmax_fusion",
                 "bias_dropout_fusion", "skip_bias_add", "skip_bias_add_qkv", "offset_alibi"});
  out.embed_norm = layer_norm(eps);
  return finish_decoder(reader, make_decoder(sizes, eps, residual_from_norm), std::move(out));
}

Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "bloom");
  ModelConfig out{.family = "bloom"};
  const DecoderSizes sizes = read_gguf_sizes(reader, config, &out);
  const double eps = reader.need_real("norm.eps", {"attention.layer_norm_epsilon"});
  reader.note("residual_from_norm", "not in GGUF", "false", ValueOrigin::kDefault);
  out.embed_norm = layer_norm(eps);
  return finish_decoder(reader, make_decoder(sizes, eps, false), std::move(out));
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

/// GGUF's converter re-orders q, k, v from heads to blocks.
std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  return decoder_slots(config, format == SourceFormat::kGguf ? gguf_fused_names() : hf_megatron_names(kHfRoots));
}

}  // namespace

const Architecture kBloom = {.name = "bloom",
                             .hf_model_types = kHfTypes,
                             .gguf_names = kGgufNames,
                             .golden = "bloom",
                             .read_config = read_config,
                             .tensor_slots = tensor_slots,
                             .ignorable_tensors = kIgnorable};

}  // namespace vitro
