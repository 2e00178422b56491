// What GPT-2's and Megatron's relatives read out of config.json and GGUF metadata, and what they refuse. The
// configurations are published ones, made small; keys and defaults are those of the vendors and of transformers.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/arch/families_test_util.h"
#include "testing/expect_error.h"
#include "weights/slot.h"

namespace vitro {
namespace {

using testing::changed;
using testing::expect_error;
using testing::expect_refusals;
using testing::find_value;
using testing::good_hf;
using testing::read;
using testing::read_gguf;
using testing::with;

/// Names of all places where the tensors of a description are looked for.
std::vector<std::string> places(SourceFormat format, std::string_view family, const ModelConfig& config) {
  std::vector<std::string> names;
  for (const Architecture* arch : all_architectures()) {
    if (arch->name != family) continue;
    for (const TensorSlot& slot : arch->tensor_slots(format, config)) {
      for (const TensorSource& source : slot.sources) names.push_back(slot.name + " < " + source.name);
    }
  }
  return names;
}

bool has_place(const std::vector<std::string>& places, std::string_view place) {
  return std::find(places.begin(), places.end(), place) != places.end();
}

constexpr std::string_view kGpt1 =
    R"({"model_type": "openai-gpt", "architectures": ["OpenAIGPTLMHeadModel"], "afn": "gelu", "attn_pdrop": 0.1,
    "embd_pdrop": 0.1, "resid_pdrop": 0.1, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "n_ctx": 512,
    "n_positions": 512, "n_embd": 64, "n_head": 4, "n_layer": 2, "n_special": 0, "predict_special_tokens": true,
    "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
    "summary_type": "cls_index", "summary_use_proj": true,
    "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}, "vocab_size": 384})";

TEST(Gpt1Test, ReadsTheOriginalConfig) {
  const ModelConfig config = good_hf(kGpt1);
  EXPECT_EQ(config.position, PositionKind::kLearned);
  EXPECT_EQ(config.n_position_rows, 512);
  EXPECT_TRUE(config.is_head_tied);
  EXPECT_EQ(config.final_norm.kind, NormKind::kNone);
  const BlockSpec& block = config.blocks.at(1);
  EXPECT_EQ(block.norm_place, NormPlace::kPost);
  EXPECT_EQ(block.ffn.d_ff, 256);
  EXPECT_EQ(block.ffn.activation, ActivationKind::kGeluTanh);
  expect_refusals(kGpt1, {{R"("n_special": 3)", "'n_special' = 3 is not implemented"},
                          {R"("afn": "gelu_9")", "'afn' = \"gelu_9\" is not an activation"},
                          {R"("n_ctx": 256)", "'n_positions' = 512 and 'n_ctx' = 256 mean the same and differ"}});
}

constexpr std::string_view kGptNeo =
    R"({"model_type": "gpt_neo", "architectures": ["GPTNeoForCausalLM"], "activation_function": "gelu_new",
    "attention_dropout": 0, "attention_layers": ["global", "local", "global", "local"],
    "attention_types": [[["global", "local"], 2]], "bos_token_id": 50256, "eos_token_id": 50256, "embed_dropout": 0,
    "gradient_checkpointing": false, "hidden_size": 64, "initializer_range": 0.02, "intermediate_size": null,
    "layer_norm_epsilon": 1e-05, "max_position_embeddings": 2048, "num_heads": 4, "num_layers": 4, "resid_dropout": 0,
    "summary_type": "cls_index", "tokenizer_class": "GPT2Tokenizer", "use_cache": true, "vocab_size": 384,
    "window_size": 256})";

TEST(GptNeoTest, ReadsThePublishedConfig) {
  const ModelConfig config = good_hf(kGptNeo);
  EXPECT_TRUE(config.is_head_tied);
  EXPECT_EQ(config.n_position_rows, 2048);
  EXPECT_EQ(config.blocks[0].attn.mask, MaskKind::kCausal);
  EXPECT_EQ(config.blocks[1].attn.mask, MaskKind::kWindow);
  EXPECT_EQ(config.blocks[3].attn.window, 256);
  const BlockSpec& block = config.blocks[2];
  EXPECT_EQ(block.attn.scale, 1.0);
  EXPECT_EQ(block.ffn.d_ff, 256);
  EXPECT_TRUE(block.attn.has_o_bias && block.ffn.has_in_bias && block.ffn.has_out_bias);
  EXPECT_FALSE(block.attn.has_q_bias || block.attn.has_k_bias || block.attn.has_v_bias);
}

