// What the descendants of Llama read out of config.json and GGUF metadata: Qwen 2, Gemma 1 and 2, SmolLM3, Granite,
// OLMo 2, GLM 4, Command R; and what they refuse. Configurations are written out here, after published ones.
#include <gtest/gtest.h>

#include <cmath>

#include "model/arch/families_test_util.h"
#include "testing/expect_error.h"

namespace vitro {
namespace {

using testing::expect_error;
using testing::expect_refusals;
using testing::find_value;
using testing::good_hf;
using testing::read_gguf;
using testing::with;

/// Sizes that all of them spell alike.
std::string small(std::string_view type, std::string_view more = R"("rms_norm_eps": 1e-6)") {
  return fmt::format(R"({{"model_type": "{}", "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 112, "vocab_size": 384, "max_position_embeddings": 128, {}}})",
                     type, more);
}

/// The same as GGUF metadata.
std::string small_gguf(std::string_view arch, std::string_view more) {
  return fmt::format(R"({{"general.architecture": "{0}", "{0}.block_count": 4, "{0}.context_length": 128,
    "{0}.embedding_length": 64, "{0}.feed_forward_length": 112, "{0}.attention.head_count": 4,
    "{0}.attention.head_count_kv": 2, {1}}})",
                     arch, more);
}

const std::initializer_list<std::pair<std::string, Shape>> kEmbedding = {{"token_embd.weight", {384, 64}}};

ModelConfig good_gguf(std::string_view metadata) {
  auto config = read_gguf(metadata, kEmbedding);
  EXPECT_TRUE(config) << config.error().message;
  return config ? std::move(*config) : ModelConfig{};
}

/// Masks as letters: w for a window, f for everything.
std::string masks(const ModelConfig& config) {
  std::string out;
  for (const BlockSpec& block : config.blocks) out += block.attn.mask == MaskKind::kWindow ? 'w' : 'f';
  return out;
}

/// Positions as letters: r for rotary, n for none.
std::string positions(const ModelConfig& config) {
  std::string out;
  for (const BlockSpec& block : config.blocks) out += block.attn.position == PositionKind::kRope ? 'r' : 'n';
  return out;
}

// ---- Qwen 2 ----

TEST(Qwen2Test, HasBiasesOnQueriesKeysAndValues) {
  const ModelConfig config = good_hf(with(R"("rope_theta": 1000000.0, "use_mrope": false)", small("qwen2")));
  EXPECT_EQ(config.family, "qwen2");
  const AttentionSpec& attn = config.blocks[0].attn;
  EXPECT_TRUE(attn.has_q_bias && attn.has_k_bias && attn.has_v_bias);
  EXPECT_FALSE(attn.has_o_bias);
  EXPECT_EQ(attn.qk_norm, QkNorm::kNone);
  EXPECT_EQ(attn.d_head, 16);
  EXPECT_EQ(attn.rope.theta, 1e6);
  EXPECT_FALSE(config.is_head_tied);
  expect_refusals(small("qwen2"), {{R"("use_mrope": true)", "'use_mrope' = true is not implemented"},
                                   {R"("dual_chunk_attention_config": {})", "dual_chunk_attention_config"}});
}

TEST(Qwen2Test, ObeysTheListOfLayersBeforeTheRule) {
  const std::string on = R"("use_sliding_window": true, "sliding_window": 8, "max_window_layers": 2)";
  EXPECT_EQ(masks(good_hf(with(on, small("qwen2")))), "ffww");
  const std::string listed = with(R"("layer_types": ["sliding_attention", "full_attention", "sliding_attention",
      "full_attention"], )" + on,
                                  small("qwen2"));
  EXPECT_EQ(masks(good_hf(listed)), "wfwf");
  EXPECT_EQ(good_hf(listed).blocks[2].attn.window, 8);
  // Published files have a width that is switched off.
  const std::string off = R"("use_sliding_window": false, "sliding_window": 131072, "max_window_layers": 2)";
  EXPECT_EQ(masks(good_hf(with(off, small("qwen2")))), "ffff");
  const std::string null = R"("use_sliding_window": true, "sliding_window": null, "max_window_layers": 2)";
  EXPECT_EQ(masks(good_hf(with(null, small("qwen2")))), "ffff");
  const std::string by_default = R"("use_sliding_window": true, "max_window_layers": 3)";
  EXPECT_EQ(good_hf(with(by_default, small("qwen2"))).blocks[3].attn.window, 4096);
  EXPECT_EQ(masks(good_hf(with(R"("use_sliding_window": true, "sliding_window": 8)", small("qwen2")))), "ffff");
  expect_refusals(listed, {{R"("use_sliding_window": false)", "'layer_types' lists sliding_attention, which"},
                           {R"("sliding_window": null)", "'layer_types' lists sliding_attention, which"},
                           {R"("sliding_window": 0)", "'sliding_window' = 0 must be between 1"}});
}

