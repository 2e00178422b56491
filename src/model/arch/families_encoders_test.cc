// Encoders and encoder-decoders: configurations as they are published, the knobs behind their keys, and every refusal.
// Counts of parameters are those of the published weights.
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

std::string with_members(std::string_view text, std::string_view members) {
  return to_string(testing::changed(text, members), 10'000);
}

constexpr std::string_view kBert =
    R"({"architectures": ["BertModel"], "attention_probs_dropout_prob": 0.1, "gradient_checkpointing": false,
        "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 768, "initializer_range": 0.02,
        "intermediate_size": 3072, "layer_norm_eps": 1e-12, "max_position_embeddings": 512, "model_type": "bert",
        "num_attention_heads": 12, "num_hidden_layers": 12, "pad_token_id": 0, "position_embedding_type": "absolute",
        "transformers_version": "4.6.0.dev0", "type_vocab_size": 2, "use_cache": true, "vocab_size": 30522})";

TEST(BertTest, AsPublished) {
  EXPECT_EQ(n_parameters(kBert), 109'482'240);                                          // uncased
  EXPECT_EQ(n_parameters(with_members(kBert, R"("vocab_size": 28996)")), 108'310'272);  // cased
  const ModelConfig config = good_hf(kBert);
  EXPECT_EQ(config.kind, ModelKind::kEncoder);
  EXPECT_EQ(config.blocks[0].norm_place, NormPlace::kPost);
  EXPECT_EQ(config.blocks[0].attn.mask, MaskKind::kFull);
  EXPECT_EQ(config.final_norm.kind, NormKind::kNone);
  EXPECT_EQ(config.n_token_types, 2);
  EXPECT_TRUE(config.has_pooler);
  expect_refusals(kBert, {{R"("position_embedding_type": "relative_key")", "position_embedding_type"},
                          {R"("architectures": ["BertForQuestionAnswering"])", "this head is not implemented"},
                          {R"("type_vocab_size": 0)", "type_vocab_size"},
                          {R"("is_encoder_decoder": true)", "is_encoder_decoder"},
                          {R"("num_attention_heads": 7)", "attn.n_head"}});
}

// 30,522 biases of the logits, 768 x 768 + 768 of the transform and 2 x 768 of its norm, and no pooler.
TEST(BertTest, HeadsComeFromTheArchitecture) {
  constexpr int64_t kPooler = 768 * 768 + 768, kBody = 109'482'240 - kPooler;
  EXPECT_EQ(n_parameters(with_members(kBert, R"("architectures": ["BertForMaskedLM"])")),
            kBody + 30522 + 768 * 768 + 768 + 2 * 768);
  const std::string labels = R"("id2label": {"0": "a", "1": "b", "2": "c"}, )";
  EXPECT_EQ(n_parameters(with_members(kBert, labels + R"("architectures": ["BertForSequenceClassification"])")),
            kBody + kPooler + 3 * 768 + 3);
  EXPECT_EQ(n_parameters(with_members(kBert, R"("architectures": ["BertForTokenClassification"])")),
            kBody + 2 * 768 + 2);
}

TEST(BertTest, OldNamesOfNormsAreFound) {
  const auto arch = find_architecture(SourceFormat::kHuggingFace, testing::json(kBert));
  for (const TensorSlot& slot : (*arch)->tensor_slots(SourceFormat::kHuggingFace, good_hf(kBert))) {
    if (slot.name != "embed_norm.gain") continue;
    std::vector<std::string> names;
    for (const TensorSource& source : slot.sources) names.push_back(source.name);
    EXPECT_EQ(names, (std::vector<std::string>{"bert.embeddings.LayerNorm.weight", "embeddings.LayerNorm.weight",
                                               "bert.embeddings.LayerNorm.gamma", "embeddings.LayerNorm.gamma"}));
  }
}

TEST(RobertaTest, AsPublished) {
  constexpr std::string_view kText =
      R"({"architectures": ["RobertaModel"], "attention_probs_dropout_prob": 0.1, "bos_token_id": 0,
          "eos_token_id": 2, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 768,
          "initializer_range": 0.02, "intermediate_size": 3072, "layer_norm_eps": 1e-05,
          "max_position_embeddings": 514, "model_type": "roberta", "num_attention_heads": 12,
          "num_hidden_layers": 12, "pad_token_id": 1, "type_vocab_size": 1, "vocab_size": 50265})";
  EXPECT_EQ(n_parameters(kText), 124'645'632);  // with the pooler that the bare body has
  const ModelConfig config = good_hf(kText);
  EXPECT_EQ(config.position_offset, 2);
  EXPECT_EQ(config.n_ctx, 512);
  EXPECT_EQ(config.n_position_rows, 514);
  expect_refusals(kText, {{R"("pad_token_id": 600)", "leaves no positions"}});
}

TEST(DistilBertTest, AsPublished) {
  constexpr std::string_view kText =
      R"({"activation": "gelu", "architectures": ["DistilBertModel"], "attention_dropout": 0.1, "dim": 768,
          "dropout": 0.1, "hidden_dim": 3072, "initializer_range": 0.02, "max_position_embeddings": 512,
          "model_type": "distilbert", "n_heads": 12, "n_layers": 6, "pad_token_id": 0, "qa_dropout": 0.1,
          "seq_classif_dropout": 0.2, "sinusoidal_pos_embds": false, "tie_weights_": true, "vocab_size": 30522})";
  EXPECT_EQ(n_parameters(kText), 66'362'880);
  EXPECT_FALSE(good_hf(kText).has_pooler);
}