TEST(GptNeoTest, MasksMustCoverTheLayers) {
  constexpr const char* kRule = "must say global or local for each of the 4 layers";
  expect_refusals(kGptNeo, {{R"("attention_types": [[["global"], 4]])", kRule},
                            {R"("attention_types": [[["global", "local"], 9223372036854775807]])", kRule},
                            {R"("attention_types": [[[], 9223372036854775807]])", kRule},
                            {R"("attention_types": [[["global", "local"], -2]])", kRule},
                            {R"("attention_types": [["global", "local"]])", kRule},
                            {R"("attention_types": "global")", kRule},
                            {R"("attention_layers": ["global", "local", "global"])", kRule},
                            {R"("attention_layers": ["global", "local", "global", "nearby"])", kRule},
                            {R"("attention_types": null, "attention_layers": null)",
                             kRule}});  // the class's default is for 24 layers
  const auto by_layer = read(SourceFormat::kHuggingFace, changed(kGptNeo, R"("attention_types": null)"));
  ASSERT_TRUE(by_layer) << by_layer.error().message;
  EXPECT_EQ(by_layer->blocks.at(3).attn.window, 256);
}

constexpr std::string_view kGptJ =
    R"({"model_type": "gptj", "architectures": ["GPTJForCausalLM"], "activation_function": "gelu_new",
    "attn_pdrop": 0.0, "bos_token_id": 50256, "eos_token_id": 50256, "embd_pdrop": 0.0, "gradient_checkpointing": false,
    "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "n_embd": 512, "n_head": 4, "n_inner": null, "n_layer": 2,
    "n_positions": 2048, "resid_pdrop": 0.0, "rotary": true, "rotary_dim": 32, "scale_attn_weights": true,
    "summary_type": "cls_index", "task_specific_params": {"text-generation": {"do_sample": true}},
    "tie_word_embeddings": false, "tokenizer_class": "GPT2Tokenizer", "use_cache": true, "vocab_size": 50400})";

TEST(GptJTest, ReadsThePublishedConfig) {
  const ModelConfig config = good_hf(kGptJ);
  EXPECT_FALSE(config.is_head_tied);
  EXPECT_TRUE(config.has_head_bias);
  const BlockSpec& block = config.blocks[1];
  EXPECT_EQ(block.residual, Residual::kParallelSharedNorm);
  EXPECT_EQ(block.attn.rope, (RopeSpec{.d_rot = 32, .theta = 10000.0, .pairing = RopePairing::kAdjacent}));
  EXPECT_EQ(block.ffn.d_ff, 2048);
  EXPECT_FALSE(block.attn.has_q_bias || block.attn.has_o_bias);
  EXPECT_TRUE(block.ffn.has_in_bias);
  expect_refusals(kGptJ, {{R"("scale_attn_weights": false)", "'scale_attn_weights' = false is not implemented"},
                          {R"("rotary": false)", "'rotary' = false is not implemented"},
                          {R"("rotary_dim": 130)", "rope.d_rot ('rotary_dim') = 130 must be even, from 2 to"},
                          {R"("num_key_value_heads": 1)", "unknown key 'num_key_value_heads'"}});
}

constexpr std::string_view kBloom =
    R"({"model_type": "bloom", "architectures": ["BloomForCausalLM"], "apply_residual_connection_post_layernorm": false,
    "attention_dropout": 0.0, "attention_softmax_in_fp32": true, "bias_dropout_fusion": true, "bos_token_id": 1,
    "eos_token_id": 2, "hidden_dropout": 0.0, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05,
    "masked_softmax_fusion": true, "n_embed": 48, "n_inner": null, "n_layer": 2, "num_attention_heads": 6,
    "offset_alibi": 100, "pad_token_id": 3, "pretraining_tp": 4, "seq_length": 1024, "skip_bias_add": true,
    "skip_bias_add_qkv": false, "slow_but_exact": false, "unk_token_id": 0, "use_cache": true, "vocab_size": 250880})";

TEST(BloomTest, ReadsThePublishedConfig) {
  const ModelConfig config = good_hf(kBloom);
  EXPECT_EQ(config.d_model, 48);
  EXPECT_EQ(config.n_ctx, 1024);
  EXPECT_EQ(config.embed_norm, (NormSpec{.kind = NormKind::kLayerNorm, .eps = 1e-5, .has_bias = true}));
  EXPECT_TRUE(config.is_head_tied);
  const BlockSpec& block = config.blocks[1];
  EXPECT_EQ(block.attn.position, PositionKind::kAlibi);
  EXPECT_EQ(block.attn.alibi_max_bias, 8.0);
  EXPECT_EQ(block.attn.alibi_factor, 1.0);
  EXPECT_FALSE(block.attn.is_alibi_bf16 || block.residual_from_norm);
  EXPECT_EQ(block.attn.n_head, 6);
  EXPECT_EQ(block.ffn.d_ff, 192);
  EXPECT_EQ(block.ffn.activation, ActivationKind::kGeluTanh);
}

