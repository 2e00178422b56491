// What each family reads out of config.json (as transformers 4 and 5 write it), GGUF metadata and llama2.c headers; and
// what it refuses. Configurations are written out here, after published ones.
#include <gtest/gtest.h>

#include <cmath>

#include "model/arch/architecture.h"
#include "model/arch/families_test_util.h"
#include "model/arch/gguf_config.h"
#include "testing/expect_error.h"

namespace vitro {
namespace {

using testing::expect_error;
using testing::expect_refusals;
using testing::find_value;
using testing::good_hf;
using testing::json;
using testing::read;
using testing::read_gguf;
using testing::read_hf;
using testing::with;

constexpr std::string_view kLlama = R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 112,
    "vocab_size": 384,
    "max_position_embeddings": 131072, "rms_norm_eps": 1e-5, "hidden_act": "silu", "bos_token_id": 1,
    "eos_token_id": [2, 3],
    "pretraining_tp": 1, "attention_bias": false, "mlp_bias": false, "tie_word_embeddings": false,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.43.0", "use_cache": true, "initializer_range": 0.02, "attention_dropout": 0.0})";

TEST(LlamaTest, ReadsTheSizes) {
  const ModelConfig config = good_hf(kLlama);
  EXPECT_EQ(config.family, "llama");
  EXPECT_EQ(config.d_model, 64);
  EXPECT_EQ(config.n_layer(), 2);
  EXPECT_EQ(config.vocab_size, 384);
  EXPECT_EQ(config.n_ctx, 131072);
  EXPECT_EQ(config.bos_id, 1);
  EXPECT_EQ(config.eos_ids, (std::vector<int32_t>{2, 3}));
  EXPECT_FALSE(config.is_head_tied);
  const BlockSpec& block = config.blocks[1];
  EXPECT_EQ(block.norm, (NormSpec{.kind = NormKind::kRms, .eps = 1e-5}));
  EXPECT_EQ(block.norm_place, NormPlace::kPre);
  EXPECT_EQ(block.attn.d_head, 16);
  EXPECT_EQ(block.attn.scale, 0.25);
  EXPECT_EQ(block.attn.rope, (RopeSpec{.d_rot = 16, .theta = 10000.0}));
  EXPECT_EQ(block.ffn, (FeedForwardSpec{.d_ff = 112, .is_gated = true, .activation = ActivationKind::kSilu}));
  EXPECT_EQ(find_value(config, "attn.d_head")->origin, ValueOrigin::kDefault);
  EXPECT_EQ(find_value(config, "attn.n_kv_head")->origin, ValueOrigin::kFile);
}

TEST(LlamaTest, BothSpellingsOfRopeMeanTheSame) {
  struct Pair {
    const char *v4, *v5;
    RopeSpec rope;
  };
  const std::vector<Pair> pairs = {
      {R"("rope_theta": 500000.0, "rope_scaling": null)",
       R"("rope_parameters": {"rope_theta": 500000.0, "rope_type": "default"})",
       {.d_rot = 16, .theta = 500000.0}},
      {R"("rope_scaling": {"type": "linear", "factor": 4.0})",
       R"("rope_parameters": {"rope_theta": 10000.0, "rope_type": "linear", "factor": 4})",
       {.d_rot = 16, .scaling = RopeScaling::kLinear, .factor = 4.0}},
      {R"("rope_scaling": {"type": "dynamic", "factor": 2.0})",
       R"("rope_parameters": {"rope_type": "dynamic", "factor": 2.0})",
       {.d_rot = 16, .scaling = RopeScaling::kDynamic, .factor = 2.0, .n_ctx_original = 131072}},
      {R"("rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768})",
       R"("rope_parameters": {"rope_type": "yarn", "type": "yarn", "original_max_position_embeddings": 32768,
       "truncate": true})",
       {.d_rot = 16, .scaling = RopeScaling::kYarn, .factor = 4.0, .n_ctx_original = 32768}},
      {R"("rope_theta": 5e5, "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
           "original_max_position_embeddings": 8192, "rope_type": "llama3"})",
       R"("rope_parameters": {"rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
           "original_max_position_embeddings": 8192, "rope_type": "llama3"})",
       {.d_rot = 16, .theta = 5e5, .scaling = RopeScaling::kLlama3, .factor = 8.0, .n_ctx_original = 8192}},
  };
  for (const Pair& pair : pairs) {
    SCOPED_TRACE(pair.v5);
    EXPECT_EQ(good_hf(with(pair.v4, kLlama)).blocks.at(0).attn.rope, pair.rope);
    EXPECT_EQ(good_hf(with(pair.v5, kLlama)).blocks.at(0).attn.rope, pair.rope);
  }
}

