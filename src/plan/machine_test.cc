// The file of a measured machine: round trip, hostile contents, and what plans make of it. No test asserts a speed.
#include "plan/machine.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "plan/measure_machine.h"
#include "tensor/panel.h"
#include "testing/expect_error.h"
#include "testing/temp_folder.h"

namespace vitro::testing {
namespace {

MachineMeasurement small_machine() {
  MachineMeasurement machine;
  machine.measured_at = "2026-11-30T12:00:00Z";
  machine.processor = "A \"processor\"";
  machine.kernels = "avx2";
  machine.n_cpus = 4;
  machine.memory_bytes = int64_t{16} << 30;
  machine.buffer_bytes = 1 << 20;
  machine.loop_seconds = 1e-6;
  machine.threads = {{1, {10e9, 11e9}, {5e9, 6e9}, {50e9, 51e9}}, {4, {20e9, 21e9}, {8e9, 9e9}, {180e9, 200e9}}};
  machine.matmuls = {{DType::kBF16, 1, {9e9, 9e9}, {30e9, 31e9}}, {DType::kBF16, 4, {19e9, 19e9}, {110e9, 120e9}}};
  return machine;
}

const std::vector<WeightShare> kBf16Only = {{DType::kBF16, 2000, 1000}}, kQ4Only = {{DType::kQ4_K, 9, 16}};

std::string text_of(const MachineMeasurement& machine) {
  return to_string(machine_json(machine), std::numeric_limits<size_t>::max());
}

TEST(Machine, SavedAndLoadedIsTheSame) {
  TempFolder folder;
  const std::filesystem::path path = folder.path() / "new" / "folder" / "machine.json";
  EXPECT_FALSE(load_machine(path).value());
  ASSERT_TRUE(save_machine(small_machine(), path));
  ASSERT_TRUE(save_machine(small_machine(), path));  // replaces
  const std::optional<MachineMeasurement> loaded = load_machine(path).value();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(text_of(*loaded), text_of(small_machine()));
}

TEST(Machine, HostileFiles) {
  const std::string good = text_of(small_machine());
  ASSERT_TRUE(parse_machine(good, "m"));
  const std::vector<std::array<std::string, 3>> cases = {
      {"\"n_cpus\":4", "\"n_cpus\":0", "n_cpus"},
      {"\"n_cpus\":4", "\"n_cpus\":4.5", "n_cpus"},
      {"\"n_cpus\":4", "\"cpus\":4", "n_cpus"},
      {"\"memory_bytes\":17179869184", "\"memory_bytes\":9223372036854775807", "memory_bytes"},
      {"\"loop_seconds\":1e-06", "\"loop_seconds\":-1.0", "loop_seconds"},
      {"\"median\":9000000000.0", "\"median\":1e300", "median"},
      {"\"median\":9000000000.0", "\"median\":0.0", "median"},
      {"\"median\":9000000000.0", "\"mean\":9000000000.0", "median"},
      {"\"BF16\"", "\"BF17\"", "element type"},
      {"\"threads\":[", "\"threads\":[7,", "n_threads"},
      {"\"avx2\"", "[]", "kernels"},
      {"\"avx2\"", "\"\\u001b[2J\"", "control characters"},
      {"{", "[", "m"},
  };
  for (const auto& [from, to, says] : cases) {
    std::string text = good;
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
    expect_error(parse_machine(text, "m"), ErrorCode::kCorrupt, says);
  }
  expect_error(parse_machine("{}", "m"), ErrorCode::kCorrupt, "vitro bench machine");
}

TEST(Machine, AFileThatIsNoMeasurement) {
  TempFolder folder;
  std::ofstream(folder.path() / "big.json") << std::string(2 << 20, ' ');
  expect_error(load_machine(folder.path() / "big.json"), ErrorCode::kCorrupt, "another file");
  expect_error(load_machine(folder.path()), ErrorCode::kInvalidArgument, "");
}

TEST(Machine, IsADeviceWithTheRatesOfItsWeights) {
  const Device device = machine_device(small_machine(), kBf16Only, 3).value();
  EXPECT_EQ(device.name, "this");
  EXPECT_EQ(device.n_bytes(), int64_t{16} << 30);
  EXPECT_DOUBLE_EQ(device.bandwidth.value, 19e9);  // of 4 threads, nearer than 1
  EXPECT_DOUBLE_EQ(device.peak(PeakType::kF32).value, 110e9);
  EXPECT_EQ(device.certainty, Certainty::kMeasured);
  EXPECT_EQ(compute_type(device, "q4_k"), PeakType::kF32);
  EXPECT_TRUE(check_machine({.device = device, .compute = PeakType::kF32}));
  expect_error(machine_device(small_machine(), kQ4Only, 1), ErrorCode::kNotFound, "Q4_K");
}

// 100 bytes at 10 B/s and 300 at 20 take 25 s: 16 B/s. 60 elements at 30 and 40 at 10 take 6 s: 16.7.
TEST(Machine, TypesSideBySide) {
  MachineMeasurement machine = small_machine();
  machine.matmuls = {{DType::kBF16, 1, {10, 10}, {30, 30}}, {DType::kQ8_0, 1, {20, 20}, {10, 10}}};
  const std::vector<WeightShare> shares = {{DType::kBF16, 100, 60}, {DType::kQ8_0, 300, 40}};
  const Device device = machine_device(machine, shares, 1).value();
  EXPECT_DOUBLE_EQ(device.bandwidth.value, 16);
  EXPECT_DOUBLE_EQ(device.peak(PeakType::kF32).value, 100.0 / 6);
  expect_error(machine_device(machine, {}, 1), ErrorCode::kInvalidArgument, "no weights");
}

TEST(Machine, SharesOfAFile) {
  const auto tensor = [](const TensorSlot& slot, const WeightEntry& entry) { return BoundTensor{&slot, &entry, 0}; };
  const auto slot = [](std::string name, Shape shape, SlotUse use = SlotUse::kMatrix) {
    return TensorSlot{.name = std::move(name), .shape = shape, .use = use, .sources = {TensorSource{}}};
  };
  const TensorSlot embed = slot("embed.w", {32, 64}), q = slot("blocks.0.attn.w_q", {16, 64}),
                   k = slot("blocks.0.attn.w_k", {16, 64}), norm = slot("final_norm.gain", {64}, SlotUse::kVector),
                   positions = slot("pos_embed.w", {128, 64});
  WeightEntry wide, narrow;
  wide.dtype = DType::kBF16;
  narrow.dtype = DType::kQ8_0;
  const std::vector<BoundTensor> bound = {tensor(embed, wide), tensor(q, narrow), tensor(k, narrow), tensor(norm, wide),
                                          tensor(positions, wide)};
  ModelConfig config{.is_head_tied = true};
  const std::vector<WeightShare> tied = weight_shares(config, bound);
  ASSERT_EQ(tied.size(), 2U);
  EXPECT_EQ(tied[0].n_elements, 32 * 64);
  EXPECT_EQ(tied[1].n_elements, 2 * 16 * 64);
  EXPECT_EQ(tied[1].n_bytes, 2 * panel_bytes(DType::kQ8_0, 64));
  config.is_head_tied = false;
  EXPECT_EQ(weight_shares(config, bound).size(), 1U);
}

// Three experts of 16 x 64 that are tensors of their own in the file: each fills its part of the slot.
TEST(Machine, ExpertsCountOnceEach) {
  const TensorSlot up{
      .name = "blocks.0.ffn.experts.w_up", .shape = {3, 16, 64}, .sources = {TensorSource{.is_one_by_one = true}}};
  WeightEntry entry;
  entry.dtype = DType::kQ8_0;
  std::vector<BoundTensor> bound;
  for (int64_t part = 0; part < 3; ++part) bound.push_back({.slot = &up, .entry = &entry, .part = part});
  const std::vector<WeightShare> shares = weight_shares({}, bound);
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].n_elements, 3 * 16 * 64);
  EXPECT_EQ(shares[0].n_bytes, 3 * panel_bytes(DType::kQ8_0, 64));
}