TEST(BloomTest, SpellingsOfTransformersAndDefaults) {
  const std::string v5 = R"({"model_type": "bloom", "hidden_size": 64, "n_head": 4, "n_layer": 2, "vocab_size": 384,
      "apply_residual_connection_post_layernorm": true})";
  const ModelConfig config = good_hf(v5);
  EXPECT_TRUE(config.blocks[0].residual_from_norm);
  EXPECT_EQ(config.blocks[0].norm.eps, 1e-5);
  EXPECT_EQ(config.n_ctx, 2048);
  EXPECT_EQ(find_value(config, "n_ctx")->origin, ValueOrigin::kDefault);
  expect_refusals(kBloom, {{R"("hidden_size": 64)", "'hidden_size' = 64 and 'n_embed' = 48 mean the same and differ"},
                           {R"("num_attention_heads": 5)", "= 5 does not divide the width 48"},
                           {R"("alibi": true)", "unknown key 'alibi'"}});
}

constexpr std::string_view kOpt =
    R"({"model_type": "opt", "architectures": ["OPTForCausalLM"], "_remove_final_layer_norm": false,
    "activation_dropout": 0.0, "activation_function": "relu", "attention_dropout": 0.0, "bos_token_id": 2,
    "do_layer_norm_before": true, "dropout": 0.1, "eos_token_id": 2, "ffn_dim": 256, "hidden_size": 64,
    "init_std": 0.02, "layerdrop": 0.0, "max_position_embeddings": 2048, "num_attention_heads": 4,
    "num_hidden_layers": 2, "pad_token_id": 1, "prefix": "</s>", "torch_dtype": "float16", "use_cache": true,
    "vocab_size": 50272, "word_embed_proj_dim": 64})";

TEST(OptTest, ReadsThePublishedConfigs) {
  const ModelConfig config = good_hf(kOpt);
  EXPECT_EQ(config.position_offset, 2);
  EXPECT_EQ(config.n_position_rows, 2050);
  EXPECT_EQ(config.d_embed, 0);
  EXPECT_EQ(config.final_norm, (NormSpec{.kind = NormKind::kLayerNorm, .eps = 1e-5, .has_bias = true}));
  EXPECT_EQ(config.blocks[1].ffn.activation, ActivationKind::kRelu);
  EXPECT_TRUE(config.blocks[1].attn.has_o_bias && config.blocks[1].ffn.has_out_bias);
  const std::string small = R"({"model_type": "opt", "do_layer_norm_before": false, "ffn_dim": 256, "hidden_size": 64,
      "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 50272, "word_embed_proj_dim": 32})";
  const ModelConfig post = good_hf(small);  // OPT-350M
  EXPECT_EQ(post.d_embed, 32);
  EXPECT_EQ(post.embed_width(), 32);
  EXPECT_EQ(post.blocks[0].norm_place, NormPlace::kPost);
  EXPECT_EQ(post.final_norm.kind, NormKind::kNone);
}

TEST(OptTest, SwitchesOfLaterFiles) {
  const std::string galactica = with(
      R"("enable_bias": false, "layer_norm_elementwise_affine": false, "learned_embeddings": true,
         "scale_embeddings": false)",
      kOpt);
  const BlockSpec block = good_hf(galactica).blocks.at(0);
  EXPECT_FALSE(block.norm.has_gain || block.norm.has_bias);
  EXPECT_FALSE(block.attn.has_q_bias || block.attn.has_o_bias || block.ffn.has_in_bias || block.ffn.has_out_bias);
  const std::string early = R"({"model_type": "opt", "_remove_final_layer_norm": true, "ffn_dim": 256,
      "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 50272})";
  EXPECT_EQ(good_hf(early).final_norm.kind, NormKind::kNone);
  EXPECT_EQ(good_hf(early).blocks[0].norm_place, NormPlace::kPre);
  expect_refusals(galactica, {{R"("learned_embeddings": false)", "'learned_embeddings' = false is not implemented"},
                              {R"("scale_embeddings": true)", "'scale_embeddings' = true is not implemented"},
                              {R"("word_embed_proj_dim": 0)", "'word_embed_proj_dim' = 0 must be between 1"},
                              {R"("ffn_dim": null)", "missing key 'intermediate_size' or 'n_inner' or 'ffn_dim'"}});
}

constexpr std::string_view kMpt =
    R"({"model_type": "mpt", "architectures": ["MPTForCausalLM"], "attn_config": {"alibi": true, "alibi_bias_max": 16,
    "attn_impl": "torch", "attn_pdrop": 0, "attn_type": "multihead_attention", "attn_uses_sequence_id": false,
    "clip_qkv": 6, "prefix_lm": false, "qk_ln": false, "softmax_scale": null},
    "auto_map": {"AutoConfig": "configuration_mpt.MPTConfig"}, "d_model": 64, "emb_pdrop": 0, "embedding_fraction": 1.0,
    "expansion_ratio": 3, "init_config": {"name": "kaiming_normal_", "verbose": 0}, "init_device": "cpu",
    "learned_pos_emb": true, "logit_scale": null, "max_seq_len": 65536, "n_heads": 4, "n_layers": 2, "no_bias": true,
    "norm_type": "low_precision_layernorm", "resid_pdrop": 0, "tokenizer_name": "EleutherAI/gpt-neox-20b",
    "torch_dtype": "bfloat16", "use_cache": false, "verbose": 0, "vocab_size": 50432})";