TEST(Qwen2Test, GgufKnowsBiasesByTheirTensors) {
  const std::string metadata =
      small_gguf("qwen2", R"("qwen2.attention.layer_norm_rms_epsilon": 1e-6, "qwen2.rope.freq_base": 1e6)");
  const auto config = read_gguf(metadata, {{"token_embd.weight", {384, 64}}, {"blk.0.attn_q.bias", {64}}});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_TRUE(config->blocks[3].attn.has_v_bias);
  EXPECT_FALSE(config->blocks[3].attn.has_o_bias);
  EXPECT_FALSE(good_gguf(metadata).blocks[0].attn.has_q_bias);
  EXPECT_EQ(masks(*config), "ffff");
}

// ---- Gemma ----

constexpr std::string_view kGemma =
    R"({"model_type": "gemma", "architectures": ["GemmaForCausalLM"], "hidden_size": 64, "num_hidden_layers": 4,
    "num_attention_heads": 16, "intermediate_size": 112, "vocab_size": 384, "rms_norm_eps": 1e-6, "attention_bias": false,
    "rope_theta": 10000.0, "rope_scaling": null, "use_bidirectional_attention": null})";

TEST(GemmaTest, FirstFilesSayGeluAndMeanTanh) {
  for (const char* members : {R"("hidden_act": "gelu")", R"("hidden_act": "gelu", "hidden_activation": null)",
                              R"("hidden_act": "gelu", "hidden_activation": "gelu_pytorch_tanh")",
                              R"("hidden_act": "gelu_pytorch_tanh")", ""}) {
    SCOPED_TRACE(members);
    EXPECT_EQ(good_hf(with(members, kGemma)).blocks[0].ffn.activation, ActivationKind::kGeluTanh);
  }
  const std::string erf = with(R"("hidden_act": "gelu", "hidden_activation": "gelu")", kGemma);
  EXPECT_EQ(good_hf(erf).blocks[0].ffn.activation, ActivationKind::kGeluErf);
  expect_refusals(kGemma, {{R"("hidden_act": "mish")", "\"mish\" is not an activation"},
                           {R"("hidden_activation": "mish")", "\"mish\" is not an activation"},
                           {R"("use_bidirectional_attention": true)", "is not implemented"}});
}

TEST(GemmaTest, DefaultsOfTheFirst) {
  const ModelConfig config = good_hf(kGemma);
  EXPECT_EQ(config.embed_scale, 8.0);
  EXPECT_TRUE(config.is_head_tied);
  EXPECT_EQ(config.n_ctx, 8192);
  EXPECT_EQ(config.logit_softcap, 0.0);
  const BlockSpec& block = config.blocks[0];
  EXPECT_EQ(block.norm, (NormSpec{.kind = NormKind::kRms, .eps = 1e-6, .gain_offset = 1.0}));
  EXPECT_EQ(config.final_norm, block.norm);
  EXPECT_EQ(block.norm_place, NormPlace::kPre);
  EXPECT_EQ(block.attn.d_head, 256);
  EXPECT_EQ(block.attn.scale, 1.0 / 16.0);
  EXPECT_EQ(block.attn.qk_norm, QkNorm::kNone);
  EXPECT_EQ(masks(config), "ffff");
  EXPECT_TRUE(block.ffn.is_gated);
  EXPECT_EQ(block.attn.n_kv_head, 16);
  EXPECT_EQ(find_value(config, "attn.n_kv_head")->origin, ValueOrigin::kDefault);
}

