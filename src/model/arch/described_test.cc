// Families that are described and not run: real checkpoints of every kind bind, every tensor of them, to the number of
// parameters that the reference counts, and the forward pass refuses them by name. The checkpoints are shared goldens;
// their configurations and those of real models are also tested where only the repository is.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "formats/checkpoint.h"
#include "formats/json.h"
#include "model/arch/architecture.h"
#include "model/module_tree.h"
#include "testing/expect_error.h"
#include "testing/shared_data.h"
#include "weights/bind.h"

namespace vitro {
namespace {

struct Described {
  const char* golden;
  const char* refusal;  ///< part of what check_runnable says
  /// Parameters that the reference counts and no file holds: sinusoids that it keeps as frozen tables.
  int64_t n_computed = 0;
};

const Described kModels[] = {
    {"mixtral", "mixture of experts"},
    {"qwen2-moe", "mixture of experts"},
    {"qwen3-moe", "mixture of experts"},
    {"olmoe", "mixture of experts"},
    {"gpt-oss", "clamped SwiGLU, attention sinks"},
    {"deepseek-v2", "latent attention"},
    {"deepseek-v2-lite", "latent attention"},
    {"deepseek-v3", "latent attention"},
    {"bert-mlm", "encoders, token types"},
    {"bert-seqcls", "poolers"},
    {"bert-tokencls", "heads other than one logit for each token"},
    {"roberta-mlm", "encoders"},
    {"distilbert-seqcls", "encoders"},
    {"t5", "relative position buckets"},
    {"flan-t5", "cross attention"},
    {"bart", "cross attention"},
    {"mbart-prenorm", "cross attention"},
    {"marian-original-transformer", "cross attention", 2 * 128 * 64},
};

int64_t expected_parameters(const std::filesystem::path& folder) {
  std::ifstream file(folder / "expected.json");
  std::stringstream text;
  text << file.rdbuf();
  return *parse_json(text.str(), "expected.json").value().find("parameters")->as_int();
}

class DescribedTest : public ::testing::TestWithParam<Described> {};

TEST_P(DescribedTest, EveryTensorBinds) {
  const auto folder = testing::shared_path(std::string("goldens/models/") + GetParam().golden);
  if (!folder) GTEST_SKIP() << "the shared goldens are not there";
  const auto checkpoint = Checkpoint::open(*folder);
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  const auto description = describe_model(*checkpoint);
  ASSERT_TRUE(description) << description.error().message;
  const auto slots = description->arch->tensor_slots(checkpoint->format(), description->config);
  // Nothing is excused but what the family skips by name, which these files do not hold.
  const auto bound = bind_tensors(*checkpoint, slots, {});
  ASSERT_TRUE(bound) << bound.error().message;
  const int64_t expected = expected_parameters(*folder) - GetParam().n_computed;
  EXPECT_EQ(module_tree(description->config, slots, *bound).n_parameters, expected);
  EXPECT_EQ(module_tree(description->config, slots, {}).n_parameters, expected);
  int64_t file_bytes = 0;
  for (const WeightEntry& entry : checkpoint->tensors()) file_bytes += static_cast<int64_t>(entry.end - entry.begin);
  EXPECT_EQ(module_tree(description->config, slots, *bound).n_bytes, file_bytes);
}

TEST_P(DescribedTest, IsRefusedByName) {
  const auto folder = testing::shared_path(std::string("goldens/models/") + GetParam().golden);
  if (!folder) GTEST_SKIP() << "the shared goldens are not there";
  const auto checkpoint = Checkpoint::open(*folder / "config.json", {.needs_weights = false});
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  const auto description = describe_model(*checkpoint);
  ASSERT_TRUE(description) << description.error().message;
  EXPECT_FALSE(description->arch->runs);
  testing::expect_error(check_runnable(description->config), ErrorCode::kUnsupported, GetParam().refusal);
}

INSTANTIATE_TEST_SUITE_P(Goldens, DescribedTest, ::testing::ValuesIn(kModels), [](const auto& param) {
  std::string name = param.param.golden;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

/// The same weights as llama.cpp's converter writes them, where a family's files are read.
TEST(DescribedGgufTest, TwinsHaveTheSameParameters) {
  for (const char* name : {"mixtral", "olmoe", "gpt-oss"}) {
    SCOPED_TRACE(name);
    const auto file = testing::shared_path(std::string("goldens/gguf/") + name + ".gguf");
    if (!file) GTEST_SKIP() << "the shared goldens are not there";
    const auto checkpoint = Checkpoint::open(*file);
    ASSERT_TRUE(checkpoint) << checkpoint.error().message;
    const auto description = describe_model(*checkpoint);
    ASSERT_TRUE(description) << description.error().message;
    const auto slots = description->arch->tensor_slots(checkpoint->format(), description->config);
    const auto bound = bind_tensors(*checkpoint, slots, {});
    ASSERT_TRUE(bound) << bound.error().message;
    EXPECT_EQ(module_tree(description->config, slots, *bound).n_parameters,
              expected_parameters(*testing::shared_path(std::string("goldens/models/") + name)));
  }
}

}  // namespace
}  // namespace vitro