/// kMpt with this attn_config.
std::string mpt_with(std::string_view attn_config) {
  const size_t begin = kMpt.find("\"attn_config\"");
  const size_t end = kMpt.find("\"auto_map\"");
  return fmt::format("{}\"attn_config\": {}, {}", kMpt.substr(0, begin), attn_config, kMpt.substr(end));
}

TEST(MptTest, ReadsThePublishedConfig) {
  const ModelConfig config = good_hf(kMpt);
  EXPECT_EQ(config.n_ctx, 65536);
  EXPECT_EQ(config.logit_scale, 1.0);
  EXPECT_NE(config.position, PositionKind::kLearned);
  const BlockSpec& block = config.blocks[1];
  EXPECT_EQ(block.norm, (NormSpec{.kind = NormKind::kLayerNorm, .eps = 1e-5}));
  EXPECT_EQ(block.attn.position, PositionKind::kAlibi);
  EXPECT_EQ(block.attn.alibi_max_bias, 16.0);
  EXPECT_EQ(block.attn.qkv_clip, 6.0);
  EXPECT_EQ(block.attn.scale, 0.25);
  EXPECT_EQ(block.ffn.d_ff, 192);
  EXPECT_EQ(block.ffn.activation, ActivationKind::kGeluErf);
  EXPECT_FALSE(block.attn.has_q_bias || block.attn.has_o_bias || block.ffn.has_in_bias || block.ffn.has_out_bias);
}

TEST(MptTest, ReadsTheObjectInsideAndItsJunk) {
  const std::string junk = mpt_with(R"({"_name_or_path": "", "add_cross_attention": false, "architectures": null,
      "bad_words_ids": null, "chunk_size_feed_forward": 0, "cross_attention_hidden_size": null, "do_sample": false,
      "id2label": {"0": "LABEL_0"}, "is_encoder_decoder": false, "model_type": "", "pruned_heads": {},
      "tf_legacy_loss": false, "tie_encoder_decoder": false, "tie_word_embeddings": true, "typical_p": 1.0,
      "alibi": true, "softmax_scale": 0.3})");
  const ModelConfig config = good_hf(junk);
  EXPECT_EQ(config.blocks[0].attn.scale, 0.3);
  EXPECT_EQ(config.blocks[0].attn.alibi_max_bias, 8.0);
  EXPECT_EQ(find_value(config, "attn.scale")->source, "attn_config.softmax_scale");
  EXPECT_EQ(good_hf(R"({"model_type": "mpt", "d_model": 64, "n_heads": 4, "n_layers": 2, "vocab_size": 384})").n_ctx,
            2048);
}

TEST(MptTest, FollowsTheVendorWhereTransformersIgnoresAKey) {
  const ModelConfig learned = good_hf(mpt_with(R"({"alibi": false})"));
  EXPECT_EQ(learned.position, PositionKind::kLearned);
  EXPECT_EQ(learned.n_position_rows, 65536);
  EXPECT_EQ(learned.blocks[0].attn.position, PositionKind::kNone);
  const ModelConfig normed = good_hf(mpt_with(R"({"qk_ln": true, "attn_type": "multiquery_attention"})"));
  EXPECT_EQ(normed.blocks[0].attn.qk_norm, QkNorm::kWholeProjection);
  EXPECT_EQ(normed.blocks[0].attn.n_kv_head, 1);
  const ModelConfig grouped = good_hf(mpt_with(R"({"attn_type": "grouped_query_attention", "kv_n_heads": 2})"));
  EXPECT_EQ(grouped.blocks[0].attn.n_kv_head, 2);
  const std::string rest = R"({"model_type": "mpt", "d_model": 64, "n_heads": 4, "n_layers": 2, "vocab_size": 384,
      "no_bias": false, "ffn_config": {"ffn_type": "mptmlp", "fc_type": "torch"}, "logit_scale": )";
  EXPECT_EQ(good_hf(rest + "0.5}").logit_scale, 0.5);
  EXPECT_EQ(good_hf(rest + "\"inv_sqrt_d_model\"}").logit_scale, 0.125);
  const BlockSpec biased = good_hf(rest + "null}").blocks.at(0);
  EXPECT_TRUE(biased.norm.has_bias && biased.attn.has_q_bias && biased.attn.has_o_bias && biased.ffn.has_in_bias);
}