TEST(GemmaTest, GgufOfTheFirst) {
  const ModelConfig config = good_gguf(small_gguf("gemma", R"("gemma.attention.layer_norm_rms_epsilon": 1e-6,
      "gemma.attention.key_length": 24, "gemma.attention.value_length": 24)"));
  EXPECT_EQ(config.embed_scale, 8.0);
  EXPECT_EQ(config.blocks[0].norm.gain_offset, 1.0);
  EXPECT_EQ(config.blocks[0].attn.rope, (RopeSpec{.d_rot = 24, .theta = 10000.0}));
  EXPECT_EQ(config.blocks[0].ffn.activation, ActivationKind::kGeluTanh);
  EXPECT_EQ(find_value(config, "ffn.activation")->origin, ValueOrigin::kDefault);
}

constexpr std::string_view kGemma2 = R"({"model_type": "gemma2", "hidden_size": 64, "num_hidden_layers": 4,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 24, "intermediate_size": 112, "vocab_size": 384,
    "rms_norm_eps": 1e-6, "hidden_act": "gelu_pytorch_tanh", "hidden_activation": "gelu_pytorch_tanh",
    "cache_implementation": "hybrid"})";

TEST(Gemma2Test, DefaultsAreCapsWindowsAndAScalar) {
  const ModelConfig config = good_hf(kGemma2);
  EXPECT_EQ(masks(config), "wfwf");
  EXPECT_EQ(config.blocks[0].attn.window, 4096);
  EXPECT_EQ(config.blocks[1].attn.softcap, 50.0);
  EXPECT_EQ(config.logit_softcap, 30.0);
  EXPECT_EQ(config.blocks[0].attn.scale, 1.0 / 16.0);
  EXPECT_EQ(config.blocks[0].norm_place, NormPlace::kSandwich);
  EXPECT_EQ(config.blocks[0].attn.rope, config.blocks[1].attn.rope);
  EXPECT_EQ(config.n_ctx, 8192);
  EXPECT_TRUE(check_runnable(config));
}

TEST(Gemma2Test, ReadsWhatTheFileSays) {
  const ModelConfig config = good_hf(with(R"("query_pre_attn_scalar": 144, "sliding_window": 8,
      "sliding_window_size": 8, "attn_logit_softcapping": 20.0, "final_logit_softcapping": 10.0,
      "layer_types": ["full_attention", "sliding_attention", "full_attention", "full_attention"])",
                                          kGemma2));
  EXPECT_EQ(masks(config), "fwff");
  EXPECT_EQ(config.blocks[1].attn.window, 8);
  EXPECT_EQ(config.blocks[1].attn.softcap, 20.0);
  EXPECT_EQ(config.logit_softcap, 10.0);
  EXPECT_DOUBLE_EQ(config.blocks[1].attn.scale, 1.0 / 12.0);
  // null switches a cap off that the class has by default.
  const ModelConfig uncapped =
      good_hf(with(R"("attn_logit_softcapping": null, "final_logit_softcapping": null)", kGemma2));
  EXPECT_EQ(uncapped.blocks[0].attn.softcap, 0.0);
  EXPECT_EQ(uncapped.logit_softcap, 0.0);
  EXPECT_EQ(find_value(uncapped, "logit_softcap")->origin, ValueOrigin::kFile);
  expect_refusals(kGemma2, {{R"("sliding_window": 8, "sliding_window_size": 9)", "mean the same and differ"},
                            {R"("query_pre_attn_scalar": 0)", "attn.scale = 0 must be"},
                            {R"("attn_logit_softcapping": -1)", "attn.softcap"}});
}

/// Gemma 2 metadata with that many layers, as the first files were: without caps and window.
std::string gemma2_gguf(int n_layer, std::string_view more = "") {
  std::string text = small_gguf("gemma2", fmt::format(R"("gemma2.attention.key_length": 24,
      "gemma2.attention.value_length": 24, {} "gemma2.attention.layer_norm_rms_epsilon": 1e-6)",
                                                      more));
  const std::string four = "block_count\": 4";
  return text.replace(text.find(four), four.size(), fmt::format("block_count\": {}", n_layer));
}