TEST(LlamaTest, RefusesNonsense) {
  expect_refusals(
      kLlama,
      {{R"("num_attention_heads": 0)", "'num_attention_heads' = 0 must be between 1"},
       {R"("num_attention_heads": 5)", "attn.n_head ('num_attention_heads') = 5 does not divide the width 64"},
       {R"("num_key_value_heads": 3)", "attn.n_kv_head ('num_key_value_heads') = 3 does not divide the 4 heads"},
       {R"("hidden_size": -64)", "'hidden_size' = -64 must be between 1"},
       {R"("hidden_size": 9000000000000000000)", "'hidden_size' = 9000000000000000000 must be between 1"},
       {R"("hidden_size": 1e300)", "'hidden_size' must be an integer, found real"},
       {R"("hidden_size": "64")", "'hidden_size' must be an integer, found string"},
       {R"("hidden_size": null)", "missing key 'hidden_size'"},
       {R"("num_hidden_layers": 2000000000)", "'num_hidden_layers' = 2000000000 must be between 1 and 10000"},
       {R"("vocab_size": 0)", "'vocab_size' = 0 must be between 1"},
       {R"("intermediate_size": 0)", "'intermediate_size' = 0 must"},
       {R"("head_dim": 4194304)", "times 4 heads is wider than"},
       {R"("head_dim": 15)", "rope.d_rot = 15 must be even"},
       {R"("rms_norm_eps": 0)", "norm.eps ('rms_norm_eps') = 0 must be above 0"},
       {R"("rms_norm_eps": -1e-5)", "norm.eps ('rms_norm_eps') = -1e-05 must be above 0"},
       {R"("rope_theta": 0)", "rope.theta ('rope_theta') = 0 must be above 1"},
       {R"("rope_scaling": {"type": "linear", "factor": 0})", "rope.factor ('rope_scaling.factor') = 0 must be"},
       {R"("rope_scaling": {"type": "linear"})", "missing key 'rope_scaling.factor'"},
       {R"("rope_scaling": {"type": "warp", "factor": 2})", "RoPE scaling \"warp\" is not implemented"},
       {R"("rope_scaling": {"type": "linear", "factor": 2, "spice": 1})", "unknown key 'rope_scaling.spice'"},
       {R"("rope_scaling": 7)", "'rope_scaling' must be an object"},
       {R"("rope_theta": 5.0, "rope_parameters": {"rope_theta": 6.0})", "outside differ"},
       {R"("rope_scaling": {"type": "linear", "factor": 2}, "rope_parameters": {"rope_type": "default"})",
        "both there and differ"},
       {R"("partial_rotary_factor": 1.5)", "rotated part of a head is 1.5"},
       {R"("hidden_act": "mish")", "'hidden_act' = \"mish\" is not an activation"},
       {R"("pretraining_tp": 2)", "'pretraining_tp' = 2 is not implemented (only 1)"},
       {R"("quantization_config": {"bits": 4}, "surprise": 1)", "unknown keys 'quantization_config', 'surprise'"},
       {R"("eos_token_id": "</s>")", "'eos_token_id' must be a token id"},
       {R"("is_encoder_decoder": true)", "'is_encoder_decoder' = true is not implemented"},
       {R"("architectures": ["LlamaForSequenceClassification"])", "only language-model heads"},
       {R"("model_type": "llama9")", "model_type = \"llama9\" is not a model family that is implemented; known: "}});
}

TEST(LlamaTest, AHugeLayerCountAllocatesNothing) {
  const auto result =
      read_hf(with("", R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 9223372036854775807,
      "num_attention_heads": 4, "intermediate_size": 1, "vocab_size": 1})"));
  expect_error(result, ErrorCode::kInvalidArgument,
               "'num_hidden_layers' = 9223372036854775807 must be between 1 and 10000");
}

