// Families with experts and latent attention: configurations as they are published, the knobs behind their keys, and
// every refusal. Counts of parameters are those of the published weights.
#include <gtest/gtest.h>

#include <cmath>

#include "model/arch/families_test_util.h"
#include "model/module_tree.h"

namespace vitro {
namespace {

using testing::expect_refusals;
using testing::good_hf;

int64_t n_parameters(std::string_view text) {
  const auto arch = find_architecture(SourceFormat::kHuggingFace, testing::json(text));
  EXPECT_TRUE(arch) << arch.error().message;
  const ModelConfig config = good_hf(text);
  return module_tree(config, (*arch)->tensor_slots(SourceFormat::kHuggingFace, config), {}).n_parameters;
}

constexpr std::string_view kMixtral =
    R"({"architectures": ["MixtralForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 1, "eos_token_id": 2,
        "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02, "intermediate_size": 14336,
        "max_position_embeddings": 32768, "model_type": "mixtral", "num_attention_heads": 32,
        "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 8,
        "output_router_logits": false, "rms_norm_eps": 1e-05, "rope_theta": 1000000.0, "router_aux_loss_coef": 0.02,
        "sliding_window": null, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
        "transformers_version": "4.36.0.dev0", "use_cache": true, "vocab_size": 32000})";

TEST(MixtralTest, AsPublished) {
  EXPECT_EQ(n_parameters(kMixtral), 46'702'792'704);
  const ModelConfig config = good_hf(kMixtral);
  const FeedForwardSpec& ffn = config.blocks[31].ffn;
  EXPECT_EQ(ffn.d_ff, 0);
  EXPECT_EQ(ffn.moe, (MoeSpec{.n_expert = 8, .n_expert_used = 2, .d_ff_expert = 14336, .is_renormalised = true}));
  EXPECT_EQ(config.blocks[0].attn.mask, MaskKind::kCausal);
  expect_refusals(kMixtral, {{R"("num_experts_per_tok": 9)", "moe.n_expert_used ('num_experts_per_tok') = 9"},
                             {R"("num_local_experts": 0)", "num_local_experts"},
                             {R"("num_local_experts": 1000)", "moe.d_ff_expert"},
                             {R"("norm_topk_prob": true)", "norm_topk_prob"}});
}

constexpr std::string_view kQwen3 =
    R"({"architectures": ["Qwen3MoeForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
        "bos_token_id": 151643, "decoder_sparse_step": 1, "eos_token_id": 151645, "head_dim": 128,
        "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02, "intermediate_size": 6144,
        "max_position_embeddings": 40960, "max_window_layers": 48, "mlp_only_layers": [], "model_type": "qwen3_moe",
        "moe_intermediate_size": 768, "norm_topk_prob": true, "num_attention_heads": 32, "num_experts": 128,
        "num_experts_per_tok": 8, "num_hidden_layers": 48, "num_key_value_heads": 4, "output_router_logits": false,
        "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 1000000.0, "router_aux_loss_coef": 0.001,
        "sliding_window": null, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
        "transformers_version": "4.51.0", "use_cache": true, "use_sliding_window": false, "vocab_size": 151936})";

