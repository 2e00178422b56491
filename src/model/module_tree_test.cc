// Parameter counts of real configurations against those that the reference counts (goldens/plan), and how layers fold.
#include "model/module_tree.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "formats/json.h"
#include "model/arch/architecture.h"
#include "testing/golden_twin.h"
#include "testing/shared_data.h"

namespace vitro {
namespace {

namespace fs = std::filesystem;

Value read_json(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  auto value = parse_json(text.str(), path.string());
  EXPECT_TRUE(value) << value.error().message;
  return value ? std::move(*value) : Value();
}

struct Described {
  ModelDescription description;
  Module tree;
};

std::optional<Described> describe(const fs::path& path) {
  const auto checkpoint = Checkpoint::open(path, {.needs_weights = false});
  EXPECT_TRUE(checkpoint) << checkpoint.error().message;
  auto description = describe_model(*checkpoint);
  EXPECT_TRUE(description) << description.error().message;
  if (!description) return std::nullopt;
  const auto slots = description->arch->tensor_slots(checkpoint->format(), description->config);
  Module tree = module_tree(description->config, slots, {});
  return Described{std::move(*description), std::move(tree)};
}

/// Models whose counts were compared.
std::set<std::string> check_counts(const fs::path& plans) {
  std::set<std::string> compared;
  for (const auto& entry : fs::directory_iterator(plans)) {
    SCOPED_TRACE(entry.path().filename().string());
    const auto model = describe(entry.path() / "config.json");
    if (!model) continue;  // has failed
    EXPECT_EQ(model->tree.n_parameters, *read_json(entry.path() / "expected.json").find("parameters")->as_int());
    compared.insert(entry.path().filename().string());
  }
  return compared;
}

TEST(ModuleTreeTest, CountsTheParametersOfRealConfigurations) {
  EXPECT_EQ(check_counts(testing::repo_path("tests/golden/plan")).size(), 43u);
}

TEST(ModuleTreeTest, CountsTheParametersOfAllSharedConfigurations) {
  const auto plans = testing::shared_path("goldens/plan");
  if (!plans) GTEST_SKIP() << "the shared goldens are not there";
  EXPECT_GE(check_counts(*plans).size(), 43u);
}

const Module* find(const Module& module, std::string_view name) {
  for (const Module& inner : module.modules) {
    if (inner.name == name) return &inner;
  }
  return nullptr;
}

TEST(ModuleTreeTest, FoldsEqualLayersAndSumsThemUp) {
  const auto phi3 = describe(testing::repo_path("tests/golden/plan/phi3-mini/config.json"));
  ASSERT_TRUE(phi3);
  const Module* blocks = find(phi3->tree, "blocks");
  ASSERT_TRUE(blocks);
  ASSERT_EQ(blocks->modules.size(), 1u);
  const Module& layer = blocks->modules[0];
  EXPECT_EQ(layer.name, "0-31");
  EXPECT_EQ(layer.n_copies, 32);
  // 4 d^2 + 3 d d_ff + 2 d with d = 3072, d_ff = 8192.
  EXPECT_EQ(layer.n_parameters, 4 * 3072 * 3072 + 3 * 3072 * 8192 + 2 * 3072);
  EXPECT_EQ(blocks->n_parameters, 32 * layer.n_parameters);
  EXPECT_EQ(phi3->tree.n_bytes, 0);
}

TEST(ModuleTreeTest, KeepsLayersOfDifferentKindsApart) {
  const auto gemma = describe(testing::repo_path("tests/golden/plan/gemma3-270m/config.json"));
  ASSERT_TRUE(gemma);
  const Module* blocks = find(gemma->tree, "blocks");
  ASSERT_EQ(blocks->modules.size(), 2u);
  EXPECT_EQ(blocks->modules[0].name, "0-4, 6-10, 12-16");
  EXPECT_EQ(blocks->modules[0].n_copies, 15);
  EXPECT_EQ(blocks->modules[1].name, "5, 11, 17");
  EXPECT_TRUE(find(*find(blocks->modules[0], "attn"), "q_norm"));
}

TEST(ModuleTreeTest, ExpertsAndDenseLayersStayApart) {
  const auto deepseek = describe(testing::repo_path("tests/golden/plan/deepseek-v3/config.json"));
  ASSERT_TRUE(deepseek);
  const Module* blocks = find(deepseek->tree, "blocks");
  ASSERT_EQ(blocks->modules.size(), 2u);
  EXPECT_EQ(blocks->modules[0].name, "0-2");
  const Module& ffn = *find(blocks->modules[1], "ffn");
  EXPECT_EQ(ffn.what, "8 of 256 experts, gated SiLU");
  EXPECT_EQ(find(ffn, "experts")->n_parameters, 3ll * 256 * 2048 * 7168);
  EXPECT_EQ(find(ffn, "router")->what, "sigmoid of each, best 4 of 8 groups, renormalised, times 2.5");
  // The selection bias is shown and not counted.
  EXPECT_EQ(find(ffn, "router")->tensors.size(), 2u);
  EXPECT_EQ(find(ffn, "router")->n_parameters, 256 * 7168);
}

TEST(ModuleTreeTest, AnEncoderIsAStackOfItsOwn) {
  const auto model = describe(testing::repo_path("tests/golden/plan/t5-small/config.json"));
  ASSERT_TRUE(model);
  const Module* encoder = find(model->tree, "encoder");
  ASSERT_TRUE(encoder);
  EXPECT_EQ(encoder->what, "6 layers that read the source");
  const Module* layers = find(*encoder, "blocks");
  // The first layer has the table of biases that all use.
  ASSERT_EQ(layers->modules.size(), 2u);
  EXPECT_EQ(layers->modules[0].name, "0");
  EXPECT_EQ(layers->modules[1].name, "1-5");
  EXPECT_EQ(layers->modules[0].n_parameters, layers->modules[1].n_parameters + 32 * 8);
  // 4 d d of cross attention and its norm more than in the encoder.
  EXPECT_EQ(find(model->tree, "blocks")->modules[1].n_parameters,
            layers->modules[1].n_parameters + 4 * 512 * 512 + 512);
}

TEST(ModuleTreeTest, ManyDifferentLayersStayApart) {
  ModelConfig config{.d_model = 4, .vocab_size = 4};
  config.blocks.resize(static_cast<size_t>(kMaxLayers));
  for (size_t i = 0; i < config.blocks.size(); ++i) config.blocks[i].attn.scale = 1.0 / static_cast<double>(i / 2 + 1);
  std::vector<TensorSlot> slots;
  for (size_t i = 0; i < config.blocks.size(); ++i) {
    slots.push_back({.name = "blocks." + std::to_string(i) + ".ffn.w_up", .shape = {1, 4}});
  }
  const Module tree = module_tree(config, slots, {});
  const Module* blocks = find(tree, "blocks");
  ASSERT_TRUE(blocks);
  ASSERT_EQ(blocks->modules.size(), config.blocks.size() / 2);
  EXPECT_EQ(blocks->modules[3].name, "6-7");
  EXPECT_EQ(blocks->n_parameters, kMaxLayers * 4);
}

TEST(ModuleTreeTest, AddsBytesAndTypesOfAFile) {
  const testing::GoldenTwin twin("llama-rope-llama3");
  const auto checkpoint = Checkpoint::open(twin.path());
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  const auto description = describe_model(*checkpoint);
  ASSERT_TRUE(description) << description.error().message;
  const auto slots = description->arch->tensor_slots(checkpoint->format(), description->config);
  const auto bound = bind_tensors(*checkpoint, slots, description->arch->ignorable_tensors);
  ASSERT_TRUE(bound) << bound.error().message;
  const Module tree = module_tree(description->config, slots, *bound);
  int64_t file_bytes = 0;
  for (const WeightEntry& entry : checkpoint->tensors()) file_bytes += static_cast<int64_t>(entry.end - entry.begin);
  EXPECT_EQ(tree.n_bytes, file_bytes);
  ASSERT_EQ(tree.tensors.size(), 1u);
  EXPECT_EQ(tree.tensors[0].name, "rope_factors");
  EXPECT_FALSE(tree.tensors[0].is_parameter);
  const Module& attn = *find(find(tree, "blocks")->modules[0], "attn");
  EXPECT_EQ(attn.tensors[0].types, (std::vector<DType>{DType::kBF16}));
  EXPECT_EQ(attn.tensors[0].n_bytes, 4 * 64 * 64 * 2);
}

TEST(ModuleTreeTest, RangesOfLayers) {
  EXPECT_EQ(layer_ranges(std::vector<int64_t>{}), "");
  EXPECT_EQ(layer_ranges(std::vector<int64_t>{3}), "3");
  EXPECT_EQ(layer_ranges(std::vector<int64_t>{0, 1, 2, 5, 7, 8}), "0-2, 5, 7-8");
}

}  // namespace
}  // namespace vitro