TEST(LlamaTest, MistralHasAWindowUnlessItSaysNull) {
  const std::string mistral = with(R"("sliding_window": 4096)", kLlama);
  const auto as_mistral = [](std::string text) { return text.replace(text.find("\"llama\""), 7, "\"mistral\""); };
  EXPECT_EQ(good_hf(as_mistral(mistral)).blocks[0].attn.window, 4096);
  const ModelConfig by_default = good_hf(as_mistral(std::string(kLlama)));
  EXPECT_EQ(by_default.blocks[0].attn.mask, MaskKind::kWindow);
  EXPECT_EQ(by_default.blocks[0].attn.window, 4096);
  EXPECT_EQ(find_value(by_default, "attn.window")->origin, ValueOrigin::kDefault);
  EXPECT_EQ(good_hf(as_mistral(with(R"("sliding_window": null)", kLlama))).blocks[0].attn.mask, MaskKind::kCausal);
  expect_error(read_hf(mistral), ErrorCode::kInvalidArgument, "unknown key 'sliding_window'");
  expect_error(read_hf(as_mistral(with(R"("sliding_window": -1)", kLlama))), ErrorCode::kInvalidArgument,
               "'sliding_window' = -1 must be between 1");
}

constexpr std::string_view kLlamaGguf =
    R"({"general.architecture": "llama", "general.name": "x", "llama.block_count": 2,
    "llama.context_length": 128, "llama.embedding_length": 64, "llama.feed_forward_length": 112,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2, "llama.attention.layer_norm_rms_epsilon": 1e-6,
    "llama.rope.dimension_count": 16})";

TEST(LlamaTest, GgufKeepsFactsAsTensors) {
  const auto plain = read_gguf(kLlamaGguf, {{"token_embd.weight", {384, 64}}});
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->vocab_size, 384);
  EXPECT_TRUE(plain->is_head_tied);
  EXPECT_EQ(plain->blocks[0].attn.rope.scaling, RopeScaling::kNone);
  EXPECT_FALSE(plain->blocks[0].attn.has_q_bias);
  const auto rich = read_gguf(kLlamaGguf, {{"token_embd.weight", {384, 64}},
                                           {"output.weight", {384, 64}},
                                           {"rope_freqs.weight", {8}},
                                           {"blk.0.attn_q.bias", {64}}});
  ASSERT_TRUE(rich) << rich.error().message;
  EXPECT_FALSE(rich->is_head_tied);
  EXPECT_EQ(rich->blocks[0].attn.rope.scaling, RopeScaling::kFactors);
  EXPECT_TRUE(rich->blocks[0].attn.has_o_bias);
}

TEST(LlamaTest, GgufRefusesWhatItDoesNotKnow) {
  const auto spoiled = [](std::string_view members) {
    return read_gguf(with(members, kLlamaGguf), {{"token_embd.weight", {384, 64}}});
  };
  expect_error(spoiled(R"("llama.expert_count": 8, "llama.mystery": 1)"), ErrorCode::kInvalidArgument,
               "unknown key 'llama.mystery'");
  expect_error(spoiled(R"("llama.expert_count": 8)"), ErrorCode::kInvalidArgument,
               "missing key 'llama.expert_used_count'");
  const auto experts = spoiled(R"("llama.expert_count": 8, "llama.expert_used_count": 2)");
  ASSERT_TRUE(experts) << experts.error().message;
  EXPECT_EQ(experts->blocks[0].ffn.moe.n_expert, 8);
  expect_error(check_runnable(*experts), ErrorCode::kUnsupported, "mixture of experts");
  EXPECT_TRUE(spoiled(R"("llama.expert_count": 0, "other.key": 1)"));
  expect_error(spoiled(R"("llama.attention.sliding_window": -1)"), ErrorCode::kInvalidArgument, "must be between 0");
  expect_error(spoiled(R"("llama.rope.scaling.type": "warp")"), ErrorCode::kInvalidArgument, "RoPE scaling \"warp\"");
  expect_error(spoiled(R"("llama.attention.value_length": 8)"), ErrorCode::kInvalidArgument, "value_length");
  expect_error(read_gguf(kLlamaGguf, {}), ErrorCode::kInvalidArgument, "missing key 'llama.vocab_size'");
  EXPECT_EQ(spoiled(R"("llama.attention.sliding_window": 64)")->blocks[0].attn.window, 64);
  const auto linear = spoiled(R"("llama.rope.scaling.factor": 4.0)");
  ASSERT_TRUE(linear) << linear.error().message;
  EXPECT_EQ(linear->blocks[0].attn.rope.scaling, RopeScaling::kLinear);
}

