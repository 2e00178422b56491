// gpt-oss: windows in every second layer, a learned logit a head that the softmax may give weight to (a sink), and
// experts with biases, chosen by a softmax over the chosen alone, between a clamped and shifted gate. OpenAI 2025
// (arXiv 2508.10925). Gate and up rows of the experts lie interleaved, matrices [in, out].
#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"gpt_oss"};
constexpr std::string_view kGgufNames[] = {"gpt-oss"};
constexpr double kClamp = 7.0, kGateSlope = 1.702;
constexpr ExpertNames kExperts[] = {{.down = "mlp.experts.down_proj",
                                     .gate_up = "mlp.experts.gate_up_proj",
                                     .weight = "",
                                     .bias = "_bias",
                                     .is_transposed = true,
                                     .is_interleaved = true}};

void read_activation(ConfigReader& reader, FeedForwardSpec* ffn) {
  reader.expect_string("hidden_act", {"silu"});
  ffn->activation = ActivationKind::kClampedSwiglu;
  ffn->clamp = reader.get_real("ffn.clamp", {"swiglu_limit"}, kClamp);
  ffn->gate_slope = reader.get_real("ffn.gate_slope", {"swiglu_alpha"}, kGateSlope);
}

/// Every published file has its RoPE description; the class's default is not repeated here.
RopeSpec read_rope(ConfigReader& reader, const RopeFrame& frame) {
  if (!reader.has({"rope_parameters", "rope_scaling"}))
    reader.problem("'rope_parameters' (or 'rope_scaling') is missing");
  return read_hf_rope(reader, frame);
}

MoeSpec read_experts(ConfigReader& reader, int64_t d_ff) {
  MoeSpec moe = read_hf_experts(
      reader,
      {.n_expert = 128, .n_expert_used = 4, .d_ff_expert = d_ff, .has_d_ff_expert = false, .has_renormalised = false});
  moe.score = RouterScore::kSoftmaxSelected;
  moe.has_router_bias = moe.has_expert_bias = true;
  reader.expect_int("experts_per_token", moe.n_expert_used);
  return moe;
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "gpt-oss"};
  UniformDecoder decoder;
  decoder.sizes = read_hf_sizes(reader, {.n_kv_head = 8, .d_head = 64, .n_ctx = 131072}, &out);
  const double eps = reader.get_real("norm.eps", {"rms_norm_eps"}, 1e-5);
  const RopeFrame frame = {.d_head = decoder.sizes.d_head, .n_ctx = out.n_ctx, .theta = 150000.0};
  decoder.block = rms_block(decoder.sizes, read_rope(reader, frame), eps);
  decoder.block.attn.has_sinks = true;
  set_attention_biases(reader.get_bool("attn.has_bias", {"attention_bias"}, true), &decoder.block.attn);
  read_activation(reader, &decoder.block.ffn);
  decoder.block.ffn = with_experts(decoder.block.ffn, read_experts(reader, decoder.sizes.d_ff));
  LayerWindows windows{.masks = read_hf_layer_types(reader, decoder.sizes.n_layer),
                       .window = read_hf_window(reader, 128)};
  if (windows.masks.empty()) windows.masks = periodic_masks(decoder.sizes.n_layer, 2);
  // The length behind rope's own original length; how the published files store the experts, which binding sees.
  reader.ignore({"initial_context_length", "quantization_config"});
  return finish_decoder(reader, decoder, std::move(out), windows);
}

/// GGUF keeps neither the activation nor whether YaRN's ramp is cut to whole dimensions, nor which layers see a window.
Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "gpt-oss");
  ModelConfig out{.family = "gpt-oss"};
  UniformDecoder decoder = read_gguf_rms_decoder(reader, config, &out, {.theta = 150000.0});
  decoder.block.attn.rope.is_truncated = false;
  decoder.block.attn.has_sinks = true;
  set_attention_biases(read_gguf_bias(reader, config, "attn.has_bias", "blk.0.attn_q.bias"), &decoder.block.attn);
  MoeSpec moe = read_gguf_experts(reader, decoder.sizes.d_ff);
  moe.score = RouterScore::kSoftmaxSelected;
  moe.has_router_bias = moe.has_expert_bias = true;
  decoder.block.ffn = with_experts(decoder.block.ffn, moe);
  decoder.block.ffn.activation = ActivationKind::kClampedSwiglu;
  decoder.block.ffn.clamp = kClamp;
  decoder.block.ffn.gate_slope = kGateSlope;
  reader.note("ffn.clamp", "none", "7", ValueOrigin::kDefault);
  const LayerWindows windows{periodic_masks(decoder.sizes.n_layer, 2), read_gguf_window(reader)};
  return finish_decoder(reader, decoder, std::move(out), windows);
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  if (format == SourceFormat::kGguf) {
    ModuleNames names = gguf_names();
    names.ffn_norm = "post_attention_norm";
    return decoder_slots(config, names);
  }
  ModuleNames names = hf_names();
  names.experts = kExperts;
  names.router = "mlp.router";
  names.sinks = "self_attn.sinks";
  return decoder_slots(config, names);
}

}  // namespace

const Architecture kGptOss = {.name = "gpt-oss",
                              .hf_model_types = kHfTypes,
                              .gguf_names = kGgufNames,
                              .golden = "gpt-oss",
                              .runs = false,
                              .read_config = read_config,
                              .tensor_slots = tensor_slots,
                              .ignorable_tensors = kLlamaIgnorable};

}  // namespace vitro