TEST(MptTest, RefusesWhatItCannotDo) {
  expect_refusals(
      kMpt,
      {{R"("attn_config": {"prefix_lm": true})", "'attn_config.prefix_lm' = true is not implemented"},
       {R"("attn_config": {"rope": true})", "'attn_config.rope' = true is not implemented"},
       {R"("attn_config": {"qk_gn": true})", "'attn_config.qk_gn' = true is not implemented"},
       {R"("attn_config": {"attn_type": "sliding"})", "'attn_config.attn_type' = \"sliding\" is not implemented"},
       {R"("attn_config": {"kv_n_heads": 2})", "'attn_config.kv_n_heads' = 2 is not implemented (only 4)"},
       {R"("attn_config": {"sliding_window_size": 64})", "'attn_config.sliding_window_size' = 64 is not implemented"},
       {R"("attn_config": {"alibi_bias_max": 0})", "'attn_config.alibi_bias_max' = 0 must be above 0"},
       {R"("attn_config": {"spice": 1})", "unknown key 'attn_config.spice'"},
       {R"("attn_config": [])", "'attn_config' must be an object"},
       {R"("ffn_config": {"ffn_type": "mptglu"})", "'ffn_config.ffn_type' = \"mptglu\" is not implemented"},
       {R"("norm_type": "rmsnorm")", "'norm_type' = \"rmsnorm\" is not implemented (only low_precision_layernorm, "},
       {R"("norm_type": 7)", "'norm_type' = 7 is not implemented"},
       {R"("logit_scale": "big")", "'logit_scale' = \"big\" is not implemented"},
       {R"("expansion_ratio": 4194304)", "= 268435456 must be between 1"}});
}

TEST(MptTest, ReadsGguf) {
  const std::string metadata =
      R"({"general.architecture": "mpt", "mpt.block_count": 2, "mpt.context_length": 2048, "mpt.embedding_length": 64,
      "mpt.feed_forward_length": 256, "mpt.attention.head_count": 4, "mpt.attention.layer_norm_epsilon": 1e-5,
      "mpt.attention.clamp_kqv": 6.0, "mpt.attention.max_alibi_bias": 16.0})";
  const auto config = read_gguf(metadata, {{"token_embd.weight", {384, 64}}});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->blocks[0].attn.alibi_max_bias, 16.0);
  EXPECT_EQ(config->blocks[0].attn.qkv_clip, 6.0);
  EXPECT_FALSE(config->blocks[0].norm.has_bias);
}

constexpr std::string_view kFalcon7b =
    R"({"model_type": "falcon", "architectures": ["FalconForCausalLM"], "alibi": false,
    "apply_residual_connection_post_layernorm": false, "attention_dropout": 0.0, "bias": false, "bos_token_id": 11,
    "eos_token_id": 11, "hidden_dropout": 0.0, "hidden_size": 64, "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-05, "multi_query": true, "new_decoder_architecture": false, "num_attention_heads": 4,
    "num_hidden_layers": 2, "parallel_attn": true, "torch_dtype": "bfloat16", "use_cache": true, "vocab_size": 65024})";

TEST(FalconTest, ReadsTheThreeForms) {
  const ModelConfig small = good_hf(kFalcon7b);
  EXPECT_EQ(small.n_ctx, 2048);
  EXPECT_TRUE(small.is_head_tied);
  const BlockSpec& mqa = small.blocks[1];
  EXPECT_EQ(mqa.attn.n_kv_head, 1);
  EXPECT_EQ(mqa.residual, Residual::kParallelSharedNorm);
  EXPECT_EQ(mqa.attn.rope, (RopeSpec{.d_rot = 16, .theta = 10000.0}));
  EXPECT_EQ(mqa.ffn.activation, ActivationKind::kGeluErf);
  EXPECT_EQ(mqa.ffn.d_ff, 256);
  EXPECT_TRUE(mqa.norm.has_bias);
  EXPECT_FALSE(mqa.attn.has_q_bias || mqa.attn.has_o_bias || mqa.ffn.has_in_bias || mqa.ffn.has_out_bias);
  // Transformers writes the number of heads, which this form does not read.
  EXPECT_EQ(good_hf(with(R"("num_kv_heads": 4)", kFalcon7b)).blocks[0].attn.n_kv_head, 1);

  const std::string rw = R"({"model_type": "falcon", "alibi": true, "bias": true, "hidden_size": 64,
      "multi_query": false, "num_attention_heads": 4, "num_hidden_layers": 2, "parallel_attn": false,
      "vocab_size": 50304})";
  const BlockSpec alibi = good_hf(rw).blocks.at(0);
  EXPECT_EQ(alibi.attn.n_kv_head, 4);
  EXPECT_EQ(alibi.residual, Residual::kSequential);
  EXPECT_EQ(alibi.attn.position, PositionKind::kAlibi);
  EXPECT_EQ(alibi.attn.alibi_factor, alibi.attn.scale);
  EXPECT_TRUE(alibi.attn.is_alibi_bf16);
  EXPECT_TRUE(alibi.attn.has_k_bias && alibi.attn.has_o_bias && alibi.ffn.has_in_bias && alibi.ffn.has_out_bias);
  expect_refusals(
      rw, {{R"("num_kv_heads": 2)", "'num_kv_heads' = 2 and 'num_attention_heads' = 4 differ without 'multi_query'"}});
}

