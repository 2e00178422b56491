// DeepSeek-V2 and -V3 (R1; Kimi K2 has the same layers): queries, keys and values through narrow vectors (latent
// attention), only a part of each head rotated; dense layers first, then experts of which a few are shared by all
// tokens. V2 takes the softmax over all experts, V3 a sigmoid of each and chooses with a bias that balances them.
// DeepSeek-AI 2024 (arXiv 2405.04434, 2412.19437), Moonshot AI 2025 (2507.20534).
#include <fmt/core.h>

#include <cmath>

#include "model/arch/families.h"
#include "model/arch/hf_config.h"
#include "model/arch/slots.h"

namespace vitro {
namespace {

constexpr std::string_view kHfTypes2[] = {"deepseek_v2"};
constexpr std::string_view kHfTypes3[] = {"deepseek_v3", "kimi_k2"};
constexpr std::string_view kDiffers2 =
    "Weights of the chosen experts are normalised where the file says so (norm_topk_prob), as DeepSeek's own code "
    "does; "
    "transformers ignores it. No published model says so.";

/// The norms of the latent vectors keep the eps of their class, whatever the file says for the others.
constexpr double kLatentEps = 1e-6;

/// YaRN's 0.1 m ln(factor) + 1, which is 1 where nothing is stretched.
double yarn_gain(const RopeSpec& rope) {
  if (rope.scaling != RopeScaling::kYarn || rope.mscale_all_dim == 0.0 || !(rope.factor > 1.0)) return 1.0;
  return 0.1 * rope.mscale_all_dim * std::log(rope.factor) + 1.0;
}

void read_latent_widths(ConfigReader& reader, AttentionSpec* attn) {
  attn->d_head_nope = reader.get_size("attn.d_head_nope", {"qk_nope_head_dim"}, 128);
  attn->d_head_rope = reader.get_size("attn.d_head_rope", {"qk_rope_head_dim"}, 64);
  attn->d_head_v = reader.get_size("attn.d_head_v", {"v_head_dim"}, 128);
  attn->kv_lora_rank = reader.get_size("attn.kv_lora_rank", {"kv_lora_rank"}, 512);
  if (!reader.is_null("attn.q_lora_rank", "q_lora_rank")) {
    attn->q_lora_rank = reader.get_size("attn.q_lora_rank", {"q_lora_rank"}, 1536);
  }
  attn->d_head = attn->d_head_nope + attn->d_head_rope;
  reader.note("attn.d_head", "qk_nope_head_dim + qk_rope_head_dim", fmt::format("{}", attn->d_head),
              ValueOrigin::kDefault);
  // transformers 5 repeats them: the whole head, and its rotated part.
  reader.expect_int("qk_head_dim", attn->d_head);
  reader.expect_int("head_dim", attn->d_head_rope);
}

AttentionSpec read_attention(ConfigReader& reader, const DecoderSizes& sizes, int64_t n_ctx) {
  AttentionSpec attn;
  attn.n_head = sizes.n_head;
  attn.n_kv_head = sizes.n_kv_head;
  read_latent_widths(reader, &attn);
  attn.qk_norm_spec = {.kind = NormKind::kRms, .eps = kLatentEps};
  set_rope(read_hf_rope(reader, {.d_head = attn.d_head_rope, .n_ctx = n_ctx}), &attn);
  const bool is_adjacent = reader.get_bool("rope.is_adjacent", {"rope_interleave"}, true);
  attn.rope.pairing = is_adjacent ? RopePairing::kAdjacent : RopePairing::kHalves;
  const double gain = yarn_gain(attn.rope);
  attn.scale = gain * gain / std::sqrt(static_cast<double>(attn.d_head));
  reader.expect_bool("attention_bias", false);
  reader.expect_bool("mlp_bias", false);
  reader.expect_int("pretraining_tp", 1);
  return attn;
}

/// What differs between the two in the choice of experts.
struct Choice {
  ExpertDefaults experts;
  int64_t n_shared = 1;
  double routed_scale = 1.0;
  int64_t n_group = 1, n_group_used = 1;
};

MoeSpec read_experts(ConfigReader& reader, const Choice& defaults) {
  MoeSpec moe = read_hf_experts(reader, defaults.experts);
  const int64_t n_shared = reader.get_int("moe.n_expert_shared", {"n_shared_experts"}, defaults.n_shared);
  if (n_shared < 0 || n_shared > kMaxExperts) {
    reader.problem(fmt::format("'n_shared_experts' = {} must be between 0 and {}", n_shared, kMaxExperts));
  } else {
    moe.d_ff_shared = n_shared * moe.d_ff_expert;
  }
  moe.routed_scale = reader.get_real("moe.routed_scale", {"routed_scaling_factor"}, defaults.routed_scale);
  moe.n_group = reader.get_size("moe.n_group", {"n_group"}, defaults.n_group, kMaxExperts);
  moe.n_group_used = reader.get_size("moe.n_group_used", {"topk_group"}, defaults.n_group_used, kMaxExperts);
  reader.expect_int("moe_layer_freq", 1);
  return moe;
}

MoeSpec read_experts2(ConfigReader& reader) {
  MoeSpec moe =
      read_experts(reader, {.experts = {.n_expert = 64, .n_expert_used = 6, .d_ff_expert = 1407}, .n_shared = 2});
  const std::string method = reader.get_string("moe.choice", {"topk_method"}, "greedy");
  if (method == "greedy") moe.n_group = moe.n_group_used = 1;
  if (method != "greedy" && method != "group_limited_greedy") {
    reader.problem(fmt::format("'topk_method' = {} is not implemented", to_string(Value(method), 40)));
  }
  reader.expect_string("scoring_func", {"softmax"});
  return moe;
}

MoeSpec read_experts3(ConfigReader& reader) {
  MoeSpec moe = read_experts(
      reader, {.experts = {.n_expert = 256, .n_expert_used = 8, .d_ff_expert = 2048, .is_renormalised = true},
               .routed_scale = 2.5,
               .n_group = 8,
               .n_group_used = 4});
  moe.score = RouterScore::kSigmoid;
  moe.group_score = GroupScore::kSumOfTwo;
  moe.has_selection_bias = true;
  reader.expect_string("topk_method", {"noaux_tc"});
  reader.expect_string("scoring_func", {"sigmoid"});
  return moe;
}

/// A layer behind the last that guesses one token more is left out.
void read_next_token_layers(ConfigReader& reader) {
  const int64_t n = reader.get_int("n_next_token_layer", {"num_nextn_predict_layers"}, 0);
  if (n != 0 && n != 1) reader.problem(fmt::format("'num_nextn_predict_layers' = {} is not implemented", n));
}

Result<ModelConfig> read_config(const Value& config, bool is_v3) {
  ConfigReader reader = hf_reader(config);
  ModelConfig out{.family = is_v3 ? "deepseek3" : "deepseek2"};
  UniformDecoder decoder;
  decoder.sizes = read_hf_sizes(reader, {.has_d_head = false, .n_ctx = is_v3 ? 4096 : 2048}, &out);
  decoder.block.norm = {.kind = NormKind::kRms, .eps = reader.get_real("norm.eps", {"rms_norm_eps"}, 1e-6)};
  decoder.block.attn = read_attention(reader, decoder.sizes, out.n_ctx);
  decoder.block.ffn = {.d_ff = decoder.sizes.d_ff, .activation = read_hf_activation(reader, {"hidden_act"}, "silu")};
  const MoeSpec moe = is_v3 ? read_experts3(reader) : read_experts2(reader);
  const int64_t n_dense = reader.get_int("moe.n_dense_layer", {"first_k_dense_replace"}, is_v3 ? 3 : 0);
  if (is_v3) read_next_token_layers(reader);
  // How the published files store matrices: binding sees the tensors themselves.
  reader.ignore({"quantization_config"});
  VITRO_TRY_ASSIGN(out, finish_decoder(reader, decoder, std::move(out)));
  for (int64_t i = std::max<int64_t>(n_dense, 0); i < out.n_layer(); ++i) {
    FeedForwardSpec& ffn = out.blocks[static_cast<size_t>(i)].ffn;
    ffn = with_experts(ffn, moe);
  }
  return out;
}

Result<ModelConfig> read_config2(SourceFormat, const Value& config) { return read_config(config, false); }
Result<ModelConfig> read_config3(SourceFormat, const Value& config) { return read_config(config, true); }

std::vector<TensorSlot> tensor_slots(SourceFormat, const ModelConfig& config) {
  ModuleNames names = hf_names();
  names.q_a = "self_attn.q_a_proj";
  names.q_a_norm = "self_attn.q_a_layernorm";
  names.q_b = "self_attn.q_b_proj";
  names.kv_a = "self_attn.kv_a_proj_with_mqa";
  names.kv_a_norm = "self_attn.kv_a_layernorm";
  names.kv_b = "self_attn.kv_b_proj";
  std::vector<TensorSlot> slots = decoder_slots(config, names);
  slots.push_back(next_token_tensors(config));
  return slots;
}

}  // namespace

const Architecture kDeepseek2 = {.name = "deepseek2",
                                 .hf_model_types = kHfTypes2,
                                 .golden = "deepseek-v2",
                                 .runs = false,
                                 .read_config = read_config2,
                                 .tensor_slots = tensor_slots,
                                 .ignorable_tensors = kLlamaIgnorable,
                                 .differs = kDiffers2};

const Architecture kDeepseek3 = {.name = "deepseek3",
                                 .hf_model_types = kHfTypes3,
                                 .golden = "deepseek-v3",
                                 .runs = false,
                                 .read_config = read_config3,
                                 .tensor_slots = tensor_slots,
                                 .ignorable_tensors = kLlamaIgnorable};

}  // namespace vitro