TEST(Machine, IsFoundByTheNameOfItsWeights) {
  ModelConfig config;
  config.blocks.resize(10);
  const Machine machine = this_machine(small_machine(), config, "bf16", 4).value();
  EXPECT_TRUE(check_machine(machine));
  EXPECT_DOUBLE_EQ(machine.efficiency.seconds_a_pass, 51e-6);
  expect_error(this_machine(small_machine(), config, "nf4", 4), ErrorCode::kNotFound, "nf4");
  expect_error(this_machine(small_machine(), config, "q4_k", 4), ErrorCode::kNotFound, "Q4_K");
}

TEST(Machine, LoopsTakeTimeOnlyWithSeveralThreads) {
  ModelConfig config;
  config.blocks.resize(10);
  EXPECT_DOUBLE_EQ(machine_efficiency(small_machine(), config, 4).seconds_a_pass, 51e-6);
  EXPECT_DOUBLE_EQ(machine_efficiency(small_machine(), config, 1).seconds_a_pass, 0);
  // 76 tokens/s where 99 were predicted: docs/devices.md.
  EXPECT_NE(machine_efficiency(small_machine(), config, 1).origin.find("up to 23 % slower"), std::string::npos);
}

// Every rate is there and positive, in the time of a blink.
TEST(Machine, MeasuresItself) {
  int n_seen = 0;
  MeasureOptions options{.n_threads = 2, .buffer_bytes = 1, .seconds_a_run = 1e-6, .n_prefill_rows = 1};
  options.progress = [&](int n_done, int n_steps) { return n_done == n_seen++ && n_done < n_steps; };
  const MachineMeasurement machine = measure_machine(best_kernel_table(), options).value();
  EXPECT_EQ(machine.threads.size(), 2U);
  EXPECT_EQ(machine.matmuls.size() % 2, 0U);
  EXPECT_TRUE(parse_machine(text_of(machine), "m")) << parse_machine(text_of(machine), "m").error().message;
  EXPECT_GT(machine_device(machine, kQ4Only, 2)->bandwidth.value, 0);
}

TEST(Machine, CanBeStopped) {
  MeasureOptions options{.buffer_bytes = 1, .seconds_a_run = 1e-6};
  options.progress = [](int n_done, int) { return n_done < 2; };
  expect_error(measure_machine(best_kernel_table(), options), ErrorCode::kCancelled, "interrupted");
}

}  // namespace
}  // namespace vitro::testing
