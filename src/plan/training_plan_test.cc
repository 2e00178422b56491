#include "plan/training_plan.h"

#include <gtest/gtest.h>

#include <string>

#include "base/saturating.h"
#include "plan/plan_test_util.h"

namespace vitro {
namespace {

using testing::planned_model;
using testing::PlannedModel;

constexpr int64_t kParameters7b = 6'738'415'616;

TrainingSpec spec(std::string_view recipe, TrainingShape shape) {
  return {.recipe = parse_train_recipe(recipe).value(), .shape = shape};
}

TrainingPlan plan_of(const PlannedModel& model, const TrainingSpec& spec) {
  auto plan = plan_training(model.config, model.slots, spec);
  EXPECT_TRUE(plan) << plan.error().message;
  return std::move(plan).value();
}

std::string message_of(const PlannedModel& model, const TrainingSpec& spec) {
  const auto plan = plan_training(model.config, model.slots, spec);
  return plan ? std::string() : plan.error().message;
}

int64_t amount_at(const PlanItem& root, std::string_view path) {
  const PlanItem* item = find_item(root, path);
  return item ? item->amount : 0;
}

const PlanItem& phase(const TrainingPlan& plan, std::string_view name) {
  for (const PlanItem& item : plan.phases) {
    if (item.name == name) return item;
  }
  ADD_FAILURE() << name;
  return plan.phases[0];
}

// 32 layers x 131,720 B a token, the final norm and the head's input (2 x 2h, a statistic), 12 B a logit.
TEST(TrainingPlan, ALlamaInstantByInstant) {
  const auto model = planned_model("llama-7b");
  const TrainingPlan plan = plan_of(model, spec("adamw-bf16", {.seq_len = 4096}));
  const int64_t n_saved = (int64_t{32} * 131'720 + 4 * 4096 + 4) * 4096, n_logits = (int64_t{12} * 32'000 + 4) * 4096;
  EXPECT_EQ(plan.n_parameters, kParameters7b);
  EXPECT_EQ(plan.n_trained, kParameters7b);
  EXPECT_EQ(plan.states.amount, 16 * kParameters7b);
  EXPECT_EQ(plan.activations.amount, n_saved);
  EXPECT_EQ(phase(plan, "init").amount, 14 * kParameters7b + int64_t{4} * 131'072'000);
  EXPECT_EQ(phase(plan, "forward").amount, 16 * kParameters7b + n_saved);
  EXPECT_EQ(phase(plan, "loss").amount, 16 * kParameters7b + n_saved + n_logits);
  // The residual's gradient and those of gate and up.
  EXPECT_EQ(phase(plan, "backward").amount, 16 * kParameters7b + n_saved + int64_t{4096} * 2 * (4096 + 2 * 11'008));
  EXPECT_EQ(phase(plan, "step").amount, 16 * kParameters7b);
  EXPECT_EQ(plan.phases[plan.peak].name, "loss");
  EXPECT_EQ(plan.peak_owner, "moments");
  EXPECT_EQ(plan.n_bytes(), 16 * kParameters7b + n_saved + n_logits);
}

// Which instant wins depends on the vocabulary, the loss, the recomputation and the rows.
TEST(TrainingPlan, TheWinningInstantAndItsOwner) {
  const auto gemma = planned_model("gemma-2b");  // 256,000 ids
  TrainingSpec one = spec("adamw-pure-bf16", {.seq_len = 8192, .micro_batch = 4});
  one.policy.recomputation = Recomputation::kFull;
  const TrainingPlan naive = plan_of(gemma, one);
  EXPECT_EQ(naive.phases[naive.peak].name, "loss");
  EXPECT_EQ(naive.peak_owner, "logits and loss");
  one.policy.loss = LossKind::kChunked;
  const TrainingPlan chunked = plan_of(gemma, one);
  EXPECT_EQ(chunked.phases[chunked.peak].name, "backward");
  EXPECT_LT(chunked.n_bytes(), naive.n_bytes());
  one.policy.recomputation = Recomputation::kNone;
  EXPECT_EQ(plan_of(gemma, one).peak_owner, "activations");
  const TrainingPlan muon = plan_of(planned_model("llama-7b"), spec("muon", {.seq_len = 16}));
  EXPECT_EQ(muon.phases[muon.peak].name, "step");
}

TEST(TrainingPlan, FullRecomputationKeepsInputsAndOneLayer) {
  TrainingSpec full = spec("adamw-bf16", {.seq_len = 4096});
  full.policy.recomputation = Recomputation::kFull;
  const TrainingPlan plan = plan_of(planned_model("llama-7b"), full);
  EXPECT_EQ(plan.activations.amount, (int64_t{32} * 2 * 4096 + 4 * 4096 + 4) * 4096);
  EXPECT_EQ(amount_at(phase(plan, "backward"), "recomputed"), int64_t{131'720} * 4096);
}

// Eight stages of ten layers: the first holds eight micro-batches of them.
TEST(TrainingPlan, TheMostLoadedStageIsShown) {
  auto model = planned_model("llama2-70b");
  TrainingSpec one = spec("adamw-bf16", {.seq_len = 4096, .n_micro_batches = 64});
  one.layout = {.tensor = 8, .pipeline = 8, .is_sequence_parallel = true};
  const TrainingPlan first = plan_of(model, one);
  EXPECT_EQ(first.stage, 0);
  EXPECT_EQ(amount_at(first.phases[first.peak], "logits and loss"), 0);
  // With few micro-batches in flight the vocabulary decides.
  one.shape.n_micro_batches = 1;
  const TrainingPlan last = plan_of(model, one);
  EXPECT_EQ(last.stage, 7);
  EXPECT_EQ(last.phases[last.peak].name, "loss");
}

// torchtitan, Llama 3.1 8B under FSDP: 82.4 GiB on 8 GPUs, 67.0 on 128. States of 16 B a parameter explain 14.0 of the
// 15.4 GiB between them.
TEST(TrainingPlan, ShardingExplainsThePublishedDifference) {
  const auto model = planned_model("llama3-8b");
  const auto gibibytes = [&](int64_t n_ranks) {
    TrainingSpec one = spec("adamw-f32", {.seq_len = 8192, .micro_batch = 2});
    one.layout = {.data = n_ranks, .zero_stage = 3};
    return static_cast<double>(plan_of(model, one).n_bytes()) / (1 << 30);
  };
  EXPECT_NEAR(gibibytes(8) - gibibytes(128), 14.0, 0.05);
  EXPECT_NEAR(gibibytes(8) - gibibytes(128), 82.4 - 67.0, 0.1 * (82.4 - 67.0));
}

// States of adapters alone, 16 B each of 4,194,304; the frozen model in its format.
TEST(TrainingPlan, AdaptersSaveStatesNotActivations) {
  const auto model = planned_model("llama-7b");
  TrainingSpec one = spec("adamw-bf16", {.seq_len = 512});
  one.lora = LoraSpec{};
  const TrainingPlan lora = plan_of(model, one);
  EXPECT_EQ(lora.n_trained, 4'194'304);
  EXPECT_EQ(lora.states.amount, 2 * kParameters7b + int64_t{16} * 4'194'304);
  EXPECT_EQ(lora.peak_owner, "frozen weights");
  const TrainingPlan full = plan_of(model, spec("adamw-bf16", {.seq_len = 512}));
  EXPECT_GT(lora.activations.amount, full.activations.amount * 7 / 10);
  one.lora->base = parse_weight_format("nf4-dq").value();
  const TrainingPlan qlora = plan_of(model, one);
  EXPECT_EQ(amount_at(qlora.states, "frozen weights"), 6'476'005'376 / 16'384 * 8452 + 2 * 262'410'240);
  EXPECT_EQ(amount_at(phase(qlora, "backward"), "dequantised matrix"), 2 * 11'008 * 4096);
  EXPECT_EQ(amount_at(phase(lora, "backward"), "dequantised matrix"), 0);
}

TEST(TrainingPlan, GradientsOnTheirWayHaveBuckets) {
  TrainingSpec one = spec("adamw-bf16", {.seq_len = 128});
  one.layout.data = 8;
  const auto model = planned_model("llama-7b");
  EXPECT_EQ(amount_at(phase(plan_of(model, one), "backward"), "gradient buckets"), int64_t{50} << 20);
  one.layout.data = 1;
  EXPECT_EQ(amount_at(phase(plan_of(model, one), "backward"), "gradient buckets"), 0);
}

// Mixtral: an eighth of the experts on each rank of --ep 8, everything else on all.
TEST(TrainingPlan, ExpertsOverRanks) {
  const auto model = planned_model("mixtral-8x7b");
  TrainingSpec one = spec("adamw-bf16", {.seq_len = 4096});
  one.layout = {.data = 8, .expert = 8};
  const TrainingPlan plan = plan_of(model, one);
  const int64_t n_experts = int64_t{32} * 8 * 3 * 4096 * 14'336;
  EXPECT_EQ(plan.n_parameters, 46'702'792'704);
  EXPECT_EQ(plan.states.amount, 16 * plan.n_parameters);
  EXPECT_EQ(plan.rank_states.amount, 16 * (plan.n_parameters - n_experts) + 16 * n_experts / 8);
  one.layout.zero_stage = 1;  // the other experts' ranks share none of ours
  EXPECT_EQ(plan_of(model, one).rank_states.amount,
            4 * (plan.n_parameters - n_experts) + 12 * (plan.n_parameters - n_experts) / 8 + 16 * n_experts / 8);
  one.layout.expert = 3;
  EXPECT_NE(message_of(model, one).find("--ep 3: does not divide --dp 8; --ep 3: does not divide 8 experts"),
            std::string::npos);
}

// The selection bias is not trained by gradients: 671,026,404,352 without it.
TEST(TrainingPlan, LatentAttentionAndExpertsOfDeepSeek) {
  TrainingSpec one = spec("adamw-bf16", {.seq_len = 4096});
  const TrainingPlan plan = plan_of(planned_model("deepseek-v3"), one);
  EXPECT_EQ(plan.n_parameters, 671'026'404'352);
  const int64_t n_dense_layer = 8 * 7168 + 2 * (576 + 512 + 2 * 1536) + 2 * 128 * (2 * 192 + 2 * 128) + 4 * 128 + 4 * 4;
  EXPECT_EQ(amount_at(plan.activations, "3 layers like 0"), int64_t{3} * 4096 * (n_dense_layer + 6 * 18'432));
  const int64_t n_routed = 8 * 6 * 2048 + 8 * 2 * 2 * 7168 + 8 * 8 + 4 * 256 + 6 * 2048;
  EXPECT_EQ(amount_at(plan.activations, "58 layers like 3"), int64_t{58} * 4096 * (n_dense_layer + n_routed));
}

// T5: each stack over its own rows; no stages.
TEST(TrainingPlan, AnEncoderBesideTheDecoder) {
  const auto model = planned_model("t5-base");
  TrainingSpec one = spec("adamw-bf16", {.seq_len = 128, .n_source = 512});
  const TrainingPlan plan = plan_of(model, one);
  EXPECT_EQ(plan.n_parameters, 222'903'552);
  const int64_t n_self = 8 * 768 + 2 * 4 * 768 + 4 * 12 + 2 * 3072 + 2 * 4;  // ReLU keeps its output alone
  EXPECT_EQ(amount_at(plan.activations, "encoder 12 layers"), 12 * 512 * n_self);
  EXPECT_EQ(amount_at(plan.activations, "12 layers"),
            12 * (128 * (n_self + 4 * 768 + 2 * 2 * 768 + 4 * 12 + 4) + 512 * 2 * 2 * 768));
  one.layout.pipeline = 2;
  EXPECT_NE(message_of(model, one).find("--pp 2: not planned for an encoder-decoder"), std::string::npos);
  one.layout.pipeline = 1;
  one.shape.n_source = 0;
  EXPECT_NE(message_of(model, one).find("--source 0"), std::string::npos);
}

TEST(TrainingPlan, AnEncoderAloneHasNoLogits) {
  const TrainingPlan plan = plan_of(planned_model("bert-base"), spec("adamw-bf16", {.seq_len = 512}));
  EXPECT_EQ(plan.n_parameters, 109'482'240);
  EXPECT_EQ(amount_at(phase(plan, "loss"), "logits and loss"), 0);
  // Post-norm: 4 x 2h of inputs of halves and norms, GELU of 4h.
  EXPECT_EQ(amount_at(plan.activations, "12 layers"), int64_t{12} * 512 * (32 * 768 + 4 * 12 + 16));
}

// Every line that is no sum says how it came about.
void expect_words(const PlanItem& item) {
  if (item.parts.empty()) {
    EXPECT_FALSE(item.formula.empty()) << item.name;
  }
  for (const PlanItem& part : item.parts) expect_words(part);
}

TEST(TrainingPlan, EveryLineHasItsFormula) {
  TrainingSpec one = spec("muon", {.seq_len = 128, .n_micro_batches = 8});
  one.layout = {.data = 8, .tensor = 4, .pipeline = 4, .n_chunks = 2, .is_sequence_parallel = true, .zero_stage = 1};
  const TrainingPlan plan = plan_of(planned_model("llama-7b"), one);
  for (const PlanItem& item : plan.phases) expect_words(item);
  one.lora = LoraSpec{};
  for (const PlanItem& item : plan_of(planned_model("llama-7b"), one).phases) expect_words(item);
}

TEST(TrainingPlan, NonsenseNamesTheParameter) {
  const auto model = planned_model("llama-7b");
  struct Case {
    TrainingShape shape;
    ActivationPolicy policy;
    std::string_view words;
  };
  constexpr int64_t kHuge = 1'000'000'000'000'000'000;
  const Case cases[] = {
      {{.seq_len = 0}, {}, "--context 0"},
      {{.seq_len = -1}, {}, "--context -1"},
      {{.seq_len = kHuge}, {}, "--context 1000000000000000000"},
      {{.seq_len = 1, .n_source = 7}, {}, "--source 7"},
      {{.seq_len = 1, .micro_batch = 0}, {}, "--batch 0"},
      {{.seq_len = 1, .n_micro_batches = kHuge}, {}, "--accumulate 1000000000000000000"},
      {{.seq_len = 1}, {.element_bytes = 0}, "activation bytes 0"},
      {{.seq_len = 1}, {.layers_per_checkpoint = kHuge}, "--checkpoint-layers 1000000000000000000"},
      {{.seq_len = 1}, {.layers_per_checkpoint = 2}, "--checkpoint-layers 2: needs --recompute full"},
      {{.seq_len = 1}, {.recomputation = Recomputation::kSelective}, "--recompute selective"},
      {{.seq_len = 1}, {.loss_rows = -5}, "loss-rows -5"},
  };
  for (const Case& one : cases) {
    TrainingSpec wrong = spec("adamw-bf16", one.shape);
    wrong.policy = one.policy;
    EXPECT_NE(message_of(model, wrong).find(one.words), std::string::npos)
        << one.words << ": " << message_of(model, wrong);
  }
  TrainingSpec wrong = spec("adamw-bf16", {.seq_len = 1});
  wrong.layout.pipeline = 33;
  EXPECT_NE(message_of(model, wrong).find("--pp 33"), std::string::npos);
  PlannedModel empty;
  EXPECT_NE(message_of(empty, spec("adamw-bf16", {.seq_len = 1})).find("layers 0"), std::string::npos);
  EXPECT_NE(message_of(planned_model("gpt2"), spec("adamw-bf16", {.seq_len = 1025})).find("--context 1025"),
            std::string::npos);
}

TEST(TrainingPlan, AmountsBeyondSixtyFourBitsAreRefused) {
  TrainingSpec huge = spec("adamw-bf16", {.seq_len = kMaxContext, .micro_batch = int64_t{1} << 20});
  const std::string message = message_of(planned_model("llama-7b"), huge);
  EXPECT_NE(message.find("more than 2^63 bytes"), std::string::npos) << message;
}

}  // namespace
}  // namespace vitro
