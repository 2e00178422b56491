// Phi-3.5-MoE and its pruned descendants: grouped heads and biases, LayerNorms, two of sixteen experts chosen one after
// the other (SparseMixer). Abdin et al. 2024 (arXiv 2404.14219), Liu et al. 2023 (2310.00811).
#include "model/arch/families.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"phimoe"};
constexpr ExpertNames kExperts[] = {{.gate = "block_sparse_moe.experts.{}.w1",
                                     .up = "block_sparse_moe.experts.{}.w3",
                                     .down = "block_sparse_moe.experts.{}.w2",
                                     .is_one_by_one = true}};

MoeSpec read_experts(ConfigReader& reader, int64_t d_ff) {
  MoeSpec moe = read_hf_experts(
      reader, {.n_expert = 16, .d_ff_expert = d_ff, .has_d_ff_expert = false, .has_renormalised = false});
  moe.score = RouterScore::kSparseMixer;
  moe.router_jitter = reader.get_real("moe.router_jitter", {"router_jitter_noise"}, 0.01);
  return moe;
}

Result<ModelConfig> read_config(SourceFormat, const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "phimoe"};
  UniformDecoder decoder =
      read_hf_rms_decoder(reader, {.n_kv_head = 8, .n_ctx = 131072, .eps = 1e-5, .theta = 1e6}, &out);
  decoder.block.norm = layer_norm(decoder.block.norm.eps);
  set_attention_biases(reader.get_bool("attn.has_bias", {"attention_bias"}, false), &decoder.block.attn);
  out.has_head_bias = reader.get_bool("has_head_bias", {"lm_head_bias"}, false);
  set_window(read_hf_window(reader, 0), &decoder.block.attn);
  decoder.block.ffn = with_experts(decoder.block.ffn, read_experts(reader, decoder.sizes.d_ff));
  return finish_decoder(reader, decoder, std::move(out));
}

std::vector<TensorSlot> tensor_slots(SourceFormat, const ModelConfig& config) {
  ModuleNames names = hf_names();
  names.experts = kExperts;
  names.router = "block_sparse_moe.gate";
  return decoder_slots(config, names);
}

}  // namespace

const Architecture kPhiMoe = {.name = "phimoe",
                              .hf_model_types = kHfTypes,
                              .golden = "",
                              .runs = false,
                              .read_config = read_config,
                              .tensor_slots = tensor_slots,
                              .ignorable_tensors = kLlamaIgnorable};

}  // namespace vitro