TEST(Qwen3MoeTest, AsPublished) {
  EXPECT_EQ(n_parameters(kQwen3), 30'532'122'624);
  const ModelConfig config = good_hf(kQwen3);
  EXPECT_TRUE(config.blocks[0].ffn.moe.is_renormalised);
  EXPECT_EQ(config.blocks[0].attn.qk_norm, QkNorm::kPerHeadShared);
}

TEST(Qwen3MoeTest, LayersStayDense) {
  const auto layers = [](std::string_view members) {
    const auto config = testing::read(SourceFormat::kHuggingFace, testing::changed(kQwen3, members));
    EXPECT_TRUE(config) << config.error().message;
    std::vector<size_t> dense;
    for (size_t i = 0; i < config->blocks.size(); ++i) {
      if (config->blocks[i].ffn.moe.n_expert == 0) dense.push_back(i);
    }
    return dense;
  };
  EXPECT_EQ(layers(R"("mlp_only_layers": [0, 47, 5])"), (std::vector<size_t>{0, 5, 47}));
  EXPECT_EQ(layers(R"("num_hidden_layers": 6, "decoder_sparse_step": 3)"), (std::vector<size_t>{0, 1, 3, 4}));
  EXPECT_EQ(layers(R"("num_hidden_layers": 2, "mlp_only_layers": [7, -1])"), std::vector<size_t>{});
}

// Qwen1.5-MoE-A2.7B; its report says 14.3 billion, 2.7 of them active.
TEST(Qwen2MoeTest, AsPublished) {
  constexpr std::string_view kText =
      R"({"architectures": ["Qwen2MoeForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 151643,
          "decoder_sparse_step": 1, "eos_token_id": 151643, "hidden_act": "silu", "hidden_size": 2048,
          "initializer_range": 0.02, "intermediate_size": 5632, "max_position_embeddings": 8192,
          "max_window_layers": 21, "model_type": "qwen2_moe", "moe_intermediate_size": 1408, "norm_topk_prob": false,
          "num_attention_heads": 16, "num_experts": 60, "num_experts_per_tok": 4, "num_hidden_layers": 24,
          "num_key_value_heads": 16, "output_router_logits": false, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0,
          "router_aux_loss_coef": 0.001, "shared_expert_intermediate_size": 5632, "sliding_window": 32768,
          "tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.39.0.dev0",
          "use_cache": true, "use_sliding_window": false, "vocab_size": 151936})";
  EXPECT_EQ(n_parameters(kText), 14'315'784'192);
  const MoeSpec moe = good_hf(kText).blocks[0].ffn.moe;
  EXPECT_EQ(moe.d_ff_shared, 5632);
  EXPECT_TRUE(moe.has_shared_gate);
  EXPECT_FALSE(moe.is_renormalised);
}

constexpr std::string_view kOss =
    R"({"architectures": ["GptOssForCausalLM"], "attention_bias": true, "attention_dropout": 0.0,
        "eos_token_id": 200002, "experts_per_token": 4, "head_dim": 64, "hidden_act": "silu", "hidden_size": 2880,
        "initial_context_length": 4096, "initializer_range": 0.02, "intermediate_size": 2880,
        "max_position_embeddings": 131072, "model_type": "gpt_oss", "num_attention_heads": 64,
        "num_experts_per_tok": 4, "num_hidden_layers": 24, "num_key_value_heads": 8, "num_local_experts": 32,
        "output_router_logits": false, "pad_token_id": 199999, "quantization_config": {"quant_method": "mxfp4"},
        "rms_norm_eps": 1e-05, "rope_scaling": {"beta_fast": 32.0, "beta_slow": 1.0, "factor": 32.0,
        "original_max_position_embeddings": 4096, "rope_type": "yarn", "truncate": false}, "rope_theta": 150000,
        "router_aux_loss_coef": 0.9, "sliding_window": 128, "swiglu_limit": 7.0, "tie_word_embeddings": false,
        "transformers_version": "4.55.0.dev0", "use_cache": true, "vocab_size": 201088})";

TEST(GptOssTest, AsPublished) {
  EXPECT_EQ(n_parameters(kOss), 20'914'757'184);
  const ModelConfig config = good_hf(kOss);
  const BlockSpec& block = config.blocks[0];
  EXPECT_TRUE(block.attn.has_sinks && block.attn.has_o_bias && block.ffn.moe.has_router_bias);
  EXPECT_EQ(block.attn.mask, MaskKind::kWindow);
  EXPECT_EQ(block.attn.window, 128);
  EXPECT_EQ(config.blocks[1].attn.mask, MaskKind::kCausal);
  EXPECT_EQ(block.ffn.moe.score, RouterScore::kSoftmaxSelected);
  EXPECT_EQ(block.ffn.clamp, 7.0);
  EXPECT_EQ(block.ffn.gate_slope, 1.702);
  EXPECT_FALSE(block.attn.rope.is_truncated);
  expect_refusals(kOss, {{R"("rope_scaling": null)", "'rope_parameters' (or 'rope_scaling') is missing"},
                         {R"("experts_per_token": 2)", "experts_per_token"},
                         {R"("hidden_act": "gelu")", "hidden_act"}});
}

constexpr std::string_view kDeepseek3 =
    R"({"architectures": ["DeepseekV3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
        "auto_map": {"AutoConfig": "configuration_deepseek.DeepseekV3Config"}, "bos_token_id": 0, "eos_token_id": 1,
        "ep_size": 1, "first_k_dense_replace": 3, "hidden_act": "silu", "hidden_size": 7168,
        "initializer_range": 0.02, "intermediate_size": 18432, "kv_lora_rank": 512,
        "max_position_embeddings": 163840, "model_type": "deepseek_v3", "moe_intermediate_size": 2048,
        "moe_layer_freq": 1, "n_group": 8, "n_routed_experts": 256, "n_shared_experts": 1, "norm_topk_prob": true,
        "num_attention_heads": 128, "num_experts_per_tok": 8, "num_hidden_layers": 61, "num_key_value_heads": 128,
        "num_nextn_predict_layers": 1, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
        "quantization_config": {"activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8",
        "weight_block_size": [128, 128]}, "rms_norm_eps": 1e-06, "rope_scaling": {"beta_fast": 32, "beta_slow": 1,
        "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0, "original_max_position_embeddings": 4096, "type": "yarn"},
        "rope_theta": 10000, "routed_scaling_factor": 2.5, "scoring_func": "sigmoid", "tie_word_embeddings": false,
        "topk_group": 4, "topk_method": "noaux_tc", "torch_dtype": "bfloat16", "transformers_version": "4.33.1",
        "use_cache": true, "v_head_dim": 128, "vocab_size": 129280})";