TEST(Gemma2Test, GgufFillsInWhatItLacks) {
  const ModelConfig old = good_gguf(gemma2_gguf(4));
  EXPECT_EQ(masks(old), "wfwf");
  EXPECT_EQ(old.blocks[0].attn.window, 4096);
  EXPECT_EQ(old.blocks[0].attn.softcap, 50.0);
  EXPECT_EQ(old.logit_softcap, 30.0);
  EXPECT_DOUBLE_EQ(old.blocks[0].attn.scale, 1.0 / std::sqrt(24.0));
  EXPECT_EQ(find_value(old, "attn.query_pre_attn_scalar")->origin, ValueOrigin::kDefault);
  const ModelConfig said = good_gguf(gemma2_gguf(4, R"("gemma2.attn_logit_softcapping": 20.0,
      "gemma2.final_logit_softcapping": 10.0, "gemma2.attention.sliding_window": 8,)"));
  EXPECT_EQ(said.blocks[0].attn.window, 8);
  EXPECT_EQ(said.blocks[1].attn.softcap, 20.0);
  EXPECT_EQ(said.logit_softcap, 10.0);
  // The 27B, known by its layers, divides by the root of d_model / n_head.
  EXPECT_DOUBLE_EQ(good_gguf(gemma2_gguf(46)).blocks[0].attn.scale, 1.0 / 4.0);
}

// ---- SmolLM3 ----

TEST(SmolLm3Test, EveryFourthLayerHasNoPositions) {
  EXPECT_EQ(positions(good_hf(small("smollm3"))), "rrrn");
  EXPECT_EQ(positions(good_hf(with(R"("no_rope_layers": null)", small("smollm3")))), "rrrn");
  EXPECT_EQ(positions(good_hf(with(R"("no_rope_layer_interval": 2)", small("smollm3")))), "rnrn");
  const std::string listed = with(R"("no_rope_layers": [0, 1, 1, 0], "no_rope_layer_interval": 2)", small("smollm3"));
  EXPECT_EQ(positions(good_hf(listed)), "nrrn");
  expect_refusals(listed, {{R"("no_rope_layers": [1, 1, 1])", "'no_rope_layers' must be a list of 4 numbers, found 3"},
                           {R"("no_rope_layers": "all")", "'no_rope_layers' must be a list of numbers"},
                           {R"("no_rope_layers": null, "no_rope_layer_interval": 0)", "must be between 1"}});
}

TEST(SmolLm3Test, PublishedKeysAndDefaults) {
  const ModelConfig config = good_hf(with(R"("rope_theta": 5000000.0, "pretraining_tp": 2, "max_window_layers": 28,
      "sliding_window": null, "use_sliding_window": false, "attention_bias": false, "mlp_bias": false,
      "layer_types": ["full_attention", "full_attention", "full_attention", "full_attention"])",
                                          small("smollm3")));
  EXPECT_EQ(config.blocks[0].attn.rope, (RopeSpec{.d_rot = 16, .theta = 5e6}));
  EXPECT_TRUE(config.is_head_tied);
  EXPECT_EQ(masks(config), "ffff");
  EXPECT_EQ(good_hf(small("smollm3")).blocks[0].attn.rope.theta, 2e6);
}

TEST(SmolLm3Test, WindowsGoToLayersWithoutPositionsUnlessListed) {
  const std::string on = with(R"("use_sliding_window": true, "sliding_window": 8)", small("smollm3"));
  EXPECT_EQ(masks(good_hf(on)), "fffw");
  EXPECT_EQ(masks(good_hf(with(R"("layer_types": ["sliding_attention", "full_attention", "full_attention",
      "full_attention"])",
                               on))),
            "wfff");
  EXPECT_EQ(masks(good_hf(with(R"("use_sliding_window": true)", small("smollm3")))), "ffff");
}