TEST(LlamaTest, ReadsLlama2cHeaders) {
  const Value header =
      json(R"({"dim": 64, "hidden_dim": 172, "n_layers": 5, "n_heads": 8, "n_kv_heads": 4, "vocab_size": 512,
                                "seq_len": 512, "shared_classifier": true})");
  const auto config = read(SourceFormat::kLlama2c, header);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->blocks.at(4).attn.d_head, 8);
  EXPECT_EQ(config->blocks.at(4).norm.eps, 1e-5);
  EXPECT_TRUE(config->is_head_tied);
}

constexpr std::string_view kGpt2 =
    R"({"model_type": "gpt2", "n_embd": 64, "n_layer": 3, "n_head": 4, "vocab_size": 384, "n_positions": 128,
    "n_ctx": 128, "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new", "resid_pdrop": 0.1, "embd_pdrop": 0.1,
    "attn_pdrop": 0.1, "summary_type": "cls_index", "task_specific_params": {"text-generation": {"do_sample": true}},
    "bos_token_id": 50256, "eos_token_id": 50256})";

TEST(Gpt2Test, ReadsTheOriginalConfig) {
  const ModelConfig config = good_hf(kGpt2);
  EXPECT_TRUE(config.is_head_tied);
  EXPECT_EQ(config.position, PositionKind::kLearned);
  EXPECT_EQ(config.n_position_rows, 128);
  const BlockSpec& block = config.blocks[2];
  EXPECT_EQ(block.ffn.d_ff, 256);
  EXPECT_EQ(block.ffn.activation, ActivationKind::kGeluTanh);
  EXPECT_FALSE(block.ffn.is_gated);
  EXPECT_TRUE(block.norm.has_bias && block.attn.has_q_bias && block.attn.has_o_bias && block.ffn.has_in_bias);
  EXPECT_EQ(block.attn.position, PositionKind::kNone);
  EXPECT_EQ(block.attn.scale, 0.25);
}

TEST(Gpt2Test, ScalesScoresAsTold) {
  const ModelConfig by_layer = good_hf(with(R"("scale_attn_by_inverse_layer_idx": true)", kGpt2));
  EXPECT_EQ(by_layer.blocks[0].attn.scale, 0.25);
  EXPECT_DOUBLE_EQ(by_layer.blocks[2].attn.scale, 0.25 / 3.0);
  EXPECT_EQ(good_hf(with(R"("scale_attn_weights": false)", kGpt2)).blocks[1].attn.scale, 1.0);
}

TEST(Gpt2Test, RefusesWhatItCannotDo) {
  expect_refusals(kGpt2, {{R"("add_cross_attention": true)", "'add_cross_attention' = true is not implemented"},
                          {R"("n_head": 5)", "attn.n_head ('n_head') = 5 does not divide the width 64"},
                          {R"("n_ctx": 64)", "'n_positions' = 128 and 'n_ctx' = 64 mean the same and differ"},
                          {R"("n_inner": -1)", "'n_inner' = -1 must be between 1"}});
}

constexpr std::string_view kNeox =
    R"({"model_type": "gpt_neox", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 256, "vocab_size": 384, "max_position_embeddings": 128, "hidden_act": "gelu",
    "layer_norm_eps": 1e-5,
    "rotary_pct": 0.25, "rotary_emb_base": 10000, "use_parallel_residual": true, "tie_word_embeddings": false})";

