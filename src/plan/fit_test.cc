// Inverse questions against closed forms, and the proof that comes with each answer.
#include "plan/fit.h"

#include <gtest/gtest.h>

#include "plan/plan_test_util.h"
#include "testing/expect_error.h"

namespace vitro {
namespace {

using testing::expect_error;
using testing::planned_model;
using testing::PlannedModel;

constexpr int64_t kGB = 1'000'000'000, kGiB = int64_t{1} << 30;

BytesOf line(int64_t base, int64_t slope) {
  return [=](int64_t n) -> Result<int64_t> { return base + slope * n; };
}

TEST(Fit, FindsTheEdgeOfALine) {
  for (const int64_t edge : {1, 2, 3, 7, 8, 9, 1000, 65535, 65536}) {
    const Fit fit = largest_fit(line(100, 10), 100 + 10 * edge + 9, int64_t{1} << 30).value();
    EXPECT_EQ(fit.n, edge);
    EXPECT_EQ(fit.limit, FitLimit::kMemory);
    EXPECT_EQ(fit.n_bytes, 100 + 10 * edge);
    EXPECT_EQ(fit.next_bytes, 100 + 10 * (edge + 1));
    EXPECT_LE(fit.n_plans, 2 * 17 + 2);
  }
}

TEST(Fit, NothingFitsOrTheLimitIsReached) {
  const Fit none = largest_fit(line(100, 10), 109, 50).value();
  EXPECT_EQ(none.n, 0);
  EXPECT_EQ(none.limit, FitLimit::kNothing);
  EXPECT_EQ(none.next_bytes, 110);
  for (const int64_t limit : {1, 2, 3, 50, 64}) {
    const Fit all = largest_fit(line(100, 10), kGB, limit).value();
    EXPECT_EQ(all.n, limit);
    EXPECT_EQ(all.limit, FitLimit::kLimit);
    EXPECT_EQ(all.next_bytes, 0);
  }
  const auto huge = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(largest_fit(line(0, 0), 1, huge)->n, huge);
}

TEST(Fit, RefusesBudgetsAndLimits) {
  expect_error(largest_fit(line(1, 1), 0, 5), ErrorCode::kInvalidArgument, "budget");
  expect_error(largest_fit(line(1, 1), -5, 5), ErrorCode::kInvalidArgument, "budget");
  expect_error(largest_fit(line(1, 1), int64_t{1} << 62, 5), ErrorCode::kInvalidArgument, "budget");
  expect_error(largest_fit(line(1, 1), 5, 0), ErrorCode::kInvalidArgument, "limit");
  const BytesOf broken = [](int64_t n) -> Result<int64_t> {
    return n > 2 ? Result<int64_t>(fail(ErrorCode::kUnsupported, "three")) : Result<int64_t>(1);
  };
  expect_error(largest_fit(broken, 5, 9), ErrorCode::kUnsupported, "three");
}

// Llama-7B bf16, weights 13.48 GB and 524,288 B a token: the context left before workspace.
TEST(Fit, ContextOfLlama7BBeforeWorkspace) {
  const PlannedModel model = planned_model("llama-7b");
  const WeightsPlan weights = model.weights();
  const auto context = [&](int64_t budget) { return fit_bare_context(model.config, weights, {}, budget)->n; };
  EXPECT_EQ(context(16 * kGB), 4'812);
  EXPECT_EQ(context(24 * kGB), 20'071);
  EXPECT_EQ(context(80 * kGB), 126'882);
  EXPECT_EQ(context(80 * kGiB), 138'134);
}

// The whole plan, with pages and activations: less than before workspace, and the answer is proved.
TEST(Fit, ContextWithAllThatIsAllocated) {
  const PlannedModel model = planned_model("llama-7b");
  const WeightsPlan weights = model.weights();
  InferenceShape shape{.engine = EngineKind::kHalf};
  const Fit fit = fit_context(model.config, weights, {.shape = shape}, 24 * kGB).value();
  EXPECT_LT(fit.n, 20'071);
  EXPECT_GT(fit.n, 19'000);
  EXPECT_EQ(fit.limit, FitLimit::kMemory);
  shape.session.n_ctx = fit.n;
  EXPECT_LE(plan_inference(model.config, weights, shape)->n_bytes(), 24 * kGB);
  shape.session.n_ctx = fit.n + 1;
  EXPECT_GT(plan_inference(model.config, weights, shape)->n_bytes(), 24 * kGB);
  EXPECT_TRUE(is_beyond_training(model.config, fit.n));
  EXPECT_FALSE(is_beyond_training(model.config, 2048));
}

// Users of Llama-3-8B at 8,192: 16.06 GB of weights, 1 GiB of cache each.
TEST(Fit, UsersAtAContext) {
  const PlannedModel model = planned_model("llama3-8b");
  const WeightsPlan weights = model.weights();
  InferenceShape shape{.engine = EngineKind::kHalf};
  shape.session.n_ctx = 8192;
  const Fit fit = fit_sequences(model.config, weights, {.shape = shape}, 80 * kGiB).value();
  EXPECT_EQ(fit.n, 65);  // 80 GiB - 14.96 GiB = 65.04 GiB; the rest holds the activations
  shape.session.n_sequences = fit.n;
  const InferencePlan plan = plan_inference(model.config, weights, shape).value();
  EXPECT_EQ(largest_part(plan.memory).name, "cache");
  EXPECT_EQ(fit_sequences(model.config, weights, {.shape = shape}, 10 * kGiB)->limit, FitLimit::kNothing);
}

// Llama-2-70B: 137.95 GB of bf16 need two devices of 80 GB; with int4 (0.51953 B a parameter) 35.8 GB fit on one.
TEST(Fit, DevicesForLlama2) {
  const PlannedModel model = planned_model("llama2-70b");
  InferenceShape shape{.engine = EngineKind::kHalf};
  shape.session.n_ctx = 4096;
  const DeviceFit wide = fit_devices(model.config, model.weights(), shape, 80 * kGB).value();
  EXPECT_EQ(wide.n_devices, 2);
  EXPECT_NEAR(static_cast<double>(wide.n_bytes), (137.953e9 + 4096 * 327'680.0) / 2, 0.2e9);
  EXPECT_GT(wide.fewer_bytes, 80 * kGB);
  const WeightFormat int4 = parse_weight_format("int4").value();
  const WeightsPlan narrow = model.weights({.matrices = int4, .embeddings = int4});
  EXPECT_NEAR(static_cast<double>(narrow.total().n_bytes), 0.51953 * 68.977e9, 0.01e9);
  EXPECT_EQ(fit_devices(model.config, narrow, shape, 80 * kGB)->n_devices, 1);
  EXPECT_FALSE(fit_devices(model.config, model.weights(), shape, kGB)->n_devices);
}

// The context of Llama-2-70B in int4 on two devices of 80 x 10^9 B: each holds half of 35.83 GB and half of the heads.
TEST(Fit, ContextOnTwoDevices) {
  const PlannedModel model = planned_model("llama2-70b");
  const WeightFormat int4 = parse_weight_format("int4").value();
  const WeightsPlan weights = model.weights({.matrices = int4, .embeddings = int4});
  EXPECT_EQ(fit_bare_context(model.config, weights, {.n_devices = 2}, 80 * kGB)->n,
            (80 * kGB - (weights.total().n_bytes + 1) / 2) / (327'680 / 2));
}

// 8.03 x 10^9 parameters at 16, 8.5, 6.5625, 5.5, 4.5, 3.4375 and 2.625 bits.
TEST(Fit, FormatsThatFit) {
  const PlannedModel model = planned_model("llama3-8b");
  InferenceShape shape{.engine = EngineKind::kHalf};
  shape.session.n_ctx = 1024;
  const auto best = [&](int64_t budget) -> std::string {
    const auto weights_in = [&](const WeightFormat& format) {
      const WeightFormat vectors = format.block_elements == 1 ? format : kF32Weights;
      return model.weights({.matrices = format, .embeddings = format, .vectors = vectors});
    };
    const std::vector<FormatFit> fits =
        fit_formats(model.config, weights_in, {.shape = shape}, usual_formats(), budget).value();
    for (const FormatFit& fit : fits) {
      if (fit.fits) return std::string(fit.format.name);
    }
    return "none";
  };
  EXPECT_EQ(best(40 * kGB), "F32");
  EXPECT_EQ(best(24 * kGB), "BF16");
  EXPECT_EQ(best(12 * kGB), "Q8_0");
  EXPECT_EQ(best(8 * kGB), "Q6_K");
  EXPECT_EQ(best(5 * kGB), "Q4_K");
  EXPECT_EQ(best(2 * kGB), "none");
}

}  // namespace
}  // namespace vitro