constexpr std::string_view kFalcon11b =
    R"({"model_type": "falcon", "activation": "gelu", "alibi": false, "bias": false, "ff_factor": 4,
    "ffn_hidden_size": 320, "hidden_size": 64, "max_position_embeddings": 8192, "multi_query": true,
    "new_decoder_architecture": true, "num_attention_heads": 4, "num_hidden_layers": 2, "num_kv_heads": 2,
    "num_ln_in_parallel_attn": 1, "parallel_attn": true, "rope_scaling": null, "rope_theta": 500042.0,
    "tie_word_embeddings": false, "vocab_size": 65024})";

TEST(FalconTest, NormsOfTheNewArchitecture) {
  const ModelConfig one = good_hf(kFalcon11b);
  EXPECT_EQ(one.blocks[0].residual, Residual::kParallelSharedNorm);
  EXPECT_EQ(one.blocks[0].attn.n_kv_head, 2);
  EXPECT_EQ(one.blocks[0].attn.rope.theta, 500042.0);
  EXPECT_EQ(one.blocks[0].ffn.d_ff, 320);
  EXPECT_FALSE(one.is_head_tied);
  EXPECT_TRUE(has_place(places(SourceFormat::kHuggingFace, "falcon", one),
                        "blocks.0.attn_norm.gain < transformer.h.0.input_layernorm.weight"));
  const std::string forty = R"({"model_type": "falcon", "hidden_size": 64, "new_decoder_architecture": true,
      "num_attention_heads": 4, "num_hidden_layers": 2, "num_kv_heads": 2, "vocab_size": 65024})";
  const ModelConfig two = good_hf(forty);
  EXPECT_EQ(two.blocks[0].residual, Residual::kParallel);
  const auto hf = places(SourceFormat::kHuggingFace, "falcon", two);
  EXPECT_TRUE(has_place(hf, "blocks.0.attn_norm.gain < transformer.h.0.ln_attn.weight"));
  EXPECT_TRUE(has_place(hf, "blocks.0.ffn_norm.gain < transformer.h.0.ln_mlp.weight"));
  const auto gguf = places(SourceFormat::kGguf, "falcon", two);
  EXPECT_TRUE(has_place(gguf, "blocks.0.attn_norm.gain < blk.0.attn_norm_2.weight"));
  EXPECT_TRUE(has_place(gguf, "blocks.0.ffn_norm.gain < blk.0.attn_norm.weight"));
  expect_refusals(kFalcon11b,
                  {{R"("num_ln_in_parallel_attn": 3)", "'num_ln_in_parallel_attn' = 3 is not implemented"},
                   {R"("new_decoder_architecture": false, "num_ln_in_parallel_attn": 2)", "= 2 is not implemented"},
                   {R"("parallel_attn": false)", "'new_decoder_architecture' without 'parallel_attn'"},
                   {R"("num_kv_heads": 3)", "attn.n_kv_head ('num_kv_heads') = 3 does not divide the 4 heads"},
                   {R"("apply_residual_connection_post_layernorm": true)", "= true is not implemented (only false)"}});
}

TEST(FalconTest, GgufTellsTheNormsByTensors) {
  const std::string plain =
      R"({"general.architecture": "falcon", "falcon.block_count": 2, "falcon.context_length": 2048,
      "falcon.embedding_length": 64, "falcon.feed_forward_length": 256, "falcon.attention.head_count": 4,
      "falcon.attention.head_count_kv": 1, "falcon.attention.layer_norm_epsilon": 1e-5})";
  const std::string metadata = with(R"("falcon.tensor_data_layout": "jploski")", plain);
  const auto one = read_gguf(metadata, {{"token_embd.weight", {384, 64}}, {"blk.0.attn_norm.weight", {64}}});
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->blocks[0].residual, Residual::kParallelSharedNorm);
  EXPECT_EQ(one->blocks[0].attn.n_kv_head, 1);
  const auto two = read_gguf(metadata, {{"token_embd.weight", {384, 64}}, {"blk.0.attn_norm_2.weight", {64}}});
  ASSERT_TRUE(two) << two.error().message;
  EXPECT_EQ(two->blocks[0].residual, Residual::kParallel);
  expect_error(read_gguf(with(R"("falcon.tensor_data_layout": "other")", plain), {{"token_embd.weight", {384, 64}}}),
               ErrorCode::kInvalidArgument, "'falcon.tensor_data_layout' = \"other\" is not implemented");
}

constexpr std::string_view kStarcoder2 =
    R"({"model_type": "starcoder2", "architectures": ["Starcoder2ForCausalLM"], "attention_dropout": 0.1,
    "bos_token_id": 0, "embedding_dropout": 0.1, "eos_token_id": 0, "hidden_act": "gelu_pytorch_tanh",
    "hidden_size": 64, "initializer_range": 0.018042, "intermediate_size": 112, "max_position_embeddings": 16384,
    "mlp_type": "default", "norm_epsilon": 1e-05, "norm_type": "layer_norm", "num_attention_heads": 4,
    "num_hidden_layers": 2, "num_key_value_heads": 2, "residual_dropout": 0.1, "rope_theta": 999999.4420358813,
    "sliding_window": 4096, "use_bias": true, "use_cache": true, "vocab_size": 49152})";