TEST(Deepseek3Test, AsPublished) {
  EXPECT_EQ(n_parameters(kDeepseek3), 671'026'404'352);
  const ModelConfig config = good_hf(kDeepseek3);
  const AttentionSpec& attn = config.blocks[0].attn;
  EXPECT_EQ(attn.d_head, 192);
  EXPECT_EQ(attn.rope.d_rot, 64);
  EXPECT_EQ(attn.rope.pairing, RopePairing::kAdjacent);
  EXPECT_EQ(attn.qk_norm_spec.eps, 1e-6);
  // 192^-1/2 (0.1 ln 40 + 1)^2
  EXPECT_DOUBLE_EQ(attn.scale, std::pow(0.1 * std::log(40.0) + 1.0, 2) / std::sqrt(192.0));
  EXPECT_EQ(config.blocks[2].ffn.d_ff, 18432);
  EXPECT_EQ(config.blocks[3].ffn.d_ff, 0);
  const MoeSpec& moe = config.blocks[60].ffn.moe;
  EXPECT_EQ(moe.score, RouterScore::kSigmoid);
  EXPECT_EQ(moe.group_score, GroupScore::kSumOfTwo);
  EXPECT_TRUE(moe.has_selection_bias && moe.is_renormalised);
  EXPECT_EQ(moe.n_group_used, 4);
  EXPECT_EQ(moe.routed_scale, 2.5);
}

TEST(Deepseek3Test, SaysWhatItLeavesOut) {
  const auto arch = find_architecture(SourceFormat::kHuggingFace, testing::json(kDeepseek3));
  const auto slots = (*arch)->tensor_slots(SourceFormat::kHuggingFace, good_hf(kDeepseek3));
  EXPECT_EQ(slots.back().use, SlotUse::kSkipped);
  EXPECT_EQ(slots.back().sources[0].name, "model.layers.61.");
  EXPECT_NE(slots.back().name.find("multi-token prediction"), std::string::npos);
}

// The selection biases stand in the file, but gradients do not train them: 58 x 256 beside the count.
TEST(Deepseek3Test, SelectionBiasesAreNoParameters) {
  const auto arch = find_architecture(SourceFormat::kHuggingFace, testing::json(kDeepseek3));
  int64_t n = 0;
  for (const TensorSlot& slot : (*arch)->tensor_slots(SourceFormat::kHuggingFace, good_hf(kDeepseek3))) {
    if (!slot.is_parameter && slot.use != SlotUse::kSkipped) n += slot.shape.n_elements();
  }
  EXPECT_EQ(n, 58 * 256);
}

TEST(Deepseek3Test, RefusesWhatItDoesNotKnow) {
  expect_refusals(kDeepseek3, {{R"("scoring_func": "softmax")", "scoring_func"},
                               {R"("topk_method": "greedy")", "topk_method"},
                               {R"("num_nextn_predict_layers": 2)", "'num_nextn_predict_layers' = 2"},
                               {R"("qk_head_dim": 100)", "qk_head_dim"},
                               {R"("attention_bias": true)", "attention_bias"},
                               {R"("moe_layer_freq": 2)", "moe_layer_freq"},
                               {R"("n_shared_experts": -1)", "'n_shared_experts' = -1"},
                               {R"("n_group": 7)", "moe.n_group ('n_group') = 7 does not divide the 256 experts"},
                               {R"("topk_group": 9)", "moe.n_group_used"},
                               {R"("num_key_value_heads": 64)", "attn.n_kv_head"},
                               {R"("qk_rope_head_dim": 63)", "rope.d_rot"},
                               {R"("kv_lora_rank": 4194304)", "attn.kv_lora_rank"}});
}

TEST(Deepseek2Test, LiteAsPublished) {
  constexpr std::string_view kText =
      R"({"architectures": ["DeepseekV2ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
          "aux_loss_alpha": 0.001, "bos_token_id": 100000, "eos_token_id": 100001, "first_k_dense_replace": 1,
          "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02, "intermediate_size": 10944,
          "kv_lora_rank": 512, "max_position_embeddings": 163840, "model_type": "deepseek_v2",
          "moe_intermediate_size": 1408, "moe_layer_freq": 1, "n_group": 1, "n_routed_experts": 64,
          "n_shared_experts": 2, "norm_topk_prob": false, "num_attention_heads": 16, "num_experts_per_tok": 6,
          "num_hidden_layers": 27, "num_key_value_heads": 16, "pretraining_tp": 1, "q_lora_rank": null,
          "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "rms_norm_eps": 1e-06, "rope_scaling": {"beta_fast": 32,
          "beta_slow": 1, "factor": 40, "mscale": 0.707, "mscale_all_dim": 0.707,
          "original_max_position_embeddings": 4096, "type": "yarn"}, "rope_theta": 10000,
          "routed_scaling_factor": 1.0, "scoring_func": "softmax", "seq_aux": true, "tie_word_embeddings": false,
          "topk_group": 1, "topk_method": "greedy", "torch_dtype": "bfloat16", "transformers_version": "4.33.1",
          "use_cache": true, "v_head_dim": 128, "vocab_size": 102400})";
  EXPECT_EQ(n_parameters(kText), 15'706'484'224);
  EXPECT_EQ(good_hf(kText).blocks[0].attn.q_lora_rank, 0);
  expect_refusals(kText,
                  {{R"("topk_method": "noaux_tc")", "topk_method"}, {R"("scoring_func": "sigmoid")", "scoring_func"}});
}