constexpr std::string_view kT5 =
    R"({"architectures": ["T5ForConditionalGeneration"], "d_ff": 3072, "d_kv": 64, "d_model": 768,
        "decoder_start_token_id": 0, "dropout_rate": 0.1, "eos_token_id": 1, "initializer_factor": 1.0,
        "is_encoder_decoder": true, "layer_norm_epsilon": 1e-06, "model_type": "t5", "n_positions": 512,
        "num_heads": 12, "num_layers": 12, "output_past": true, "pad_token_id": 0,
        "relative_attention_num_buckets": 32, "vocab_size": 32128})";

TEST(T5Test, AsPublished) {
  EXPECT_EQ(n_parameters(kT5), 222'903'552);
  const ModelConfig config = good_hf(kT5);
  EXPECT_EQ(config.encoder_blocks.size(), 12u);
  EXPECT_EQ(config.blocks.size(), 12u);
  EXPECT_TRUE(config.blocks[0].attn.has_bias_table && config.encoder_blocks[0].attn.has_bias_table);
  EXPECT_FALSE(config.blocks[1].attn.has_bias_table);
  EXPECT_EQ(config.blocks[0].attn.mask, MaskKind::kCausal);
  EXPECT_EQ(config.encoder_blocks[0].attn.mask, MaskKind::kFull);
  EXPECT_TRUE(config.blocks[0].has_cross_attention);
  EXPECT_FALSE(config.encoder_blocks[0].has_cross_attention);
  EXPECT_EQ(config.blocks[0].attn.scale, 1.0);
  EXPECT_DOUBLE_EQ(config.logit_scale, 1.0 / std::sqrt(768.0));
  EXPECT_EQ(config.bias_max_distance, 128);
  expect_refusals(kT5, {{R"("feed_forward_proj": "gelu")", "feed_forward_proj"},
                        {R"("is_encoder_decoder": false)", "is_encoder_decoder"},
                        {R"("relative_attention_num_buckets": 0)", "relative_attention_num_buckets"},
                        {R"("num_layers": 6000, "num_decoder_layers": 6000)", "encoder.n_layer"},
                        {R"("architectures": ["T5EncoderModelWithHead"])", "this head is not implemented"},
                        {R"("is_gated_act": true)", "is_gated_act"}});
}

TEST(T5Test, FlanBaseIsGatedAndHasAHeadOfItsOwn) {
  const std::string flan =
      with_members(kT5, R"("d_ff": 2048, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false)");
  EXPECT_EQ(n_parameters(flan), 247'577'856);
  const ModelConfig config = good_hf(flan);
  EXPECT_EQ(config.blocks[0].ffn.activation, ActivationKind::kGeluTanh);
  EXPECT_EQ(config.logit_scale, 1.0);
  // Flan-T5 small: 6 heads of 64 are less than its width.
  const std::string small =
      with_members(flan, R"("d_model": 512, "d_ff": 1024, "num_heads": 6, "num_layers": 8, "num_decoder_layers": 8)");
  EXPECT_EQ(n_parameters(small), 76'961'152);
}

TEST(T5Test, StacksMayDiffer) {
  const ModelConfig config = good_hf(with_members(kT5, R"("num_decoder_layers": 2)"));
  EXPECT_EQ(config.blocks.size(), 2u);
  EXPECT_EQ(config.encoder_blocks.size(), 12u);
}

TEST(BartTest, AsPublished) {
  constexpr std::string_view kText =
      R"({"activation_dropout": 0.1, "activation_function": "gelu", "add_bias_logits": false,
          "add_final_layer_norm": false, "architectures": ["BartForConditionalGeneration"], "attention_dropout": 0.1,
          "bos_token_id": 0, "classif_dropout": 0.1, "classifier_dropout": 0.0, "d_model": 768,
          "decoder_attention_heads": 12, "decoder_ffn_dim": 3072, "decoder_layerdrop": 0.0, "decoder_layers": 6,
          "decoder_start_token_id": 2, "dropout": 0.1, "early_stopping": true, "encoder_attention_heads": 12,
          "encoder_ffn_dim": 3072, "encoder_layerdrop": 0.0, "encoder_layers": 6, "eos_token_id": 2,
          "forced_eos_token_id": 2, "gradient_checkpointing": false, "init_std": 0.02, "is_encoder_decoder": true,
          "max_position_embeddings": 1024, "model_type": "bart", "no_repeat_ngram_size": 3,
          "normalize_before": false, "normalize_embedding": true, "num_beams": 4, "num_hidden_layers": 6,
          "pad_token_id": 1, "scale_embedding": false, "vocab_size": 50265})";
  EXPECT_EQ(n_parameters(kText), 139'420'416);
  const ModelConfig config = good_hf(kText);
  EXPECT_EQ(config.n_position_rows, 1026);
  EXPECT_EQ(config.embed_norm.kind, NormKind::kLayerNorm);
  EXPECT_EQ(config.blocks[0].norm_place, NormPlace::kPost);
  expect_refusals(kText, {{R"("normalize_before": true)", "normalize_before"},
                          {R"("static_position_embeddings": true)", "static_position_embeddings"},
                          {R"("architectures": ["BartForSequenceClassification"])", "this head is not implemented"}});
  const ModelConfig mbart =
      good_hf(with_members(kText, R"("model_type": "mbart", "normalize_before": true, "add_final_layer_norm": true)"));
  EXPECT_EQ(mbart.blocks[0].norm_place, NormPlace::kPre);
  EXPECT_EQ(mbart.final_norm.kind, NormKind::kLayerNorm);
}

}  // namespace
}  // namespace vitro