TEST(Starcoder2Test, ReadsThePublishedConfig) {
  const ModelConfig config = good_hf(kStarcoder2);
  EXPECT_TRUE(config.is_head_tied);
  const BlockSpec& block = config.blocks[1];
  EXPECT_EQ(block.attn.window, 4096);
  EXPECT_EQ(block.attn.n_kv_head, 2);
  EXPECT_EQ(block.attn.rope.theta, 999999.4420358813);
  EXPECT_EQ(block.ffn.activation, ActivationKind::kGeluTanh);
  EXPECT_FALSE(block.ffn.is_gated);
  EXPECT_TRUE(block.attn.has_q_bias && block.attn.has_o_bias && block.ffn.has_in_bias && block.norm.has_bias);
  const std::string v5 = R"({"model_type": "starcoder2", "hidden_size": 64, "intermediate_size": 112,
      "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 384, "sliding_window": null, "use_bias": false,
      "rope_parameters": {"rope_theta": 20000.0, "rope_type": "default"}})";
  const BlockSpec plain = good_hf(v5).blocks.at(0);
  EXPECT_EQ(plain.attn.mask, MaskKind::kCausal);
  EXPECT_EQ(plain.attn.rope, (RopeSpec{.d_rot = 16, .theta = 20000.0}));
  EXPECT_EQ(plain.attn.n_kv_head, 2);
  EXPECT_FALSE(plain.attn.has_k_bias || plain.ffn.has_out_bias);
  EXPECT_TRUE(plain.norm.has_bias);
  expect_refusals(kStarcoder2, {{R"("mlp_type": "gated")", "'mlp_type' = \"gated\" is not implemented (only default)"},
                                {R"("norm_type": "rms")", "'norm_type' = \"rms\" is not implemented"}});
}

constexpr std::string_view kStablelm =
    R"({"model_type": "stablelm", "architectures": ["StableLmForCausalLM"], "bos_token_id": 100257,
    "eos_token_id": 100257, "hidden_act": "silu", "hidden_size": 64, "initializer_range": 0.02,
    "intermediate_size": 112, "layer_norm_eps": 1e-05, "max_position_embeddings": 4096, "num_attention_heads": 4,
    "num_hidden_layers": 2, "num_key_value_heads": 4, "partial_rotary_factor": 0.25, "rope_scaling": null,
    "rope_theta": 10000, "tie_word_embeddings": false, "use_cache": true, "use_qkv_bias": true, "vocab_size": 100352})";

TEST(StablelmTest, ReadsThePublishedConfigs) {
  const ModelConfig config = good_hf(kStablelm);
  const BlockSpec& block = config.blocks[1];
  EXPECT_EQ(block.norm, (NormSpec{.kind = NormKind::kLayerNorm, .eps = 1e-5, .has_bias = true}));
  EXPECT_EQ(config.final_norm, block.norm);
  EXPECT_EQ(block.residual, Residual::kSequential);
  EXPECT_EQ(block.attn.rope.d_rot, 4);
  EXPECT_TRUE(block.ffn.is_gated);
  EXPECT_TRUE(block.attn.has_q_bias && block.attn.has_k_bias && block.attn.has_v_bias);
  EXPECT_FALSE(block.attn.has_o_bias || block.ffn.has_in_bias);
  EXPECT_EQ(block.attn.qk_norm, QkNorm::kNone);
  const std::string large = R"({"model_type": "stablelm", "hidden_size": 64, "intermediate_size": 112,
      "norm_eps": 1e-6, "num_attention_heads": 4, "num_hidden_layers": 2, "num_key_value_heads": 2,
      "qk_layernorm": true, "use_parallel_residual": true, "vocab_size": 384})";  // as the 12B model
  const ModelConfig wide = good_hf(large);
  EXPECT_EQ(wide.n_ctx, 4096);
  EXPECT_EQ(wide.blocks[0].residual, Residual::kParallelSharedNorm);
  EXPECT_EQ(wide.blocks[0].attn.qk_norm, QkNorm::kPerHeadOwn);
  EXPECT_EQ(wide.blocks[0].attn.qk_norm_spec, (NormSpec{.kind = NormKind::kLayerNorm, .eps = 1e-6}));
  EXPECT_FALSE(wide.blocks[0].attn.has_q_bias);
  const auto hf = places(SourceFormat::kHuggingFace, "stablelm", wide);
  EXPECT_TRUE(has_place(hf, "blocks.1.attn.k_norm.1.gain < model.layers.1.self_attn.k_layernorm.norms.1.weight"));
  const auto gguf = places(SourceFormat::kGguf, "stablelm", wide);
  EXPECT_TRUE(has_place(gguf, "blocks.1.attn.q_norm.3.gain < blk.1.attn_q_norm.weight"));
}