// Kimi K2: DeepSeek-V3's layers, fewer heads, more experts; 1.04 trillion in its report. The count by hand: 2 V d + d +
// 61 (latent attention + 2 d) + 3 d d_ff + 60 (384 x 3 d f + 384 d + 3 d f).
TEST(Deepseek3Test, KimiK2) {
  const std::string text = to_string(
      testing::changed(kDeepseek3, R"("model_type": "kimi_k2", "first_k_dense_replace": 1, "n_routed_experts": 384,
                                      "num_attention_heads": 64, "num_key_value_heads": 64, "n_group": 1,
                                      "topk_group": 1, "num_nextn_predict_layers": 0, "routed_scaling_factor": 2.827,
                                      "vocab_size": 163840)"),
      10'000);
  EXPECT_EQ(n_parameters(text), 1'026'408'209'408);
}

// GLM-4.5-Air: 106 billion in its report, the multi-token layer not counted.
TEST(Glm4MoeTest, AirAsPublished) {
  constexpr std::string_view kText =
      R"({"architectures": ["Glm4MoeForCausalLM"], "attention_bias": true, "attention_dropout": 0.0,
          "eos_token_id": [151329, 151336, 151338], "first_k_dense_replace": 1, "head_dim": 128, "hidden_act": "silu",
          "hidden_size": 4096, "initializer_range": 0.02, "intermediate_size": 10944,
          "max_position_embeddings": 131072, "model_type": "glm4_moe", "moe_intermediate_size": 1408, "n_group": 1,
          "n_routed_experts": 128, "n_shared_experts": 1, "norm_topk_prob": true, "num_attention_heads": 96,
          "num_experts_per_tok": 8, "num_hidden_layers": 46, "num_key_value_heads": 8, "num_nextn_predict_layers": 1,
          "pad_token_id": 151329, "partial_rotary_factor": 0.5, "rms_norm_eps": 1e-05, "rope_scaling": null,
          "rope_theta": 1000000, "routed_scaling_factor": 1.0, "tie_word_embeddings": false, "topk_group": 1,
          "torch_dtype": "bfloat16", "transformers_version": "4.54.0", "use_cache": true, "use_qk_norm": false,
          "vocab_size": 151552})";
  // 2 V d + d + 46 (d (96 + 16 + 96) 128 + 112 x 128 + 2 d) + 3 d 10944 + 45 (129 x 3 d f + 128 d)
  EXPECT_EQ(n_parameters(kText), 106'852'245'504);
  EXPECT_EQ(good_hf(kText).blocks[0].attn.rope.d_rot, 64);
  EXPECT_TRUE(good_hf(kText).blocks[0].attn.has_q_bias);
  expect_refusals(kText, {{R"("num_nextn_predict_layers": 3)", "num_nextn_predict_layers"}});
}

