#include "plan/training_states.h"

#include <gtest/gtest.h>

#include "plan/plan_test_util.h"

namespace vitro {
namespace {

using testing::planned_model;
using testing::PlannedModel;

constexpr int64_t kParameters7b = 6'738'415'616;  // research B6.1, and the file itself
constexpr int64_t kBlockMatrices7b = 32 * (4 * 4096 * 4096 + int64_t{3} * 4096 * 11'008);

TrainRecipe recipe(std::string_view name) { return parse_train_recipe(name).value(); }

std::vector<RankTensor> tensors_of(const PlannedModel& model) { return rank_tensors(model.config, model.slots, {})[0]; }

int64_t states_7b(std::string_view name, const ParallelLayout& layout = {}) {
  return state_item(tensors_of(planned_model("llama-7b")), recipe(name), layout).amount;
}

int64_t amount_at(const PlanItem& root, std::string_view path) {
  const PlanItem* item = find_item(root, path);
  return item ? item->amount : -1;
}

// 16, 18 and 20 bytes a parameter: 107.8, 121.3, 134.8 GB.
TEST(TrainingStates, ALlamaWithAdam) {
  EXPECT_EQ(states_7b("adamw-bf16"), 107'814'649'856);
  EXPECT_EQ(states_7b("adamw-bf16-f32-grads"), 121'291'481'088);
  EXPECT_EQ(states_7b("adamw-bf16-both-grads"), 134'768'312'320);
  EXPECT_EQ(states_7b("adamw-f32"), 16 * kParameters7b);
  EXPECT_EQ(states_7b("adamw-pure-bf16"), 8 * kParameters7b);
}

TEST(TrainingStates, ByOwnerAndComponentWithTheArithmetic) {
  const PlanItem states = state_item(tensors_of(planned_model("llama-7b")), recipe("adamw-bf16"), {});
  EXPECT_EQ(amount_at(states, "weights"), 2 * kParameters7b);
  EXPECT_EQ(amount_at(states, "gradients"), 2 * kParameters7b);
  EXPECT_EQ(amount_at(states, "master weights"), 4 * kParameters7b);
  EXPECT_EQ(amount_at(states, "moments"), 8 * kParameters7b);
  EXPECT_EQ(amount_at(states, "moments/ffn"), int64_t{8} * 32 * 3 * 4096 * 11'008);
  EXPECT_EQ(amount_at(states, "weights/norms"), 2 * 266'240);
  EXPECT_EQ(amount_at(states, "weights/head"), 2 * 131'072'000);
  EXPECT_EQ(find_item(states, "moments/embedding")->arithmetic, "131,072,000 x 2 x 4 B");
  EXPECT_EQ(find_item(states, "float32 gradients"), nullptr);
}

// Blocks of 256 divide every tensor of this model: 1 B + 4 B / 256 for each of two moments.
TEST(TrainingStates, MomentsOfEightBits) {
  EXPECT_EQ(states_7b("adam8bit"), 10 * kParameters7b + kParameters7b / 32);
  const RankTensor small{.rows = 1, .cols = 4095}, odd{.rows = 1, .cols = 4097};
  const auto moments = [](const RankTensor& tensor) {
    return amount_at(state_item(std::vector{tensor}, recipe("adam8bit"), {}), "moments");
  };
  EXPECT_EQ(moments(small), 8 * 4095);           // stays in float32
  EXPECT_EQ(moments(odd), 2 * (4097 + 17 * 4));  // 17 blocks, the last of one value
}

TEST(TrainingStates, MuonOfMatricesAdamOfTheRest) {
  EXPECT_EQ(states_7b("muon"), 12 * kBlockMatrices7b + 16 * (kParameters7b - kBlockMatrices7b));
  const PlanItem work = optimizer_temporary_item(tensors_of(planned_model("llama-7b")), recipe("muon"));
  EXPECT_EQ(work.amount, int64_t{2} * 2 * (11'008 * 4096 + 4096 * 4096));
  EXPECT_EQ(work.certainty, Certainty::kEstimated);
  EXPECT_EQ(optimizer_temporary_item(tensors_of(planned_model("llama-7b")), recipe("adamw-bf16")).amount, 0);
}

TEST(TrainingStates, SumsOfRowsAndColumnsInPlaceOfMoments) {
  EXPECT_EQ(states_7b("sgd-momentum"), 12 * kParameters7b);
  const int64_t n_sums = 32 * (4 * (4096 + 4096) + 3 * (4096 + 11'008)) + 2 * (32'000 + 4096);
  EXPECT_EQ(states_7b("adafactor"), 8 * kParameters7b + 4 * (n_sums + 266'240));
}

// Rajbhandari et al. 2020, figure 1: each stage divides one more owner; Megatron's distributed optimizer is 6 + 12 / N.
TEST(TrainingStates, ZeroDividesOneOwnerMoreWithEachStage) {
  const auto with = [](std::string_view name, int64_t stage) {
    return states_7b(name, {.data = 64, .zero_stage = stage});
  };
  const int64_t n = kParameters7b;
  EXPECT_EQ(with("adamw-bf16", 0), 16 * n);
  EXPECT_EQ(with("adamw-bf16", 1), 4 * n + 12 * n / 64);
  EXPECT_EQ(with("adamw-bf16", 2), 2 * n + 14 * n / 64);
  EXPECT_EQ(with("adamw-bf16", 3), 16 * n / 64);
  EXPECT_EQ(with("adamw-bf16-f32-grads", 1), 6 * n + 12 * n / 64);
}

// The paper's own figures for 7.5 B parameters on 64 ranks: 120, 31.4, 16.6, 1.9 GB.
TEST(TrainingStates, ThePapersFigures) {
  const std::vector<RankTensor> model = {{.rows = 1, .cols = 7'500'000'000}};
  const auto gigabytes = [&](int64_t stage) {
    const PlanItem states = state_item(model, recipe("adamw-bf16"), {.data = 64, .zero_stage = stage});
    return static_cast<double>(states.amount) / 1e9;
  };
  EXPECT_NEAR(gigabytes(0), 120.0, 0.05);
  EXPECT_NEAR(gigabytes(1), 31.4, 0.05);
  EXPECT_NEAR(gigabytes(2), 16.6, 0.05);
  EXPECT_NEAR(gigabytes(3), 1.9, 0.05);
}

// DeepSpeed's documentation on T5-large, 4 GPUs, stage 3: 3291 "MB", which are MiB; 4 B of the largest layer gathered,
// 18 B of all divided.
TEST(TrainingStates, DeepSpeedsLineOnT5Large) {
  const int64_t n_embedding = 32'128 * 1024, n_all = 737'668'096;
  std::vector<RankTensor> model = {{.rows = 32'128, .cols = 1024, .unit = -1, .is_matrix = true}};
  for (int i = 0; i < 24; ++i) model.push_back({.rows = 1, .cols = (n_all - n_embedding) / 24});
  const ParallelLayout layout{.data = 4, .zero_stage = 3, .zero_unit = ZeroUnit::kTensor, .n_gathered = 1};
  const TrainRecipe both = recipe("adamw-bf16-f32-grads");
  const int64_t n_bytes = state_item(model, both, layout).amount + gathered_item(model, both, layout, true).amount;
  EXPECT_EQ(n_bytes, 4 * n_embedding + 18 * n_all / 4);
  EXPECT_EQ(n_bytes >> 20, 3291);
}

TEST(TrainingStates, BlocksAreGatheredWhole) {
  const auto tensors = tensors_of(planned_model("llama-7b"));
  EXPECT_EQ(largest_unit(tensors, ZeroUnit::kTensor), 131'072'000);
  EXPECT_EQ(largest_unit(tensors, ZeroUnit::kBlock), kBlockMatrices7b / 32 + 2 * 4096);
  const ParallelLayout layout{.data = 8, .zero_stage = 3};
  const PlanItem forward = gathered_item(tensors, recipe("adamw-bf16"), layout, false);
  EXPECT_EQ(forward.amount, 2 * 2 * (kBlockMatrices7b / 32 + 2 * 4096));  // the one in use and the next
}

// Ranks that hold other experts share none of ours.
TEST(TrainingStates, ExpertsDivideByTheirOwnGroups) {
  const std::vector<RankTensor> model = {{.component = Component::kExperts, .rows = 64, .cols = 64, .is_matrix = true},
                                         {.component = Component::kFfn, .rows = 64, .cols = 64, .is_matrix = true}};
  const ParallelLayout layout{.data = 8, .expert = 4, .zero_stage = 3};
  const PlanItem states = state_item(model, recipe("adamw-bf16"), layout);
  EXPECT_EQ(amount_at(states, "weights/experts"), 2 * 64 * 64 / 2);
  EXPECT_EQ(amount_at(states, "weights/ffn"), 2 * 64 * 64 / 8);
}

TEST(TrainingStates, RecipesGoByName) {
  EXPECT_EQ(train_recipes().size(), 9u);
  const auto wrong = parse_train_recipe("lion");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("adamw-bf16, "), std::string::npos) << wrong.error().message;
}

}  // namespace
}  // namespace vitro