TEST(GptNeoxTest, ReadsPythiasConfig) {
  const ModelConfig config = good_hf(kNeox);
  const BlockSpec& block = config.blocks[0];
  EXPECT_EQ(block.residual, Residual::kParallel);
  EXPECT_EQ(block.attn.rope.d_rot, 4);
  EXPECT_EQ(block.ffn.activation, ActivationKind::kGeluErf);
  EXPECT_TRUE(block.attn.has_v_bias);
  const std::string v5 =
      with(R"("rope_parameters": {"partial_rotary_factor": 0.5, "rope_theta": 20000.0, "rope_type": "default"})",
           R"({"model_type": "gpt_neox", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
                                  "intermediate_size": 256, "vocab_size": 384, "use_parallel_residual": false})");
  const ModelConfig serial = good_hf(v5);
  EXPECT_EQ(serial.blocks[0].residual, Residual::kSequential);
  EXPECT_EQ(serial.blocks[0].attn.rope, (RopeSpec{.d_rot = 8, .theta = 20000.0}));
}

// One KV head for all would put most of q behind the end of the tensor that interleaves q, k and v by head.
TEST(GptNeoxTest, KnowsNoSharedKeysAndValues) {
  expect_refusals(kNeox, {{R"("num_key_value_heads": 1)", "num_key_value_heads"}});
}

constexpr std::string_view kQwen3 =
    R"({"model_type": "qwen3", "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 112, "vocab_size": 384, "max_position_embeddings": 40960,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1000000, "attention_bias": false, "tie_word_embeddings": true})";

TEST(Qwen3Test, NormalisesHeadsAndDefaultsTheirWidth) {
  const ModelConfig config = good_hf(kQwen3);
  EXPECT_EQ(config.blocks[0].attn.d_head, 128);
  EXPECT_EQ(config.blocks[0].attn.qk_norm, QkNorm::kPerHeadShared);
  EXPECT_EQ(config.blocks[0].attn.qk_norm_spec.eps, 1e-6);
  EXPECT_TRUE(config.is_head_tied);
}

TEST(Qwen3Test, WindowsAreObeyed) {
  const std::string by_list = with(R"("use_sliding_window": true, "sliding_window": 32, "max_window_layers": 28,
      "layer_types": ["full_attention", "sliding_attention", "full_attention", "sliding_attention"])",
                                   kQwen3);
  const ModelConfig listed = good_hf(by_list);
  EXPECT_EQ(listed.blocks[0].attn.mask, MaskKind::kCausal);
  EXPECT_EQ(listed.blocks[3].attn.window, 32);
  const ModelConfig from_layer =
      good_hf(with(R"("use_sliding_window": true, "sliding_window": 32, "max_window_layers": 3)", kQwen3));
  EXPECT_EQ(from_layer.blocks[2].attn.mask, MaskKind::kCausal);
  EXPECT_EQ(from_layer.blocks[3].attn.mask, MaskKind::kWindow);
  EXPECT_EQ(good_hf(with(R"("sliding_window": 32)", kQwen3)).blocks[3].attn.mask, MaskKind::kCausal);
  expect_refusals(by_list,
                  {{R"("layer_types": ["full_attention"])", "'layer_types' must be a list of 4 names, found 1"},
                   {R"("layer_types": ["linear_attention", "x", "x", "x"])", "'layer_types' has \"linear_attention\""},
                   {R"("sliding_window": 0)", "'sliding_window' = 0 must be between 1"}});
}

constexpr std::string_view kGemma3 =
    R"({"model_type": "gemma3_text", "hidden_size": 64, "num_hidden_layers": 7, "num_attention_heads": 4,
    "num_key_value_heads": 1, "head_dim": 24, "intermediate_size": 112, "vocab_size": 384,
    "max_position_embeddings": 32768,
    "rms_norm_eps": 1e-6, "query_pre_attn_scalar": 32, "sliding_window": 512, "hidden_activation": "gelu_pytorch_tanh",
    "attn_logit_softcapping": null, "final_logit_softcapping": null, "cache_implementation": "hybrid"})";