TEST(PhiMoeTest, MiniAsPublished) {
  constexpr std::string_view kText =
      R"({"architectures": ["PhiMoEForCausalLM"], "attention_bias": true, "attention_dropout": 0.0, "bos_token_id": 1,
          "eos_token_id": 32000, "expert_dropout": 0.0, "head_dim": 128, "hidden_act": "silu", "hidden_dropout": 0.0,
          "hidden_size": 4096, "initializer_range": 0.02, "input_jitter_noise": 0.01, "intermediate_size": 960,
          "lm_head_bias": true, "max_position_embeddings": 4096, "model_type": "phimoe", "num_attention_heads": 32,
          "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 16,
          "output_router_logits": false, "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "router_aux_loss_coef": 0.0,
          "router_jitter_noise": 0.01, "sliding_window": 2047, "tie_word_embeddings": false,
          "torch_dtype": "bfloat16", "transformers_version": "4.43.3", "use_cache": true, "vocab_size": 32064})";
  // 2 V d + V + L (d (2 + 2/4) d + 2.5 d + d + 16 (3 d f + d) + 4 d) + 2 d, rounded to 7.6 billion in its report.
  constexpr int64_t d = 4096, f = 960, n_vocab = 32064;
  constexpr int64_t kLayer = d * d * 5 / 2 + d * 3 / 2 + d + 16 * (3 * d * f + d) + 4 * d;
  EXPECT_EQ(n_parameters(kText), 2 * n_vocab * d + n_vocab + 32 * kLayer + 2 * d);
  const ModelConfig config = good_hf(kText);
  EXPECT_EQ(config.blocks[0].norm.kind, NormKind::kLayerNorm);
  EXPECT_EQ(config.blocks[0].ffn.moe.score, RouterScore::kSparseMixer);
  EXPECT_EQ(config.blocks[0].ffn.moe.router_jitter, 0.01);
  EXPECT_EQ(config.blocks[0].attn.window, 2047);
}

TEST(PhiMoeTest, LongRopeSaysItsFactorForEachList) {
  constexpr std::string_view kText =
      R"({"model_type": "phimoe", "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 4,
          "num_key_value_heads": 4, "intermediate_size": 8, "vocab_size": 8, "max_position_embeddings": 131072,
          "rope_scaling": {"type": "longrope", "short_factor": [1.0, 1.1], "long_factor": [2.0, 3.0],
          "short_mscale": 1.243163121016122, "long_mscale": 1.243163121016122,
          "original_max_position_embeddings": 4096}})";
  EXPECT_EQ(good_hf(kText).blocks[0].attn.rope.attention_factor, 1.243163121016122);
  expect_refusals(kText,
                  {{R"("rope_scaling": {"type": "longrope", "short_factor": [1.0, 1.1], "long_factor": [2.0, 3.0],
                               "short_mscale": 1.2, "long_mscale": 1.3, "original_max_position_embeddings": 4096})",
                    "'short_mscale' and 'long_mscale' differ"}});
}

TEST(OlmoeTest, AsPublished) {
  constexpr std::string_view kText =
      R"({"architectures": ["OlmoeForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "clip_qkv": null,
          "eos_token_id": 50279, "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02,
          "intermediate_size": 1024, "max_position_embeddings": 4096, "model_type": "olmoe", "norm_topk_prob": false,
          "num_attention_heads": 16, "num_experts": 64, "num_experts_per_tok": 8, "num_hidden_layers": 16,
          "num_key_value_heads": 16, "output_router_logits": false, "pad_token_id": 1, "rms_norm_eps": 1e-05,
          "rope_scaling": null, "rope_theta": 10000.0, "router_aux_loss_coef": 0.01, "tie_word_embeddings": false,
          "torch_dtype": "bfloat16", "transformers_version": "4.43.0.dev0", "use_cache": true, "vocab_size": 50304})";
  EXPECT_EQ(n_parameters(kText), 6'919'161'856);
  expect_refusals(kText, {{R"("clip_qkv": 8.0)", "clip_qkv"}});
}

}  // namespace
}  // namespace vitro
