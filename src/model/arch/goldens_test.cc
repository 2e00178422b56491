// Every family against real files: a checkpoint as Hugging Face writes it and its GGUF twin must describe the same
// model and, bound, give bit-identical tensors under our names. Over tests/golden, and over the shared goldens where
// they are.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "formats/checkpoint.h"
#include "model/arch/architecture.h"
#include "model/differences.h"
#include "tensor/panel.h"
#include "testing/golden_twin.h"
#include "testing/goldens.h"
#include "testing/safetensors_writer.h"
#include "weights/bind.h"

namespace vitro {
namespace {

using testing::shared_path;

/// A file tensor as float32, in the file's order.
std::vector<float> file_values(const Checkpoint& checkpoint, const WeightEntry& entry) {
  const ConstTensorView view = checkpoint.view(entry);
  std::vector<float> values(static_cast<size_t>(entry.shape.n_elements()));
  dequantize_row(view.dtype, view.data, entry.shape.n_elements(), values.data());
  return values;
}

/// The tensor in our layout, straight from the definitions in weights/slot.h.
std::vector<float> our_values(const Checkpoint& checkpoint, const BoundTensor& bound) {
  const std::vector<float> file = file_values(checkpoint, *bound.entry);
  const Shape& shape = bound.slot->shape;
  const TensorSource& source = bound.source();
  const int64_t width = shape.rank() == 2 ? shape[1] : 1;
  const int64_t file_rows = static_cast<int64_t>(file.size()) / width;
  std::vector<float> ours(static_cast<size_t>(shape.n_elements()));
  for (int64_t row = 0; row < shape[0]; ++row) {
    for (int64_t col = 0; col < width; ++col) {
      const int64_t from = source_row(source.rows, row);
      const int64_t at = source.is_transposed ? col * file_rows + from : from * width + col;
      ours[static_cast<size_t>(row * width + col)] = static_cast<float>(file.at(static_cast<size_t>(at)) + source.add);
    }
  }
  return ours;
}

struct Opened {
  Checkpoint checkpoint;
  ModelDescription description;
  std::map<std::string, std::vector<float>> tensors;
};

Opened open_all(const std::filesystem::path& path) {
  auto checkpoint = Checkpoint::open(path);
  if (!checkpoint) throw std::runtime_error(checkpoint.error().message);
  auto description = describe_model(*checkpoint);
  if (!description) throw std::runtime_error(description.error().message);
  Opened opened{std::move(*checkpoint), std::move(*description), {}};
  const auto slots = opened.description.arch->tensor_slots(opened.checkpoint.format(), opened.description.config);
  const auto bound = bind_tensors(opened.checkpoint, slots, opened.description.arch->ignorable_tensors);
  if (!bound) throw std::runtime_error(bound.error().message);
  for (const BoundTensor& tensor : *bound) opened.tensors[tensor.slot->name] = our_values(opened.checkpoint, tensor);
  return opened;
}

class TwinTest : public ::testing::TestWithParam<testing::Golden> {};

void expect_twins(const Opened& hf, const Opened& gguf, bool is_same_model) {
  for (const auto& [name, values] : gguf.tensors) {
    EXPECT_TRUE(hf.tensors.contains(name) || name.starts_with("rope_factors")) << name;
  }
  for (const auto& [name, values] : hf.tensors) {
    const auto it = gguf.tensors.find(name);
    ASSERT_TRUE(it != gguf.tensors.end()) << name;
    EXPECT_EQ(0, std::memcmp(values.data(), it->second.data(), values.size() * sizeof(float))) << name;
  }
  const std::vector<std::string> differences = config_differences(hf.description.config, gguf.description.config);
  EXPECT_EQ(differences.empty(), is_same_model) << fmt::format("{}", fmt::join(differences, ", "));
}

TEST_P(TwinTest, HuggingFaceAndGgufBindToTheSameTensors) {
  const testing::Golden& golden = GetParam();
  const Opened hf = open_all(golden_path(golden));
  EXPECT_EQ(hf.description.config.family, hf.description.arch->name);
  if (golden.twin == testing::TwinKind::kNone) return;
  const testing::GoldenTwin twin(golden.name);
  expect_twins(hf, open_all(twin.path()), golden.twin != testing::TwinKind::kSaysLess);
}

// The float32 checkpoints that the others were made of have the same names, and the same values.
TEST_P(TwinTest, BindsToTheSameTensorsInFloat32) {
  const testing::Golden& golden = GetParam();
  const auto folder = shared_path(std::string("goldens/models/") + golden.name);
  if (!folder) GTEST_SKIP() << "the shared goldens are not there";
  expect_twins(open_all(*folder), open_all(golden_path(golden)), true);
}

INSTANTIATE_TEST_SUITE_P(Goldens, TwinTest, ::testing::ValuesIn(testing::kGoldens),
                         [](const auto& param) { return testing::test_name(param.param); });

TEST(GoldensTest, Gemma3Binds) {
  const Opened opened = open_all(testing::repo_path("tests/golden/gemma3"));
  EXPECT_EQ(opened.tensors.size(), size_t{1 + 6 * 13 + 1});
  EXPECT_TRUE(opened.tensors.contains("blocks.5.ffn_post_norm.gain"));
}

// Checkpoints of the bare body, as OpenAI's GPT-2 was published, lack the prefix and hold masks.
TEST(GoldensTest, Gpt2WithoutPrefixBinds) {
  const auto original = testing::repo_path("tests/golden/gpt2");
  const testing::TempFolder copy;
  std::filesystem::copy(original / "config.json", copy.path());
  const auto checkpoint = Checkpoint::open(original);
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  testing::SafetensorsWriter writer;
  for (const WeightEntry& entry : checkpoint->tensors()) {
    const auto bytes = checkpoint->view(entry).bytes();
    std::string name = entry.name;
    if (name.starts_with("transformer.")) name.erase(0, std::string_view("transformer.").size());
    writer.add(name, entry.dtype, entry.shape, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  writer.add("h.0.attn.bias", DType::kF32, {1, 1, 2, 2}, std::string(16, '\0'));
  writer.add("h.0.attn.masked_bias", DType::kF32, {}, std::string(4, '\0'));
  testing::write_file(copy.path() / "model.safetensors", writer.bytes());
  const Opened bare = open_all(copy.path());
  const Opened full = open_all(original);
  EXPECT_EQ(bare.tensors, full.tensors);
}

TEST(GoldensTest, Llama2cFileBinds) {
  const auto path = shared_path("data/weights/stories260K/stories260K.bin");
  if (!path) GTEST_SKIP() << "the shared data are not there";
  const Opened opened = open_all(*path);
  const ModelConfig& config = opened.description.config;
  EXPECT_EQ(config.d_model, 64);
  EXPECT_EQ(config.n_layer(), 5);
  EXPECT_EQ(config.blocks[0].attn.group_size(), 2);
  EXPECT_TRUE(config.is_head_tied);
  EXPECT_EQ(opened.tensors.size(), size_t{1 + 5 * 9 + 1});
}

}  // namespace
}  // namespace vitro
