// Times worked out by hand from data sheets, and a measured machine's.
#include "plan/roofline.h"

#include <gtest/gtest.h>

#include <cmath>

#include "plan/plan_test_util.h"
#include "plan/tensor_parallel.h"
#include "testing/expect_error.h"

namespace vitro {
namespace {

using testing::expect_error;
using testing::planned_model;
using testing::PlannedModel;

/// 100 TFLOP/s, 1 TB/s: a ridge at 100 FLOPs a byte.
Machine round_machine(int64_t n_devices = 1) {
  Machine machine{.n_devices = n_devices};
  machine.device = {.name = "round", .memory_bytes = 1, .bandwidth = {1e12, "test"}};
  machine.device.peaks[static_cast<size_t>(PeakType::kBf16)] = {100e12, "test"};
  machine.device.link = {100e9, "test"};
  machine.device.link_name = "wire";
  machine.device.n_linked = 8;
  return machine;
}

Machine machine_of(std::string_view name, int64_t n_devices = 1) {
  const std::vector<Device> devices = builtin_devices().value();
  return {.device = **find_device(devices, name), .n_devices = n_devices};
}

WorkOf work_of(const PlannedModel& model, const WeightsPlan& weights) {
  return [&model, &weights](const PassShape& shape) { return pass_work(model.config, weights, shape, {}); };
}

/// Mistral-7B's sizes with eight experts in place of each feed-forward part: Mixtral 8x7B.
PlannedModel mixtral() {
  PlannedModel model = planned_model("mistral-7b");
  for (BlockSpec& block : model.config.blocks)
    block.ffn.moe = {.n_expert = 8, .n_expert_used = 2, .d_ff_expert = 14336};
  for (TensorSlot& slot : model.slots) {
    const size_t at = slot.name.find("ffn.w_");
    if (at == std::string::npos) continue;
    slot.name.insert(at + 4, "experts.");
    slot.shape = {8, slot.shape[0], slot.shape[1]};
  }
  return model;
}

ModelConfig one_layer(int64_t n_head, int64_t n_kv_head) {
  ModelConfig config{.d_model = 64, .vocab_size = 10};
  config.blocks.push_back({.attn = {.n_head = n_head, .n_kv_head = n_kv_head, .d_head = 8, .d_head_v = 8}});
  return config;
}

// ---- one device ----

TEST(Roofline, PartsAreBoundByTheSlowerOfBoth) {
  PassWork work;
  work.parts[static_cast<size_t>(Part::kFfn)] = {.flops = 200'000'000'000'000, .weight_bytes = 1'000'000'000'000};
  work.parts[static_cast<size_t>(Part::kHead)] = {.flops = 50'000'000'000'000, .weight_bytes = 1'000'000'000'000};
  work.parts[static_cast<size_t>(Part::kScores)] = {
      .flops = 1, .cache_bytes = 250'000'000'000, .row_bytes = 250'000'000'000};
  const PassTime time = time_pass(one_layer(8, 8), work, {}, round_machine());
  EXPECT_DOUBLE_EQ(time[Part::kFfn].seconds, 2);
  EXPECT_EQ(time[Part::kFfn].bound, BoundBy::kCompute);
  EXPECT_DOUBLE_EQ(time[Part::kFfn].intensity, 200);
  EXPECT_DOUBLE_EQ(time[Part::kHead].seconds, 1);
  EXPECT_EQ(time[Part::kHead].bound, BoundBy::kMemory);
  EXPECT_DOUBLE_EQ(time[Part::kScores].seconds, 0.5);
  EXPECT_DOUBLE_EQ(time.seconds, 3.5);  // summed by part; over the whole model it would be 2.5
  EXPECT_EQ(time.bound, BoundBy::kCompute);
  EXPECT_DOUBLE_EQ(ridge_point(round_machine()), 100);
}

TEST(Roofline, EfficienciesDivide) {
  PassWork work;
  work.parts[static_cast<size_t>(Part::kFfn)] = {.flops = 200'000'000'000'000, .weight_bytes = 1};
  Machine machine = round_machine();
  machine.efficiency = {.compute = 0.5, .bandwidth = 0.25, .seconds_a_pass = 1};
  EXPECT_DOUBLE_EQ(time_pass(one_layer(8, 8), work, {}, machine).seconds, 5);
  EXPECT_DOUBLE_EQ(ridge_point(machine), 200);
}

// FasterTransformer's 13B (GPT-3's sizes, batch 1, 512 tokens) on an A100 of 1,555 GB/s, as llm-analysis reports it:
// ideal 43.7 ms and 17.07 ms a token, measured 63.17 and 22.0.
TEST(Roofline, ThirteenBillionOnAnA100) {
  const PlannedModel model = planned_model("llama-13b");
  const WeightsPlan weights = model.weights();
  Machine machine = machine_of("a100-sxm-40g");
  const Serving serving{.n_prompt = 512, .n_past = 512};
  const ServingTimes ideal = serving_times(model.config, work_of(model, weights), serving, machine).value();
  EXPECT_NEAR(ideal.prefill.seconds, 43.7e-3, 0.05 * 43.7e-3);
  EXPECT_NEAR(ideal.decode.seconds, 17.07e-3, 0.03 * 17.07e-3);
  EXPECT_EQ(ideal.prefill.bound, BoundBy::kCompute);
  EXPECT_EQ(ideal.decode.bound, BoundBy::kMemory);
  EXPECT_EQ(ideal.certainty, Certainty::kExact);
  machine.efficiency = usual_efficiency();
  const ServingTimes usual = serving_times(model.config, work_of(model, weights), serving, machine).value();
  EXPECT_NEAR(usual.prefill.seconds, 63.17e-3, 0.05 * 63.17e-3);
  EXPECT_NEAR(usual.decode.seconds, 22.0e-3, 0.03 * 22.0e-3);
  EXPECT_EQ(usual.certainty, Certainty::kEstimated);
}

// Phi-3 at 16 bits on a T4 of 300 GB/s: 100 tokens take 2.4 s at least.
TEST(Roofline, FloorOfPhi3OnAT4) {
  const PlannedModel model = planned_model("phi3-mini");
  const WeightsPlan weights = model.weights();
  Machine machine = machine_of("t4");
  machine.compute = PeakType::kF16;
  const ServingTimes times = serving_times(model.config, work_of(model, weights), {.n_past = 0}, machine).value();
  EXPECT_NEAR(100 * times.decode.seconds, 2.5, 0.05);
}

// B* = peak x bytes / (2 x bandwidth): 989.5e12 x 2 / (2 x 3.35e12) = 295.4.
TEST(Roofline, CrossoverOfDenseModels) {
  const PlannedModel model = planned_model("llama-7b");
  const WeightsPlan weights = model.weights();
  const ServingTimes times = serving_times(model.config, work_of(model, weights), {}, machine_of("h100")).value();
  EXPECT_EQ(crossover_batch(model.config, work_of(model, weights), machine_of("h100")), 296);
  EXPECT_NEAR(times.ridge, 295.4, 0.1);
}

TEST(Roofline, ExpertsMoveTheCrossover) {
  const PlannedModel model = mixtral();
  const WeightsPlan weights = model.weights();
  const auto batch = crossover_batch(model.config, work_of(model, weights), machine_of("h100"));
  // 46.7 B parameters are read for 12.9 B that a token passes.
  EXPECT_NEAR(static_cast<double>(batch.value()), 295.4 * 46.57 / 12.75, 15);
}

// Two of eight experts: a token of 1 sequence reads 2 a layer, of 2 sequences 3.5.
TEST(Roofline, ExpertTrafficGrowsWithTheBatch) {
  const PlannedModel model = mixtral();
  const WeightsPlan weights = model.weights();
  const WorkOf work = work_of(model, weights);
  const auto bytes = [&](int64_t n) { return work({.n_sequences = n})[Part::kFfn].weight_bytes; };
  const double one_expert = 2.0 * 32 * 3 * 4096 * 14336;
  EXPECT_NEAR(static_cast<double>(bytes(2) - bytes(1)), 1.5 * one_expert, 2);
  EXPECT_NEAR(static_cast<double>(bytes(64) - bytes(1)), 6 * one_expert, 1e-4 * one_expert);
}

// ---- several devices ----

TEST(TensorParallel, WeightsAndHeadsAreDivided) {
  PassWork work;
  for (PartWork& part : work.parts) part = {.flops = 800, .flops_dense = 800, .weight_bytes = 80, .cache_bytes = 160};
  const PassWork half = device_work(one_layer(8, 2), work, 2);
  EXPECT_EQ(half[Part::kFfn].flops, 400);
  EXPECT_EQ(half[Part::kFfn].weight_bytes, 40);
  EXPECT_EQ(half[Part::kScores].cache_bytes, 80);
  EXPECT_EQ(half[Part::kOther].flops, 800);
  // Two key-value heads on eight devices: each has one.
  const PassWork eighth = device_work(one_layer(8, 2), work, 8);
  EXPECT_EQ(eighth[Part::kFfn].flops, 100);
  EXPECT_EQ(eighth[Part::kScores].cache_bytes, 80);
  // Six heads on four devices: one has two.
  EXPECT_EQ(device_work(one_layer(6, 6), work, 4)[Part::kScores].flops, 267);
  EXPECT_EQ(device_cache_bytes(one_layer(6, 6), 600, 4, false), 200);
}

// Expanded it has keys and values of every query head: ceil(6 / 4) = 2 of 6.
TEST(TensorParallel, ALatentCacheIsOnEveryDevice) {
  ModelConfig config = one_layer(8, 8);
  config.blocks[0].attn.kv_lora_rank = 512;
  config.blocks[0].attn.d_head_rope = 64;
  EXPECT_EQ(device_cache_bytes(config, 1000, 8, false), 1000);
  EXPECT_EQ(device_cache_bytes(config, 1000, 8, true), 125);
  config.blocks[0].attn.n_head = 6;
  EXPECT_EQ(device_cache_bytes(config, 600, 4, true), 200);
  PassWork work{.is_latent_expanded = true};
  work.parts[static_cast<size_t>(Part::kScores)].cache_bytes = 600;
  EXPECT_EQ(device_work(config, work, 4)[Part::kScores].cache_bytes, 200);
}

// Megatron's two sums a layer: 2 x 3/4 x rows x d_model x 2 B each on 4 devices.
TEST(TensorParallel, BytesThatDevicesExchange) {
  ModelConfig config = one_layer(8, 8);
  const PassShape shape{.n_rows = 16, .n_logits = 0};
  const int64_t ring = 2 * 3 * 16 * 64 * 2 / 4;
  EXPECT_EQ(exchanged_bytes(config, shape, 4, 2), 2 * ring);
  EXPECT_EQ(exchanged_bytes(config, shape, 1, 2), 0);
  config.blocks[0].residual = Residual::kParallel;
  EXPECT_EQ(exchanged_bytes(config, shape, 4, 2), ring);
  config.blocks[0].has_cross_attention = true;
  EXPECT_EQ(exchanged_bytes(config, shape, 4, 2), 2 * ring);
  // Logits: 3 pieces of ceil(10 / 4) elements of 2 B.
  EXPECT_EQ(exchanged_bytes(config, {.n_rows = 16, .n_logits = 1}, 4, 2), 2 * ring + 3 * 3 * 2);
}

// Llama-3-70B, bf16, 8 x H100, batch 1: 141.1 GB less the embedding over 8 x 3.35 TB/s is 5.19 ms; the exchange of
// 160 sums of 16 KiB is 4.6 MB or 10 us.
TEST(TensorParallel, Llama70BOnEightH100) {
  const PlannedModel model = planned_model("llama3-70b");
  const WeightsPlan weights = model.weights();
  const ServingTimes times =
      serving_times(model.config, work_of(model, weights), {.n_past = 0}, machine_of("h100", 8)).value();
  EXPECT_NEAR(times.decode.seconds - times.decode.link_seconds, 5.19e-3, 0.02e-3);
  EXPECT_NEAR(times.decode.link_seconds, 160 * 2 * 7.0 / 8 * 16384 / 450e9 + 7.0 / 8 * 128256 * 2 / 450e9, 1e-9);
}

// ---- refusals ----

TEST(Roofline, RefusesWhatHasNoFigures) {
  const PlannedModel model = planned_model("llama-7b");
  const WeightsPlan weights = model.weights();
  const auto refuse = [&](const Machine& machine, const Serving& serving, std::string_view says) {
    expect_error(serving_times(model.config, work_of(model, weights), serving, machine), ErrorCode::kInvalidArgument,
                 says);
  };
  refuse(machine_of("m2-ultra"), {}, "no figure for its peak in any type");
  refuse(machine_of("v100"), {}, "known: f32, f16");
  refuse(round_machine(0), {}, "0 devices");
  refuse(round_machine(16), {}, "joins 8 devices, not 16");
  refuse(machine_of("tpu-v4", 2), {}, "no figure for the link");
  Machine wide = round_machine(64);
  wide.device.n_linked = 64;
  refuse(wide, {}, "1 to 32");
  Machine fast = round_machine();
  fast.efficiency.compute = 1.5;
  refuse(fast, {}, "at most 1");
  fast.efficiency.compute = std::nan("");
  refuse(fast, {}, "at most 1");
  refuse(round_machine(), {.n_prompt = 0}, "at least 1");
  refuse(round_machine(), {.n_sequences = -4}, "at least 1");
}

// Apple publishes no peaks: such a device is asked what fits, and passes through it are not timed.
TEST(Roofline, ADeviceWithoutAPeakHasNoTimes) {
  Machine machine = machine_of("m2-ultra");
  machine.compute = compute_type(machine.device, "bf16");
  EXPECT_TRUE(check_machine(machine));
  EXPECT_FALSE(has_times(machine));
  expect_error(check_timed(machine), ErrorCode::kInvalidArgument, "m2-ultra-192g: no figure for its peak in any type");
  machine.device.peaks[static_cast<size_t>(PeakType::kInt8)] = {1e14, "a test"};
  expect_error(check_timed(machine), ErrorCode::kInvalidArgument, "no figure for its peak in f32; known: int8");
  EXPECT_TRUE(has_times(machine_of("h100")) && check_timed(machine_of("h100")));
  PassWork work;
  work.parts[static_cast<size_t>(Part::kFfn)] = {.flops = int64_t{1} << 60, .weight_bytes = 800'000'000'000};
  EXPECT_DOUBLE_EQ(time_pass(one_layer(8, 8), work, {}, machine).seconds, 1);  // 800 GB/s: of the bytes alone
}

TEST(Roofline, SizesThatOverflowStayLarge) {
  const PlannedModel model = planned_model("llama-7b");
  const WeightsPlan weights = model.weights();
  const Serving absurd{.n_prompt = int64_t{1} << 40, .n_past = int64_t{1} << 60, .n_sequences = int64_t{1} << 60};
  const ServingTimes times =
      serving_times(model.config, work_of(model, weights), absurd, machine_of("h100", 8)).value();
  EXPECT_GT(times.prefill.seconds, 1e3);
  EXPECT_GT(times.decode.seconds, 1e3);
}

}  // namespace
}  // namespace vitro
