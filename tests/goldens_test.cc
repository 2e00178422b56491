// Checkpoints of every family against the reference, on every kernel table: logits, hidden states, attention, rotary
// tables, greedy text, token by token bit for bit. From tests/golden, and from the shared folder where it is present.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "inspect/verify.h"
#include "model/arch/architecture.h"
#include "testing/engine.h"
#include "testing/safetensors_writer.h"
#include "testing/shared_data.h"

namespace vitro::testing {
namespace {

const std::vector<std::string> kNames = {"gpt2",
                                         "gpt2-scaled",
                                         "gpt-neox",
                                         "gpt-neox-serial",
                                         "llama-mha",
                                         "llama-gqa",
                                         "llama-mqa",
                                         "llama-rope-linear",
                                         "llama-rope-dynamic",
                                         "llama-rope-yarn",
                                         "llama-rope-llama3",
                                         "mistral-sliding",
                                         "qwen3",
                                         "gemma3",
                                         "phi3"};
// Facts that GGUF cannot hold (activation and layer scaling; dynamic scaling; windows of llama): these only need to
// run.
const std::vector<std::string> kTwinsThatDiffer = {"gpt2-scaled", "llama-rope-dynamic", "mistral-sliding"};

struct GoldenCase {
  std::string name;
  const KernelTable* table;
};

std::vector<GoldenCase> golden_cases() {
  std::vector<GoldenCase> out;
  for (const std::string& name : kNames) {
    for (const KernelTable* table : all_tables()) out.push_back({name, table});
  }
  return out;
}

std::string golden_name(const ::testing::TestParamInfo<GoldenCase>& info) {
  std::string name = info.param.name + "_" + info.param.table->name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

void expect_verified(const std::filesystem::path& folder, const VerifyOptions& options, Bench& bench) {
  const auto report = verify_folder(folder, options, bench.ctx);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  for (const std::string& failure : report->failures) ADD_FAILURE() << folder << ": " << failure;
  const bool has_rope = std::filesystem::exists(folder / "rope.safetensors");
  // Every input has its logits, n_layer + 1 hidden states and n_layer maps; every rotary table has 10 positions, twice
  // where there are two kinds.
  EXPECT_GE(report->n_compared, 3 * (1 + 5 + 4) + (has_rope ? 20 : 0));
  EXPECT_EQ(report->rope_error >= 0, has_rope);
  EXPECT_GT(report->n_step_rows, 0);
  EXPECT_GE(report->logits_error, 0);
  EXPECT_GE(report->hidden_error, 0);
  EXPECT_GE(report->attention_error, 0);
  EXPECT_GT(report->n_greedy, 0);
}

// GGUF keeps this kind's frequencies as float32 divisors, so angles differ by their rounding: 2^-24 of at most 30
// radians.
void expect_close(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0, squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    squares += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  EXPECT_LE(worst, 30 * 0x1p-24 * std::sqrt(squares / 30));
}

class Golden : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(Golden, AgreesWithTheReference) {
  Bench bench(*GetParam().table, 2);
  expect_verified(repo_path("tests/golden/" + GetParam().name), {}, bench);
}

TEST_P(Golden, AgreesInFloat32) {
  const auto folder = shared_path("goldens/models/" + GetParam().name);
  if (!folder) GTEST_SKIP() << "the shared goldens are not there";
  Bench bench(*GetParam().table, 1);
  expect_verified(*folder, {.page_size = 8}, bench);
}

// The GGUF twin holds the same values, so it gives the same bits.
TEST_P(Golden, GgufTwinGivesTheSameBits) {
  const auto twin = repo_path("tests/golden/gguf/" + GetParam().name + ".gguf");
  if (!std::filesystem::exists(twin)) {
    EXPECT_EQ(GetParam().name, "gemma3") << "only gemma3 has no twin";
    return;
  }
  Bench bench(*GetParam().table, 2);
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < 30; ++i) ids.push_back((i * 37 + 5) % 384);
  Session from_gguf = make_session(load(twin, bench), 30, {}, bench);
  Session from_hf = make_session(load(repo_path("tests/golden/" + GetParam().name), bench), 30, {}, bench);
  const std::vector<float> a = all_logits(from_gguf, ids), b = all_logits(from_hf, ids);
  ASSERT_EQ(a.size(), b.size());
  if (std::find(kTwinsThatDiffer.begin(), kTwinsThatDiffer.end(), GetParam().name) != kTwinsThatDiffer.end()) return;
  if (GetParam().name == "llama-rope-llama3") return expect_close(a, b);
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
}

// bfloat16 weights are widened, so a float32 copy of the same checkpoint gives the same bits.
TEST_P(Golden, Float32CopyGivesTheSameBits) {
  const auto folder = repo_path("tests/golden/" + GetParam().name);
  const auto checkpoint = Checkpoint::open(folder);
  ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
  SafetensorsWriter writer;
  for (const WeightEntry& entry : checkpoint->tensors()) {
    ASSERT_EQ(entry.dtype, DType::kBF16);
    const ConstTensorView view = checkpoint->view(entry);
    std::vector<float> values(static_cast<size_t>(entry.shape.n_elements()));
    dequantize_row(entry.dtype, view.data, entry.shape.n_elements(), values.data());
    writer.add(entry.name, DType::kF32, entry.shape, bytes_of(values));
  }
  TempFolder copy;
  std::filesystem::copy(folder / "config.json", copy.path());
  write_file(copy.path() / "model.safetensors", writer.bytes());
  Bench bench(*GetParam().table, 1);
  const std::vector<int32_t> ids{5, 300, 17, 17, 255, 1, 90};
  Session narrow = make_session(load(folder, bench), 7, {}, bench);
  Session wide = make_session(load(copy.path(), bench), 7, {}, bench);
  const std::vector<float> a = all_logits(narrow, ids), b = all_logits(wide, ids);
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
}

INSTANTIATE_TEST_SUITE_P(All, Golden, ::testing::ValuesIn(golden_cases()), golden_name);

// A family cannot be registered without a checkpoint that proves it.
TEST(Registry, EveryFamilyThatRunsHasAGolden) {
  for (const Architecture* arch : all_architectures()) {
    const bool is_proven = std::find(kNames.begin(), kNames.end(), arch->golden) != kNames.end();
    EXPECT_TRUE(is_proven) << arch->name << " names golden '" << arch->golden << "'";
  }
}

// A folder without expectations proves nothing, and says so.
TEST(Verify, MissingExpectationsFail) {
  TempFolder copy;
  const auto folder = repo_path("tests/golden/llama-gqa");
  for (const char* file : {"config.json", "model.safetensors", "expected.json"})
    std::filesystem::copy(folder / file, copy.path());
  write_file(copy.path() / "expected.safetensors", safetensors_bytes("{}", ""));
  Bench bench(best_kernel_table());
  const auto report = verify_folder(copy.path(), {}, bench.ctx);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_FALSE(report->passed());
  EXPECT_EQ(report->n_compared, 0);
}

// The test would see a wrong number: a changed weight fails.
TEST(Verify, SeesAChangedWeight) {
  TempFolder copy;
  const auto folder = repo_path("tests/golden/llama-gqa");
  for (const char* file : {"config.json", "expected.json", "expected.safetensors"})
    std::filesystem::copy(folder / file, copy.path());
  const auto checkpoint = Checkpoint::open(folder);
  ASSERT_TRUE(checkpoint.has_value());
  SafetensorsWriter writer;
  for (const WeightEntry& entry : checkpoint->tensors()) {
    const auto bytes = checkpoint->view(entry).bytes();
    std::string data(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (entry.name == "model.layers.2.mlp.up_proj.weight") data[101] = static_cast<char>(data[101] ^ 0x01);
    writer.add(entry.name, entry.dtype, entry.shape, data);
  }
  write_file(copy.path() / "model.safetensors", writer.bytes());
  Bench bench(best_kernel_table());
  const auto report = verify_folder(copy.path(), {}, bench.ctx);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_FALSE(report->passed());
}

}  // namespace
}  // namespace vitro::testing
