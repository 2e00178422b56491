// Falcon in its three forms: 7B (one KV head for all, both halves in parallel behind one norm), 40B, 180B and 11B (KV
// heads for groups, two norms or one) and RW (ALiBi in place of rotary positions, halves in sequence, biases).
// Almazrouei et al. 2023 (arXiv 2311.16867).
#include <fmt/core.h>

#include "model/arch/families.h"
#include "model/arch/gguf_config.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"falcon"};
constexpr std::string_view kGgufNames[] = {"falcon"};
constexpr std::string_view kHfRoots[] = {"transformer.", ""};
constexpr std::string_view kIgnorable[] = {".rotary_emb.inv_freq", "lm_head.weight", "output.weight"};

struct FalconKnobs {
  double eps = 1e-5;
  bool has_bias = false;
  bool has_alibi = false;
  RopeSpec rope = {};
  Residual residual = Residual::kParallelSharedNorm;
  ActivationKind activation = ActivationKind::kGeluErf;
};

UniformDecoder make_decoder(const DecoderSizes& sizes, const FalconKnobs& knobs) {
  BlockSpec block = layer_norm_block(sizes, knobs.eps, knobs.activation);
  block.residual = knobs.residual;
  set_projection_biases(knobs.has_bias, &block);
  if (knobs.has_alibi) {
    set_alibi(kAlibiMaxBias, &block.attn);
    block.attn.alibi_factor = block.attn.scale;  // added before the scale
    block.attn.is_alibi_bf16 = true;
  } else {
    set_rope(knobs.rope, &block.attn);
  }
  return {sizes, block};
}

/// num_kv_heads counts in the new architecture only; the old one has one for all heads or one for each.
int64_t read_kv_heads(ConfigReader& reader, bool is_new, int64_t n_head) {
  const bool is_multi_query = reader.get_bool("attn.is_multi_query", {"multi_query"}, true);
  if (is_new) return reader.get_size("attn.n_kv_head", {"num_kv_heads"}, n_head);
  if (!is_multi_query) {
    const int64_t n_kv_head = reader.get_size("attn.n_kv_head", {"num_kv_heads"}, n_head);
    if (n_kv_head != n_head) {
      reader.problem(fmt::format("'num_kv_heads' = {} and 'num_attention_heads' = {} differ without 'multi_query'",
                                 n_kv_head, n_head));
    }
    return n_head;
  }
  reader.get_value({"num_kv_heads"});
  reader.note("attn.n_kv_head", "multi_query", "1", ValueOrigin::kDefault);
  return 1;
}

/// How many norms stand before the halves, and whether those are in parallel.
Residual read_residual(ConfigReader& reader, bool is_new) {
  const bool is_parallel = reader.get_bool("is_parallel", {"parallel_attn"}, true);
  const int64_t n_norms = reader.get_int("n_parallel_norms", {"num_ln_in_parallel_attn"}, is_new ? 2 : 1);
  if (is_new && !is_parallel) {
    reader.problem("'new_decoder_architecture' without 'parallel_attn' is not implemented");
  }
  if (n_norms != 1 && !(n_norms == 2 && is_new)) {
    reader.problem(fmt::format(
        "'num_ln_in_parallel_attn' = {} is not implemented (1, or 2 with 'new_decoder_architecture')", n_norms));
  }
  if (!is_parallel) return Residual::kSequential;
  return n_norms == 2 ? Residual::kParallel : Residual::kParallelSharedNorm;
}