TEST(SmolLm3Test, GgufHasThePublishedInterval) {
  const ModelConfig config =
      good_gguf(small_gguf("smollm3", R"("smollm3.attention.layer_norm_rms_epsilon": 1e-6, "smollm3.vocab_size": 384,
      "smollm3.rope.freq_base": 5000000.0, "smollm3.rope.dimension_count": 16)"));
  EXPECT_EQ(positions(config), "rrrn");
  EXPECT_EQ(find_value(config, "attn.no_position_interval")->origin, ValueOrigin::kDefault);
}

// ---- Granite ----

TEST(GraniteTest, ReadsFourMultipliers) {
  const ModelConfig config = good_hf(with(R"("embedding_multiplier": 12.0, "attention_multiplier": 0.0078125,
      "residual_multiplier": 0.22, "logits_scaling": 16.0, "attention_bias": false, "mlp_bias": true)",
                                          small("granite")));
  EXPECT_EQ(config.embed_scale, 12.0);
  EXPECT_EQ(config.blocks[3].attn.scale, 0.0078125);
  EXPECT_EQ(config.blocks[3].residual_scale, 0.22);
  EXPECT_EQ(config.logit_scale, 1.0 / 16.0);
  EXPECT_TRUE(config.blocks[0].ffn.has_in_bias && config.blocks[0].ffn.has_out_bias);
  EXPECT_FALSE(config.blocks[0].attn.has_q_bias);
  const ModelConfig plain = good_hf(small("granite"));
  EXPECT_EQ(plain.embed_scale, 1.0);
  EXPECT_EQ(plain.blocks[0].attn.scale, 1.0);  // the class's, not d_head^-1/2
  EXPECT_EQ(plain.blocks[0].residual_scale, 1.0);
  EXPECT_EQ(plain.logit_scale, 1.0);
  expect_refusals(small("granite"), {{R"("logits_scaling": 0)", "logit_scale = 0 must be"},
                                     {R"("attention_multiplier": 0)", "attn.scale ('attention_multiplier') = 0"},
                                     {R"("residual_multiplier": -1)", "residual_scale ('residual_multiplier') = -1"},
                                     {R"("num_local_experts": 40)", "unknown key 'num_local_experts'"}});
}

TEST(GraniteTest, GgufMustSayAllFour) {
  const std::string scales = R"("granite.attention.layer_norm_rms_epsilon": 1e-6, "granite.attention.scale": 0.2,
      "granite.embedding_scale": 3.0, "granite.residual_scale": 0.6, "granite.logit_scale": 4.0)";
  const ModelConfig config = good_gguf(small_gguf("granite", scales));
  EXPECT_EQ(config.blocks[0].attn.scale, 0.2);
  EXPECT_EQ(config.embed_scale, 3.0);
  EXPECT_EQ(config.blocks[0].residual_scale, 0.6);
  EXPECT_EQ(config.logit_scale, 0.25);
  const auto bare = read_gguf(small_gguf("granite", R"("granite.attention.layer_norm_rms_epsilon": 1e-6)"), kEmbedding);
  for (const char* key : {"attention.scale", "embedding_scale", "residual_scale", "logit_scale"}) {
    expect_error(bare, ErrorCode::kInvalidArgument, fmt::format("missing key 'granite.{}'", key));
  }
}

// ---- OLMo 2 ----

TEST(Olmo2Test, NormalisesOutputsAndWholeProjections) {
  const ModelConfig config = good_hf(small("olmo2", R"("rope_theta": 500000.0, "attention_bias": false)"));
  const BlockSpec& block = config.blocks[0];
  EXPECT_EQ(block.norm_place, NormPlace::kOutOnly);
  EXPECT_EQ(block.norm, (NormSpec{.kind = NormKind::kRms, .eps = 1e-5}));
  EXPECT_EQ(block.attn.qk_norm, QkNorm::kWholeProjection);
  EXPECT_EQ(block.attn.qk_norm_spec, block.norm);
  EXPECT_EQ(config.n_ctx, 128);
  EXPECT_EQ(good_hf(with(R"("attention_bias": true)", small("olmo2"))).blocks[0].attn.has_o_bias, true);
  // OLMo 3 files have this architecture's name in GGUF, with windows that are not implemented.
  expect_error(read_gguf(small_gguf("olmo2", R"("olmo2.attention.layer_norm_rms_epsilon": 1e-6,
      "olmo2.attention.sliding_window": 4096)"),
                         kEmbedding),
               ErrorCode::kInvalidArgument, "unknown key 'olmo2.attention.sliding_window'");
}

// ---- GLM 4 ----

TEST(GlmTest, RotatesAdjacentPairsOfHalfAHead) {
  const ModelConfig glm = good_hf(small("glm", R"("head_dim": 24)"));
  const BlockSpec& block = glm.blocks[0];
  EXPECT_EQ(block.norm, (NormSpec{.kind = NormKind::kRms, .eps = 1.5625e-07}));
  EXPECT_EQ(block.norm_place, NormPlace::kPre);
  EXPECT_EQ(block.attn.rope, (RopeSpec{.d_rot = 12, .pairing = RopePairing::kAdjacent}));
  EXPECT_TRUE(block.attn.has_q_bias && block.attn.has_k_bias && block.attn.has_v_bias);
  EXPECT_FALSE(block.attn.has_o_bias);
  const ModelConfig glm4 = good_hf(small("glm4", R"("rms_norm_eps": 1e-5, "attention_bias": false)"));
  EXPECT_EQ(glm4.family, "glm4");
  EXPECT_EQ(glm4.blocks[0].attn.d_head, 128);
  EXPECT_EQ(glm4.blocks[0].attn.rope.d_rot, 64);
  EXPECT_EQ(glm4.blocks[0].norm_place, NormPlace::kSandwich);
  EXPECT_EQ(glm4.blocks[0].norm.eps, 1e-5);
  EXPECT_FALSE(glm4.blocks[0].attn.has_q_bias);
}

