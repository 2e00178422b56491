// Mixtral: Mistral's layers with a choice of experts in place of the feed-forward; the weights of the chosen are their
// part of the softmax over all. Jiang et al. 2024 (arXiv 2401.04088). As GGUF it is a "llama" with experts: llama.cc.
#include "model/arch/families.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"mixtral"};

constexpr ExpertNames kExperts[] = {{.gate = "block_sparse_moe.experts.{}.w1",
                                     .up = "block_sparse_moe.experts.{}.w3",
                                     .down = "block_sparse_moe.experts.{}.w2",
                                     .is_one_by_one = true}};

Result<ModelConfig> read_config(SourceFormat, const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "mixtral"};
  UniformDecoder decoder =
      read_hf_rms_decoder(reader, {.n_kv_head = 8, .n_ctx = 4096 * 32, .eps = 1e-5, .theta = 1e6}, &out);
  const MoeSpec moe = read_hf_experts(reader, {.d_ff_expert = decoder.sizes.d_ff,
                                               .has_d_ff_expert = false,
                                               .is_renormalised = true,
                                               .has_renormalised = false});
  decoder.block.ffn = with_experts(decoder.block.ffn, moe);
  set_window(read_hf_window(reader, 0), &decoder.block.attn);
  // Noise on the rows while training.
  reader.ignore({"router_jitter_noise"});
  return finish_decoder(reader, decoder, std::move(out));
}

/// As published, or as transformers 5 holds them.
std::vector<TensorSlot> tensor_slots(SourceFormat, const ModelConfig& config) {
  ModuleNames names = hf_names();
  names.experts = kExperts;
  names.router = "block_sparse_moe.gate";
  return decoder_slots(config, names, hf_names());
}

}  // namespace

const Architecture kMixtral = {.name = "mixtral",
                               .hf_model_types = kHfTypes,
                               .golden = "mixtral",
                               .runs = false,
                               .read_config = read_config,
                               .tensor_slots = tensor_slots,
                               .ignorable_tensors = kLlamaIgnorable};

}  // namespace vitro