TEST(StablelmTest, GgufTellsTheResidualByTensors) {
  const std::string metadata =
      R"({"general.architecture": "stablelm", "stablelm.block_count": 2, "stablelm.context_length": 4096,
      "stablelm.embedding_length": 64, "stablelm.feed_forward_length": 112, "stablelm.attention.head_count": 4,
      "stablelm.attention.head_count_kv": 4, "stablelm.rope.dimension_count": 4,
      "stablelm.use_parallel_residual": true, "stablelm.attention.layer_norm_epsilon": 1e-5})";
  const auto serial = read_gguf(metadata, {{"token_embd.weight", {384, 64}}, {"blk.0.ffn_norm.weight", {64}}});
  ASSERT_TRUE(serial) << serial.error().message;
  EXPECT_EQ(serial->blocks[0].residual, Residual::kSequential);
  EXPECT_EQ(serial->blocks[0].attn.qk_norm, QkNorm::kNone);
  const auto parallel = read_gguf(metadata, {{"token_embd.weight", {384, 64}}, {"blk.0.attn_q_norm.weight", {4, 16}}});
  ASSERT_TRUE(parallel) << parallel.error().message;
  EXPECT_EQ(parallel->blocks[0].residual, Residual::kParallelSharedNorm);
  EXPECT_EQ(parallel->blocks[0].attn.qk_norm, QkNorm::kPerHeadOwn);
}

constexpr std::string_view kPhi =
    R"({"model_type": "phi", "architectures": ["PhiForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 50256,
    "embd_pdrop": 0.0, "eos_token_id": 50256, "hidden_act": "gelu_new", "hidden_size": 80, "initializer_range": 0.02,
    "intermediate_size": 320, "layer_norm_eps": 1e-05, "max_position_embeddings": 2048, "num_attention_heads": 1,
    "num_hidden_layers": 2, "num_key_value_heads": null, "partial_rotary_factor": 0.4, "qk_layernorm": false,
    "resid_pdrop": 0.1, "rope_scaling": null, "rope_theta": 10000.0, "tie_word_embeddings": false, "use_cache": true,
    "vocab_size": 51200})";

TEST(PhiTest, ReadsThePublishedConfig) {
  const ModelConfig config = good_hf(kPhi);
  EXPECT_TRUE(config.has_head_bias);
  EXPECT_FALSE(config.is_head_tied);
  const BlockSpec& block = config.blocks[1];
  EXPECT_EQ(block.residual, Residual::kParallelSharedNorm);
  EXPECT_EQ(block.attn.rope, (RopeSpec{.d_rot = 32, .theta = 10000.0}));
  EXPECT_EQ(block.attn.n_kv_head, 1);
  EXPECT_EQ(block.ffn.activation, ActivationKind::kGeluTanh);
  EXPECT_TRUE(block.attn.has_q_bias && block.attn.has_o_bias && block.ffn.has_in_bias && block.norm.has_bias);
  const std::string v5 = R"({"model_type": "phi", "hidden_size": 64, "intermediate_size": 112, "vocab_size": 384,
      "num_attention_heads": 4, "num_hidden_layers": 2, "qk_layernorm": true})";
  const BlockSpec normed = good_hf(v5).blocks.at(0);
  EXPECT_EQ(normed.attn.qk_norm, QkNorm::kPerHeadShared);
  EXPECT_EQ(normed.attn.qk_norm_spec, (NormSpec{.kind = NormKind::kLayerNorm, .eps = 1e-5, .has_bias = true}));
  EXPECT_EQ(normed.attn.rope.d_rot, 8);
}

TEST(PhiTest, GgufHasQueriesKeysAndValuesApartOrTogether) {
  const std::string metadata =
      R"({"general.architecture": "phi2", "phi2.block_count": 2, "phi2.context_length": 2048,
      "phi2.embedding_length": 80, "phi2.feed_forward_length": 320, "phi2.attention.head_count": 1,
      "phi2.attention.head_count_kv": 1, "phi2.rope.dimension_count": 32,
      "phi2.attention.layer_norm_epsilon": 1e-5})";
  const auto config = read_gguf(metadata, {{"token_embd.weight", {384, 80}}, {"output.weight", {384, 80}}});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_TRUE(config->has_head_bias);
  EXPECT_EQ(config->blocks[0].attn.rope.d_rot, 32);
  const auto gguf = places(SourceFormat::kGguf, "phi", *config);
  for (const char* name : {"blk.1.attn_v.weight", "blk.1.attn_qkv.weight"}) {
    EXPECT_TRUE(has_place(gguf, fmt::format("blocks.1.attn.w_v < {}", name))) << name;
  }
  EXPECT_TRUE(has_place(gguf, "unembed.b < output.bias"));
}

}  // namespace
}  // namespace vitro