TEST(Gemma3Test, ReadsBothSpellings) {
  const std::string v4 = with(R"("sliding_window_pattern": 6, "rope_theta": 1000000, "rope_local_base_freq": 10000,
                                 "rope_scaling": {"rope_type": "linear", "factor": 8.0})",
                              kGemma3);
  const std::string v5 = with(R"("_sliding_window_pattern": 6, "layer_types": ["sliding_attention", "sliding_attention",
      "sliding_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention"],
      "rope_parameters": {
      "full_attention": {"factor": 8.0, "rope_theta": 1000000.0, "rope_type": "linear"},
      "sliding_attention": {"rope_theta": 10000.0, "rope_type": "default"}})",
                              kGemma3);
  const ModelConfig old_spelling = good_hf(v4);
  const ModelConfig new_spelling = good_hf(v5);
  EXPECT_TRUE(old_spelling.blocks == new_spelling.blocks);
  EXPECT_EQ(old_spelling.embed_scale, 8.0);
  EXPECT_TRUE(old_spelling.is_head_tied);
  const BlockSpec& window = new_spelling.blocks[4];
  const BlockSpec& full = new_spelling.blocks[5];
  EXPECT_EQ(window.attn.window, 512);
  EXPECT_EQ(window.attn.rope, (RopeSpec{.d_rot = 24, .theta = 10000.0}));
  EXPECT_EQ(full.attn.mask, MaskKind::kCausal);
  EXPECT_EQ(full.attn.rope, (RopeSpec{.d_rot = 24, .theta = 1e6, .scaling = RopeScaling::kLinear, .factor = 8.0}));
  EXPECT_EQ(full.norm.gain_offset, 1.0);
  EXPECT_EQ(full.norm_place, NormPlace::kSandwich);
  EXPECT_DOUBLE_EQ(full.attn.scale, 1.0 / std::sqrt(32.0));
  EXPECT_EQ(new_spelling.blocks[6].attn.mask, MaskKind::kWindow);
}

TEST(Gemma3Test, HasNoSoftCapsUnlessToldTo) {
  EXPECT_EQ(good_hf(kGemma3).logit_softcap, 0.0);
  Value config = json(kGemma3);
  std::erase_if(*config.as_object(), [](const Value::Member& member) { return member.first.ends_with("softcapping"); });
  EXPECT_EQ(read(SourceFormat::kHuggingFace, config)->blocks[0].attn.softcap, 0.0);
  config.as_object()->emplace_back("final_logit_softcapping", Value(30.0));
  EXPECT_EQ(read(SourceFormat::kHuggingFace, config)->logit_softcap, 30.0);
}

constexpr std::string_view kGemma3Gguf =
    R"({"general.architecture": "gemma3", "gemma3.block_count": 7, "gemma3.context_length": 32768,
    "gemma3.embedding_length": 64, "gemma3.feed_forward_length": 112, "gemma3.attention.head_count": 4,
    "gemma3.attention.head_count_kv": 1, "gemma3.attention.key_length": 24, "gemma3.attention.value_length": 24,
    "gemma3.attention.layer_norm_rms_epsilon": 1e-6, "gemma3.attention.sliding_window": 512,
    "gemma3.rope.freq_base": 1000000.0})";

TEST(Gemma3Test, GgufFillsInWhatItLacks) {
  const auto config = read_gguf(kGemma3Gguf, {{"token_embd.weight", {384, 64}}});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->blocks[4].attn.rope.theta, 10000.0);
  EXPECT_EQ(config->blocks[5].attn.mask, MaskKind::kCausal);
  EXPECT_EQ(config->blocks[5].attn.rope.theta, 1e6);
  EXPECT_EQ(config->blocks[6].attn.window, 512);
  EXPECT_DOUBLE_EQ(config->blocks[0].attn.scale, 1.0 / std::sqrt(24.0));
  for (const char* name : {"attn.window_period", "rope.window.theta", "attn.query_pre_attn_scalar"}) {
    EXPECT_EQ(find_value(*config, name)->origin, ValueOrigin::kDefault) << name;
  }
  const auto listed = read_gguf(
      with(R"("gemma3.attention.sliding_window_pattern": [true, false, true, true, true, true, true])", kGemma3Gguf),
      {{"token_embd.weight", {384, 64}}});
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(listed->blocks[1].attn.mask, MaskKind::kCausal);
  EXPECT_EQ(listed->blocks[5].attn.mask, MaskKind::kWindow);
}

constexpr std::string_view kPhi3 =
    R"({"model_type": "phi3", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 4, "intermediate_size": 112, "vocab_size": 384, "max_position_embeddings": 131072,
    "original_max_position_embeddings": 4096, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "resid_pdrop": 0.0,
    "tie_word_embeddings": false, "attention_bias": false})";

