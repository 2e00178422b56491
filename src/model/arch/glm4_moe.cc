// GLM-4.5 and 4.6 (glm4_moe): grouped heads half of which are rotated, and DeepSeek-V3's experts behind dense first
// layers. GLM-4.5 Team 2025 (arXiv 2508.06471).
#include <fmt/core.h>

#include <algorithm>

#include "model/arch/families.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes[] = {"glm4_moe"};

MoeSpec read_experts(ConfigReader& reader) {
  MoeSpec moe =
      read_hf_experts(reader, {.n_expert = 128, .n_expert_used = 8, .d_ff_expert = 1408, .is_renormalised = true});
  moe.d_ff_shared = moe.d_ff_expert * reader.get_size("moe.n_expert_shared", {"n_shared_experts"}, 1, kMaxExperts);
  moe.routed_scale = reader.get_real("moe.routed_scale", {"routed_scaling_factor"}, 1.0);
  moe.n_group = reader.get_size("moe.n_group", {"n_group"}, 1, kMaxExperts);
  moe.n_group_used = reader.get_size("moe.n_group_used", {"topk_group"}, 1, kMaxExperts);
  moe.score = RouterScore::kSigmoid;
  moe.group_score = GroupScore::kSumOfTwo;
  moe.has_selection_bias = true;
  return moe;
}

Result<ModelConfig> read_config(SourceFormat, const Value& config) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = "glm4moe"};
  UniformDecoder decoder =
      read_hf_rms_decoder(reader, {.n_kv_head = 8, .n_ctx = 131072, .eps = 1e-5, .rope_fraction = 0.5}, &out);
  set_qkv_biases(reader.get_bool("attn.has_qkv_bias", {"attention_bias"}, false), &decoder.block.attn);
  if (reader.get_bool("attn.has_qk_norm", {"use_qk_norm"}, false)) {
    decoder.block.attn.qk_norm = QkNorm::kPerHeadShared;
    decoder.block.attn.qk_norm_spec = decoder.block.norm;
  }
  const MoeSpec moe = read_experts(reader);
  const int64_t n_dense = reader.get_int("moe.n_dense_layer", {"first_k_dense_replace"}, 1);
  const int64_t n_next = reader.get_int("n_next_token_layer", {"num_nextn_predict_layers"}, 0);
  if (n_next != 0 && n_next != 1)
    reader.problem(fmt::format("'num_nextn_predict_layers' = {} is not implemented", n_next));
  VITRO_TRY_ASSIGN(out, finish_decoder(reader, decoder, std::move(out)));
  for (size_t i = static_cast<size_t>(std::max<int64_t>(n_dense, 0)); i < out.blocks.size(); ++i) {
    out.blocks[i].ffn = with_experts(out.blocks[i].ffn, moe);
  }
  return out;
}

std::vector<TensorSlot> tensor_slots(SourceFormat, const ModelConfig& config) {
  std::vector<TensorSlot> slots = decoder_slots(config, hf_names());
  slots.push_back(next_token_tensors(config));
  return slots;
}

}  // namespace

const Architecture kGlm4Moe = {.name = "glm4moe",
                               .hf_model_types = kHfTypes,
                               .golden = "",
                               .runs = false,
                               .read_config = read_config,
                               .tensor_slots = tensor_slots,
                               .ignorable_tensors = kLlamaIgnorable};

}  // namespace vitro
