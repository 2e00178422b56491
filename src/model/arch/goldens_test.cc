// Every family against real files: a checkpoint as Hugging Face writes it and its GGUF twin must describe the same
// model and, bound, give bit-identical tensors under our names. Over tests/golden, and over the shared goldens where
// they are.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "formats/checkpoint.h"
#include "model/arch/architecture.h"
#include "tensor/panel.h"
#include "testing/safetensors_writer.h"
#include "testing/shared_data.h"
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

/// Folders of checkpoints and of their GGUF twins.
std::vector<std::pair<std::filesystem::path, std::filesystem::path>> golden_roots() {
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> roots;
  roots.emplace_back(testing::repo_path("tests/golden"), testing::repo_path("tests/golden/gguf"));
  const auto models = shared_path("goldens/models");
  const auto ggufs = shared_path("goldens/gguf");
  if (models && ggufs) roots.emplace_back(*models, *ggufs);
  return roots;
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

struct Twin {
  const char* name;
  bool is_same_model;  ///< false: GGUF cannot say the fact (see the goldens' README); the weights must still agree
};
class TwinTest : public ::testing::TestWithParam<Twin> {};

/// GGUF keeps reals as float32: equal as such, and then the same.
void expect_same_real(double& hf, double& gguf) {
  EXPECT_EQ(static_cast<float>(hf), static_cast<float>(gguf));
  hf = gguf;
}

/// GGUF keeps llama3's stretching as divisors (rope_test compares those); all else must be equal.
void expect_same_block(BlockSpec hf, BlockSpec gguf) {
  expect_same_real(hf.norm.eps, gguf.norm.eps);
  expect_same_real(hf.attn.qk_norm_spec.eps, gguf.attn.qk_norm_spec.eps);
  expect_same_real(hf.attn.scale, gguf.attn.scale);
  expect_same_real(hf.residual_scale, gguf.residual_scale);
  if (gguf.attn.rope.scaling == RopeScaling::kFactors) hf.attn.rope = gguf.attn.rope;
  EXPECT_TRUE(hf == gguf);
}

void expect_twins(const Opened& hf, const Opened& gguf, bool is_same_model) {
  for (const auto& [name, values] : gguf.tensors) {
    EXPECT_TRUE(hf.tensors.contains(name) || name.starts_with("rope_factors")) << name;
  }
  for (const auto& [name, values] : hf.tensors) {
    const auto it = gguf.tensors.find(name);
    ASSERT_TRUE(it != gguf.tensors.end()) << name;
    EXPECT_EQ(0, std::memcmp(values.data(), it->second.data(), values.size() * sizeof(float))) << name;
  }
  const ModelConfig& a = hf.description.config;
  const ModelConfig& b = gguf.description.config;
  EXPECT_EQ(a.vocab_size, b.vocab_size);
  EXPECT_EQ(a.n_ctx, b.n_ctx);
  EXPECT_EQ(a.is_head_tied, b.is_head_tied);
  EXPECT_EQ(a.embed_scale, b.embed_scale);
  EXPECT_EQ(a.logit_scale, b.logit_scale);
  EXPECT_EQ(a.logit_softcap, b.logit_softcap);
  ASSERT_EQ(a.blocks.size(), b.blocks.size());
  for (size_t i = 0; is_same_model && i < a.blocks.size(); ++i) expect_same_block(a.blocks[i], b.blocks[i]);
}

TEST_P(TwinTest, HuggingFaceAndGgufBindToTheSameTensors) {
  const std::string name = GetParam().name;
  int n_compared = 0;
  for (const auto& [models, ggufs] : golden_roots()) {
    if (!exists(models / name) || !exists(ggufs / (name + ".gguf"))) continue;
    SCOPED_TRACE(models.string());
    expect_twins(open_all(models / name), open_all(ggufs / (name + ".gguf")), GetParam().is_same_model);
    ++n_compared;
  }
  if (n_compared == 0) GTEST_SKIP() << "only among the shared goldens, which are not there";
}

INSTANTIATE_TEST_SUITE_P(
    Goldens, TwinTest,
    ::testing::Values(Twin{"gpt2", true}, Twin{"gpt2-scaled", false}, Twin{"gpt-neox", true},
                      Twin{"gpt-neox-serial", true}, Twin{"llama-gqa", true}, Twin{"llama-mha", true},
                      Twin{"llama-mqa", true}, Twin{"llama-rope-dynamic", false}, Twin{"llama-rope-linear", true},
                      Twin{"llama-rope-llama3", true}, Twin{"llama-rope-yarn", true}, Twin{"mistral-sliding", false},
                      Twin{"qwen3", true}, Twin{"phi3", true}, Twin{"phi3-longrope", false}, Twin{"qwen2", true},
                      Twin{"qwen2-sliding", false}, Twin{"gemma", true}, Twin{"gemma2", false}, Twin{"smollm3", true},
                      Twin{"granite", true}, Twin{"olmo2", true}, Twin{"glm4", true}, Twin{"cohere", true}),
    [](const auto& twin) {
      std::string name = twin.param.name;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(GoldensTest, Gemma3Binds) {
  const Opened opened = open_all(testing::repo_path("tests/golden/gemma3"));
  EXPECT_EQ(opened.tensors.size(), size_t{1 + 6 * 13 + 1});
  EXPECT_TRUE(opened.tensors.contains("blocks.5.ffn_post_norm.gain"));
}

// One tensor [n_head, d_head] gives every head its gain.
TEST(GoldensTest, CohereBindsTheNormOfEachHead) {
  const auto folder = testing::repo_path("tests/golden/own/cohere-qknorm");
  const auto checkpoint = Checkpoint::open(folder);
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  const Opened opened = open_all(folder);
  const AttentionSpec& attn = opened.description.config.blocks[1].attn;
  for (const WeightEntry& entry : checkpoint->tensors()) {
    if (entry.name != "model.layers.1.self_attn.q_norm.weight") continue;
    const std::vector<float> all = file_values(*checkpoint, entry);
    std::vector<float> joined;
    for (int64_t h = 0; h < attn.n_head; ++h) {
      const std::vector<float>& gain = opened.tensors.at(fmt::format("blocks.1.attn.q_norm.{}.gain", h));
      EXPECT_EQ(static_cast<int64_t>(gain.size()), attn.d_head);
      joined.insert(joined.end(), gain.begin(), gain.end());
    }
    EXPECT_EQ(joined, all);
    return;
  }
  FAIL() << "no such tensor";
}

// Checkpoints of the bare body, as OpenAI's GPT-2 was published, lack the prefix and hold masks.
TEST(GoldensTest, Gpt2WithoutPrefixBinds) {
  const auto original = testing::repo_path("tests/golden/gpt2");
  const auto folder = std::filesystem::temp_directory_path() / ("vitro_gpt2_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(original / "config.json", folder / "config.json",
                             std::filesystem::copy_options::overwrite_existing);
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
  testing::write_file(folder / "model.safetensors", writer.bytes());
  const Opened bare = open_all(folder);
  const Opened full = open_all(original);
  EXPECT_EQ(bare.tensors, full.tensors);
  std::filesystem::remove_all(folder);
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
