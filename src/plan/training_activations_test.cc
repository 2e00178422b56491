#include "plan/training_activations.h"

#include <gtest/gtest.h>

#include "plan/plan_test_util.h"

namespace vitro {
namespace {

using testing::planned_model;

int64_t amount_at(const PlanItem& root, std::string_view path) {
  const PlanItem* item = find_item(root, path);
  return item ? item->amount : 0;
}

// Of one layer, without the float32 statistics of norms, which Korthikanti et al. neglect.
int64_t papers_bytes(const ActivationQuestion& question) {
  const PlanItem item = block_activation_item(question, question.config.blocks[0]);
  return item.amount - amount_at(item, "statistics");
}

constexpr ActivationPolicy kPaper{.is_tiled = false, .has_dropout = true};
constexpr ActivationPolicy kPaperSelective{
    .is_tiled = false, .recomputation = Recomputation::kSelective, .has_dropout = true};

// Korthikanti et al. 2022, equation 1: sbh (34 + 5 a s / h), for GPT-3: h 12288, a 96, s 2048.
TEST(TrainingActivations, TheGptBlockOfThePaper) {
  const auto gpt3 = planned_model("gpt3-175b");
  const int64_t s = 2048, b = 4, h = 12'288, a = 96;
  const TrainingShape shape{.seq_len = s, .micro_batch = b};
  EXPECT_EQ(papers_bytes({gpt3.config, shape, kPaper}), 34 * s * b * h + 5 * a * s * s * b);
  EXPECT_EQ(papers_bytes({gpt3.config, shape, kPaperSelective}), 34 * s * b * h);
}

// Table 2 of the paper, by row: tensor parallel, with sequence parallel, with selective recomputation.
TEST(TrainingActivations, TheParallelBlocksOfThePaper) {
  const auto gpt3 = planned_model("gpt3-175b");
  const int64_t s = 2048, b = 1, h = 12'288, a = 96, t = 8;
  const TrainingShape shape{.seq_len = s, .micro_batch = b};
  const ParallelLayout tensor{.tensor = t}, sequence{.tensor = t, .is_sequence_parallel = true};
  EXPECT_EQ(papers_bytes({gpt3.config, shape, kPaper, tensor}), s * b * h * (10 + 24 / t) + 5 * a * s * s * b / t);
  EXPECT_EQ(papers_bytes({gpt3.config, shape, kPaper, sequence}), (34 * s * b * h + 5 * a * s * s * b) / t);
  EXPECT_EQ(papers_bytes({gpt3.config, shape, kPaperSelective, tensor}), s * b * h * (10 + 24 / t));
  EXPECT_EQ(papers_bytes({gpt3.config, shape, kPaperSelective, sequence}), 34 * s * b * h / t);
}

TEST(TrainingActivations, FullRecomputationKeepsTheInputsOfLayers) {
  const auto gpt3 = planned_model("gpt3-175b");
  ActivationPolicy policy = kPaper;
  policy.recomputation = Recomputation::kFull;
  const int64_t s = 2048, h = 12'288, n_layer = 96;
  ActivationQuestion question{gpt3.config, {.seq_len = s}, policy};
  EXPECT_EQ(amount_at(saved_item(question, 0), "checkpoints"), 2 * s * h * n_layer);
  const int64_t one_layer = block_activation_item(question, gpt3.config.blocks[0]).amount;
  EXPECT_EQ(recomputed_item(question, 0).amount, one_layer);
  question.policy.layers_per_checkpoint = 10;
  EXPECT_EQ(amount_at(saved_item(question, 0), "checkpoints"), 2 * s * h * 10);  // ceil(96 / 10)
  EXPECT_EQ(recomputed_item(question, 0).amount, 10 * one_layer);
}

// 8h + 2 (2 Hc + 2 Gc) + 4H + 6f + 8 a token.
TEST(TrainingActivations, ATokenAndLayerOfALlama) {
  const auto llama = planned_model("llama-7b");
  const auto bytes_of_a_token = [&](const ActivationPolicy& policy) {
    const int64_t n = 4096;
    const ActivationQuestion question{llama.config, {.seq_len = n}, policy};
    const int64_t n_bytes = block_activation_item(question, llama.config.blocks[0]).amount;
    EXPECT_EQ(n_bytes % n, 0);
    return n_bytes / n;
  };
  EXPECT_EQ(bytes_of_a_token({}), 131'720);
  EXPECT_EQ(bytes_of_a_token({.recomputes_product = true}), 131'720 - 2 * 11'008);
  EXPECT_EQ(bytes_of_a_token({.recomputes_norms = true}), 131'720 - 4 * 4096);
  // Without tiles: no log-sum-exp, 2 x 2 B x 32 x 4,096 of scores and probabilities.
  const int64_t n_naive = 131'720 - 4 * 32 + 4 * 32 * 4096;
  EXPECT_EQ(bytes_of_a_token({.is_tiled = false}), n_naive);
  EXPECT_EQ(bytes_of_a_token({.is_tiled = false, .recomputation = Recomputation::kSelective}), 131'720 - 4 * 32);
}

// Grouped heads: Llama 3 8B has 8 of 32; QK norms keep q and k once more.
TEST(TrainingActivations, GroupedHeadsAndTheirNorms) {
  const auto llama = planned_model("llama3-8b");
  const ActivationQuestion grouped{llama.config, {.seq_len = 1}};
  EXPECT_EQ(block_activation_item(grouped, llama.config.blocks[0]).amount,
            8 * 4096 + 2 * (2 * 4096 + 2 * 1024) + 4 * 32 + 6 * 14'336 + 8);
  const auto qwen = planned_model("qwen3-8b");
  const ActivationQuestion normed{qwen.config, {.seq_len = 1}};
  EXPECT_EQ(block_activation_item(normed, qwen.config.blocks[0]).amount,
            8 * 4096 + 2 * (2 * 4096 + 2 * 1024) + 4 * 32 + 6 * 12'288 + 8 + 2 * (4096 + 1024) + 4 * (32 + 8));
}

// Four norms a layer: the outputs of both halves are inputs of norms.
TEST(TrainingActivations, SandwichedHalves) {
  const auto gemma = planned_model("gemma2-9b");
  const ActivationQuestion question{gemma.config, {.seq_len = 1}};
  EXPECT_EQ(block_activation_item(question, gemma.config.blocks[0]).amount,
            12 * 3584 + 2 * (2 * 16 * 256 + 2 * 8 * 256) + 4 * 16 + 6 * 14'336 + 4 * 4);
}

// Falcon 7B: one norm, whose output both halves read; Phi-2 the same with biases.
TEST(TrainingActivations, ParallelHalvesShareTheirNorm) {
  const auto falcon = planned_model("falcon-7b");
  const ActivationQuestion question{falcon.config, {.seq_len = 1}};
  const int64_t h = 4544, heads = 71;
  EXPECT_EQ(block_activation_item(question, falcon.config.blocks[0]).amount,
            2 * 2 * h + 2 * (2 * h + 2 * 64) + 4 * heads + 2 * 2 * 4 * h + 8);
}

// ReLU's gradient needs no more than its output.
TEST(TrainingActivations, ReluKeepsItsOutputAlone) {
  auto gpt = planned_model("gpt2");
  const auto ffn_bytes = [&] {
    const PlanItem item = block_activation_item({gpt.config, {.seq_len = 1}}, gpt.config.blocks[0]);
    return amount_at(item, "pre-activation") + amount_at(item, "activation");
  };
  EXPECT_EQ(ffn_bytes(), 2 * 2 * 3072);
  gpt.config.blocks[0].ffn.activation = ActivationKind::kRelu;
  EXPECT_EQ(ffn_bytes(), 2 * 3072);
}

// The hidden units times the experts that a token passes, copies of its row for them and their outputs; float32 logits.
TEST(TrainingActivations, ExpertsKeepWhatATokenPasses) {
  auto llama = planned_model("llama-7b");
  BlockSpec block = llama.config.blocks[0];
  block.ffn.moe = {.n_expert = 8, .n_expert_used = 2, .d_ff_expert = 14'336, .d_ff_shared = 1000};
  const PlanItem item = block_activation_item({llama.config, {.seq_len = 1}}, block);
  const int64_t n_dense = 131'720 - 6 * 11'008;
  EXPECT_EQ(item.amount, n_dense + 2 * 6 * 14'336 + 6 * 1000 + 4 * 8 + 8 * 2 + 2 * 2 * 2 * 4096);
  EXPECT_EQ(amount_at(item, "router logits"), 4 * 8);
}

// Latent attention (DeepSeek-V3): ranks 1,536 and 512 + 64, heads of 128 + 64 and 128.
TEST(TrainingActivations, LatentVectorsAndTheHeadsMadeOfThem) {
  auto llama = planned_model("llama-7b");
  BlockSpec block = llama.config.blocks[0];
  block.attn = {.n_head = 128, .n_kv_head = 128, .d_head = 192, .d_head_v = 128};
  block.attn.q_lora_rank = 1536;
  block.attn.kv_lora_rank = 512;
  block.attn.d_head_nope = 128;
  block.attn.d_head_rope = 64;
  const int64_t n_heads = 128 * 192 + 128 * 192 + 128 * 128 + 128 * 128;  // q, k, v, output
  EXPECT_EQ(block_activation_item({llama.config, {.seq_len = 1}}, block).amount,
            8 * 4096 + 2 * (512 + 64 + 512 + 2 * 1536) + 2 * n_heads + 4 * 128 + 6 * 11'008 + 4 * 4);
}

// LoRA on q and v: inputs of adapted matrices, norms, attention and the nonlinearity stay; the input of the
// feed-forward and its product are not wanted.
TEST(TrainingActivations, AdaptersDropInputsOfFrozenMatrices) {
  const auto llama = planned_model("llama-7b");
  ActivationQuestion question{llama.config, {.seq_len = 1}};
  question.is_lora = true;
  question.lora_rank = 8;
  question.adapted = parse_lora_targets("q,v").value();
  const BlockSpec& block = llama.config.blocks[0];
  EXPECT_EQ(block_activation_item(question, block).amount, 131'720 - 2 * 4096 - 2 * 11'008 + 2 * 2 * 8);
  question.adapted = parse_lora_targets("down").value();
  EXPECT_EQ(block_activation_item(question, block).amount, 131'720 - 4 * 4096 + 2 * 8);
  question.adapted = kAllLoraTargets;
  EXPECT_EQ(block_activation_item(question, block).amount, 131'720 + 7 * 2 * 8);
}

// llm.c, train_gpt2.cu, d12 in bfloat16 with its own flash attention and GELU made again, B = 56, T = 1024, vocabulary
// padded to 50,304: 19,466,452,992 B; its log prints 18564 MiB.
TEST(TrainingActivations, TheListOfLlmC) {
  auto gpt = planned_model("gpt2");
  gpt.config.vocab_size = 50'304;
  const ActivationPolicy policy{.recomputes_product = true, .loss = LossKind::kInPlace};
  const ActivationQuestion question{gpt.config, {.seq_len = 1024, .micro_batch = 56}, policy};
  const int64_t n_bytes = saved_item(question, 0).amount + recomputed_item(question, 0).amount +
                          loss_item(question).amount + working_gradient_item(question, 0).amount;
  EXPECT_EQ(n_bytes, 19'466'452'992);
  EXPECT_EQ(n_bytes >> 20, 18'564);
}

// llm.c on a CPU, everything in float32, B = 4, T = 64: its README says 73,323,776 activations; 73,347,840 with the
// vocabulary padded to 50,304. It also keeps the
// outputs of both projections (2 x 12 x BTC), which the backward does not read, probabilities beside the logits, and
// the scores under the name preatt.
TEST(TrainingActivations, TheCpuListOfLlmC) {
  auto gpt = planned_model("gpt2");
  const ActivationPolicy policy{.element_bytes = 4, .is_tiled = false, .loss = LossKind::kInPlaceF32};
  const auto n_activations = [&](int64_t vocab_size) {
    gpt.config.vocab_size = vocab_size;
    const ActivationQuestion question{gpt.config, {.seq_len = 64, .micro_batch = 4}, policy};
    const int64_t n_outputs = int64_t{2} * 12 * 4 * 64 * 768, n_probabilities = int64_t{4} * 64 * vocab_size;
    return (saved_item(question, 0).amount + loss_item(question).amount) / 4 + n_outputs + n_probabilities;
  };
  EXPECT_EQ(n_activations(50'257), 73'323'776);
  EXPECT_EQ(n_activations(50'304), 73'347'840);
}

// Naive logits are 10 to 12 bytes a row and id: ms-swift's 32,768 x 151,936 float32 is 18.55 GiB a copy.
TEST(TrainingActivations, LogitsAndTheirGradients) {
  auto model = planned_model("llama-7b");
  model.config.vocab_size = 151'936;
  const auto loss = [&](LossKind kind, int64_t element_bytes = 2) {
    const ActivationPolicy policy{.element_bytes = element_bytes, .loss = kind, .loss_rows = 1024};
    const PlanItem item = loss_item({model.config, {.seq_len = 32'768}, policy});
    return item.amount - amount_at(item, "losses");
  };
  const int64_t n = int64_t{32'768} * 151'936;
  EXPECT_EQ(loss(LossKind::kNaive), 12 * n);
  EXPECT_EQ(loss(LossKind::kShared), 10 * n);
  EXPECT_EQ(loss(LossKind::kInPlaceF32), 4 * n);
  // All in float32: nothing is converted.
  EXPECT_EQ(loss(LossKind::kNaive, 4), 8 * n);
  EXPECT_EQ(loss(LossKind::kShared, 4), 8 * n);
  EXPECT_EQ(loss(LossKind::kInPlaceF32, 4), 4 * n);
  EXPECT_EQ(loss(LossKind::kInPlace, 4), 4 * n);
  EXPECT_EQ(loss(LossKind::kChunked, 4), int64_t{4} * 1024 * 151'936);
  EXPECT_EQ(loss(LossKind::kChunked), 4 * int64_t{1024} * 151'936);
  EXPECT_NEAR(static_cast<double>(4 * n) / (1 << 30), 18.547, 0.001);
}

// The head's part in the paper: 4sbh / t (1 + v / h) on the last stage.
TEST(TrainingActivations, TheEndOfThePaper) {
  const auto gpt3 = planned_model("gpt3-175b");
  const int64_t s = 2048, b = 2, h = 12'288;
  ActivationPolicy policy = kPaper;
  policy.loss = LossKind::kInPlaceF32;
  const ActivationQuestion question{gpt3.config, {.seq_len = s, .micro_batch = b}, policy};
  const PlanItem saved = saved_item(question, 0);
  const int64_t n_end = amount_at(saved, "final norm and head/final norm input") +
                        amount_at(saved, "final norm and head/head input") +
                        amount_at(loss_item(question), "float32 logits");
  EXPECT_EQ(n_end, 4 * s * b * h + 4 * s * b * gpt3.config.vocab_size);
  EXPECT_EQ(amount_at(saved, "embedding/dropout mask"), s * b * h);
}

// 1F1B: the first of p stages holds p micro-batches; interleaved 1 + (p - 1) / (p v) times as much (section 4.2.3).
TEST(TrainingActivations, StagesHoldMicroBatchesInFlight) {
  const auto llama = planned_model("llama-7b");
  ActivationQuestion question{llama.config, {.seq_len = 4096, .n_micro_batches = 64}, {}, {.pipeline = 4}};
  const int64_t n_layer = int64_t{131'720} * 4096;
  EXPECT_EQ(saved_item(question, 0).amount, 4 * 8 * n_layer);
  EXPECT_EQ(saved_item(question, 1).amount, 3 * 8 * n_layer);
  question.shape.n_micro_batches = 2;
  EXPECT_EQ(saved_item(question, 0).amount, 2 * 8 * n_layer);
  question.shape.n_micro_batches = 64;
  question.layout.n_chunks = 2;
  EXPECT_EQ(saved_item(question, 0).amount, 32 * n_layer * (4 * 2 + 3) / (4 * 2));
}

// The encoder's layers over the source, the decoder's over the target; cross attention's k and v over the source.
TEST(TrainingActivations, TwoStacks) {
  ModelConfig config{.kind = ModelKind::kEncoderDecoder, .d_model = 64, .vocab_size = 100, .n_ctx = 128};
  BlockSpec block;
  block.norm.kind = NormKind::kRms;
  block.attn = {.n_head = 4, .n_kv_head = 4, .d_head = 16, .d_head_v = 16};
  block.ffn = {.d_ff = 256, .is_gated = false, .activation = ActivationKind::kRelu};
  config.encoder_blocks = {block, block};
  block.has_cross_attention = true;
  config.blocks = {block};
  config.final_norm.kind = NormKind::kRms;
  const int64_t n = 10, m = 30, h = 64;
  const PlanItem saved = saved_item({config, {.seq_len = n, .n_source = m}}, 0);
  const int64_t n_self = 8 * h + 2 * 4 * h + 4 * 4 + 2 * 256 + 8;  // a row of a layer without cross attention
  EXPECT_EQ(amount_at(saved, "encoder 2 layers"), 2 * m * n_self);
  EXPECT_EQ(amount_at(saved, "1 layer"), n * n_self + n * (4 * h + 2 * 2 * h + 4 * 4 + 4) + m * 2 * 2 * h);
  EXPECT_EQ(amount_at(saved, "final norm and head"), (n + m) * (2 * h + 2 * h + 4));
}

}  // namespace
}  // namespace vitro