TEST(Phi3Test, WindowsAndLongRope) {
  EXPECT_EQ(good_hf(with(R"("sliding_window": 2047)", kPhi3)).blocks[0].attn.window, 2047);
  EXPECT_EQ(good_hf(with(R"("sliding_window": 262144)", kPhi3)).blocks[0].attn.mask, MaskKind::kCausal);
  const std::string stretched = with(R"("rope_scaling": {"type": "su", "short_factor": [1, 1, 1, 1, 1, 1, 1, 1.5],
                                        "long_factor": [1, 2, 3, 4, 5, 6, 7, 8]})",
                                     kPhi3);
  const ModelConfig config = good_hf(stretched);
  const RopeSpec& rope = config.blocks[1].attn.rope;
  EXPECT_EQ(rope.scaling, RopeScaling::kLongRope);
  EXPECT_EQ(rope.n_ctx_original, 4096);
  EXPECT_EQ(rope.factor, 32.0);
  EXPECT_EQ(rope.short_factors.back(), 1.5);
  expect_refusals(stretched,
                  {{R"("rope_scaling": {"type": "su", "short_factor": [1], "long_factor": [1, 2, 3, 4, 5, 6, 7, 8]})",
                    "rope.short_factors ('rope_scaling.short_factor') = 1 numbers must be 8 numbers above 0"}});
}

constexpr std::string_view kPhi3Gguf =
    R"({"general.architecture": "phi3", "phi3.block_count": 2, "phi3.context_length": 131072,
    "phi3.embedding_length": 64, "phi3.feed_forward_length": 112, "phi3.attention.head_count": 4,
    "phi3.attention.layer_norm_rms_epsilon": 1e-5, "phi3.rope.dimension_count": 16,
    "phi3.rope.scaling.original_context_length": 4096, "phi3.attention.sliding_window": 262144})";

TEST(Phi3Test, GgufKeepsLongRopeAsTensors) {
  const std::initializer_list<std::pair<std::string, Shape>> tensors = {
      {"token_embd.weight", {384, 64}}, {"rope_factors_short.weight", {8}}, {"rope_factors_long.weight", {8}}};
  const auto config = read_gguf(with(R"("phi3.rope.scaling.attn_factor": 1.1902381)", kPhi3Gguf), tensors);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->blocks[0].attn.mask, MaskKind::kCausal);
  EXPECT_EQ(config->blocks[0].attn.rope, (RopeSpec{.d_rot = 16,
                                                   .scaling = RopeScaling::kLongRope,
                                                   .factor = 32.0,
                                                   .n_ctx_original = 4096,
                                                   .attention_factor = 1.1902381}));
  // Without it, the paper's rule.
  EXPECT_EQ(read_gguf(kPhi3Gguf, tensors)->blocks[0].attn.rope.attention_factor, 0.0);
  EXPECT_EQ(read_gguf(kPhi3Gguf, {{"token_embd.weight", {384, 64}}})->blocks[0].attn.rope.scaling, RopeScaling::kNone);
}

TEST(RegistryTest, SaysWhatIsMissing) {
  expect_error(read_hf("{}"), ErrorCode::kInvalidArgument, "'model_type' is missing");
  expect_error(read_gguf(R"({"general.architecture": "mamba"})", {}), ErrorCode::kUnsupported,
               "general.architecture = \"mamba\"");
}

// Of two there are published configurations, but no checkpoint that is small.
TEST(RegistryTest, NamesAGolden) {
  for (const Architecture* arch : all_architectures()) {
    const bool has_checkpoint = arch->name != "phimoe" && arch->name != "glm4moe";
    EXPECT_EQ(!arch->golden.empty(), has_checkpoint) << arch->name;
  }
}

TEST(RegistryTest, AFileCannotForgeTheTensorTable) {
  const Value forged = json(R"j({"general.architecture": "llama", "(tensors)": {"output.weight": [1, 1]}})j");
  EXPECT_FALSE(gguf_has_tensor(with_tensor_table(forged, {}), "output.weight"));
}

}  // namespace
}  // namespace vitro