Result<ModelConfig> read_hf(const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "falcon"};
  DecoderSizes sizes = read_hf_sizes(reader, {.has_n_kv_head = false, .d_ff_ratio = 4, .is_head_tied = true}, &out);
  const bool is_new = reader.get_bool("is_new_architecture", {"new_decoder_architecture"}, false);
  sizes.n_kv_head = read_kv_heads(reader, is_new, sizes.n_head);
  FalconKnobs knobs;
  knobs.eps = reader.get_real("norm.eps", {"layer_norm_epsilon"}, knobs.eps);
  knobs.has_bias = reader.get_bool("has_bias", {"bias"}, false);
  knobs.has_alibi = reader.get_bool("attn.has_alibi", {"alibi"}, false);
  knobs.rope = read_hf_rope(reader, {.d_head = sizes.d_head, .n_ctx = out.n_ctx});
  // No layer turns by it, but a description that makes no sense is not to be believed elsewhere either.
  if (knobs.has_alibi && !(knobs.rope.theta > 1.0)) {
    reader.problem(fmt::format("'{}' = {} must be above 1", reader.source_of("rope.theta"), knobs.rope.theta));
  }
  knobs.residual = read_residual(reader, is_new);
  knobs.activation = read_hf_activation(reader, {"activation"}, "gelu");
  reader.expect_bool("apply_residual_connection_post_layernorm", false);
  // Repeats ffn_hidden_size.
  reader.ignore({"ff_factor"});
  return finish_decoder(reader, make_decoder(sizes, knobs), std::move(out));
}

Result<ModelConfig> read_gguf(const Value& config) {
  ConfigReader reader = gguf_reader(config, "falcon");
  ModelConfig out{.family = "falcon"};
  const DecoderSizes sizes = read_gguf_sizes(reader, config, &out);
  FalconKnobs knobs;
  knobs.eps = reader.need_real("norm.eps", {"attention.layer_norm_epsilon"});
  knobs.has_bias = read_gguf_bias(reader, config, "has_bias", "blk.0.attn_qkv.bias");
  knobs.rope = read_gguf_rope(reader, config, {.d_head = sizes.d_head, .n_ctx = out.n_ctx});
  if (gguf_has_tensor(config, "blk.0.attn_norm_2.weight")) knobs.residual = Residual::kParallel;
  reader.note("ffn.activation", "not in GGUF", "gelu", ValueOrigin::kDefault);
  // The converter's name for q, k, v in blocks.
  reader.expect_string("tensor_data_layout", {"jploski"});
  return finish_decoder(reader, make_decoder(sizes, knobs), std::move(out));
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  return format == SourceFormat::kGguf ? read_gguf(config) : read_hf(config);
}

/// The norm of attention has another name where the feed-forward has one of its own beside it.
std::vector<TensorSlot> tensor_slots(SourceFormat format, const ModelConfig& config) {
  const bool is_gguf = format == SourceFormat::kGguf;
  ModuleNames names = is_gguf ? gguf_fused_names() : hf_megatron_names(kHfRoots);
  if (config.blocks.front().residual == Residual::kParallel) {
    names.attn_norm = is_gguf ? "attn_norm_2" : "ln_attn";
    names.ffn_norm = is_gguf ? "attn_norm" : "ln_mlp";
  }
  return decoder_slots(config, names);
}

constexpr std::string_view kDiffers =
    "ALiBi (RW form) is added once, before the scale, as in the published code and in transformers' default attention";

/// transformers 5.24 puts ALiBi into the mask and, in eager attention alone, adds it to the scores once more.
constexpr ReferenceFault kAlibiTwice = {
    .golden = "falcon-alibi",
    .text = "ALiBi added twice, as in transformers' eager attention",
    .repeat =
        [](ModelConfig* config) {
          for (BlockSpec& block : config->blocks) block.attn.alibi_factor *= 2.0;
        },
};

}  // namespace

const Architecture kFalcon = {.name = "falcon",
                              .hf_model_types = kHfTypes,
                              .gguf_names = kGgufNames,
                              .golden = "falcon-gqa",
                              .read_config = read_config,
                              .tensor_slots = tensor_slots,
                              .ignorable_tensors = kIgnorable,
                              .differs = kDiffers,
                              .fault = &kAlibiTwice};

}  // namespace vitro