TEST(GlmTest, GgufOfTheFourth) {
  const ModelConfig config = good_gguf(small_gguf("glm4", R"("glm4.attention.layer_norm_rms_epsilon": 1e-5,
      "glm4.attention.key_length": 16, "glm4.attention.value_length": 16)"));
  EXPECT_EQ(config.blocks[0].attn.rope, (RopeSpec{.d_rot = 8, .pairing = RopePairing::kAdjacent}));
  EXPECT_EQ(config.blocks[0].norm_place, NormPlace::kSandwich);
  // The vision models' texts are permuted to halves and rotate by sections.
  expect_error(read_gguf(small_gguf("glm4", R"("glm4.attention.layer_norm_rms_epsilon": 1e-5,
      "glm4.rope.dimension_sections": [8, 12, 12, 0])"),
                         kEmbedding),
               ErrorCode::kInvalidArgument, "unknown key 'glm4.rope.dimension_sections'");
  expect_error(read_gguf(R"({"general.architecture": "glm"})", kEmbedding), ErrorCode::kUnsupported,
               "general.architecture = \"glm\"");
}

// ---- Command R ----

TEST(CohereTest, HalvesShareOneNorm) {
  const ModelConfig config = good_hf(with(R"("rope_theta": 8000000.0, "model_max_length": 131072, "pretraining_tp": 1)",
                                          small("cohere", R"("layer_norm_eps": 1e-5)")));
  EXPECT_EQ(config.n_ctx, 131072);
  EXPECT_TRUE(config.is_head_tied);
  EXPECT_EQ(config.logit_scale, 0.0625);
  const BlockSpec& block = config.blocks[0];
  EXPECT_EQ(block.norm, (NormSpec{.kind = NormKind::kLayerNorm, .eps = 1e-5}));
  EXPECT_EQ(config.final_norm, block.norm);
  EXPECT_EQ(block.residual, Residual::kParallelSharedNorm);
  EXPECT_EQ(block.attn.rope, (RopeSpec{.d_rot = 16, .theta = 8e6, .pairing = RopePairing::kAdjacent}));
  EXPECT_EQ(block.attn.qk_norm, QkNorm::kNone);
  expect_refusals(
      small("cohere", R"("layer_norm_eps": 1e-5)"),
      {{R"("logit_scale": 0)", "logit_scale = 0 must be"}, {R"("rms_norm_eps": 1e-5)", "unknown key 'rms_norm_eps'"}});
}

TEST(CohereTest, PlusNormalisesHeads) {
  const ModelConfig config = good_hf(small("cohere", R"("use_qk_norm": true, "logit_scale": 0.8333)"));
  EXPECT_EQ(config.logit_scale, 0.8333);
  EXPECT_EQ(config.blocks[0].attn.qk_norm, QkNorm::kPerHeadOwn);
  EXPECT_EQ(config.blocks[0].attn.qk_norm_spec, (NormSpec{.kind = NormKind::kLayerNorm, .eps = 1e-5}));
  const std::string metadata = small_gguf("command-r", R"("command-r.attention.layer_norm_epsilon": 1e-5,
      "command-r.logit_scale": 0.25, "command-r.rope.freq_base": 500000.0, "command-r.rope.scaling.type": "none")");
  EXPECT_EQ(good_gguf(metadata).blocks[0].attn.qk_norm, QkNorm::kNone);
  const auto plus = read_gguf(metadata, {{"token_embd.weight", {384, 64}}, {"blk.0.attn_q_norm.weight", {4, 16}}});
  ASSERT_TRUE(plus) << plus.error().message;
  EXPECT_EQ(plus->blocks[0].attn.qk_norm, QkNorm::kPerHeadOwn);
  EXPECT_EQ(plus->logit_scale, 0.25);
}

}  // namespace
}  // namespace vitro
