// Binding on small files made here: what fits, and every way not to fit, all in one message.
#include "weights/bind.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <set>

#include "testing/expect_error.h"
#include "testing/gguf_writer.h"
#include "testing/safetensors_writer.h"
#include "testing/temp_folder.h"
#include "weights/tensors.h"

namespace vitro {
namespace {

using testing::expect_error;
using testing::SafetensorsWriter;

/// A folder with a config.json and these tensors.
class BindTest : public ::testing::Test {
 public:
  BindTest& add(std::string_view name, DType dtype, const Shape& shape) {
    writer_.add(name, dtype, shape, std::string(static_cast<size_t>(*checked_bytes(dtype, shape)), '\0'));
    return *this;
  }

 protected:
  void SetUp() override { testing::write_file(folder_ / "config.json", "{}"); }

  const Checkpoint& open() {
    testing::write_file(folder_ / "model.safetensors", writer_.bytes());
    auto opened = Checkpoint::open(folder_);
    EXPECT_TRUE(opened) << opened.error().message;
    checkpoint_.emplace(std::move(*opened));
    return *checkpoint_;
  }

  const testing::TempFolder temp_;
  const std::filesystem::path& folder_ = temp_.path();
  SafetensorsWriter writer_;
  std::optional<Checkpoint> checkpoint_;
};

TensorSlot matrix(std::string name, Shape shape, std::vector<std::string> sources) {
  TensorSlot slot{.name = std::move(name), .shape = shape};
  for (std::string& source : sources) slot.sources.push_back({.name = std::move(source), .shape = shape});
  return slot;
}

TensorSlot vector(std::string name, int64_t n, std::vector<std::string> sources) {
  TensorSlot slot = matrix(std::move(name), {n}, std::move(sources));
  slot.use = SlotUse::kVector;
  return slot;
}

constexpr std::string_view kIgnorable[] = {".attn.mask", "lm_head.weight"};

TEST_F(BindTest, TakesTheFirstSourceThatIsThere) {
  add("wte.weight", DType::kF32, {4, 8})
      .add("norm.weight", DType::kBF16, {8})
      .add("lm_head.weight", DType::kF32, {4, 8});
  add("h.0.attn.mask", DType::kU8, {2, 2});
  TensorSlot optional = vector("rope_factors", 4, {"rope_freqs.weight"});
  optional.is_optional = true;
  const std::vector<TensorSlot> slots = {matrix("embed.w", {4, 8}, {"transformer.wte.weight", "wte.weight"}),
                                         vector("final_norm.gain", 8, {"norm.weight"}), optional};
  const auto bound = bind_tensors(open(), slots, kIgnorable);
  ASSERT_TRUE(bound) << bound.error().message;
  ASSERT_EQ(bound->size(), 2u);
  EXPECT_EQ((*bound)[0].slot, &slots[0]);
  EXPECT_EQ((*bound)[0].source_idx, 1);
  EXPECT_EQ((*bound)[0].entry->name, "wte.weight");
  EXPECT_EQ((*bound)[1].entry->dtype, DType::kBF16);
}

TEST_F(BindTest, ReportsEveryMisfitAtOnce) {
  add("embed", DType::kF32, {4, 9})
      .add("norm", DType::kI32, {8})
      .add("up", DType::kI64, {2, 2})
      .add("extra", DType::kF32, {3});
  add("xattn.mask", DType::kF32, {1});
  const std::vector<TensorSlot> slots = {matrix("embed.w", {4, 8}, {"embed"}), vector("final_norm.gain", 8, {"norm"}),
                                         matrix("up.w", {2, 2}, {"up"}),
                                         matrix("down.w", {2, 2}, {"down", "other.down"})};
  const auto bound = bind_tensors(open(), slots, kIgnorable);
  for (const char* part : {"'embed' has shape [4, 9], the description says [4, 8]",
                           "'norm' has type I32, which cannot be used for a vector",
                           "'up' has type I64, which cannot be used for a weight matrix", "'down' [2, 2] is missing",
                           "'extra' [3] has no place in the model", "'xattn.mask' [1] has no place"}) {
    expect_error(bound, ErrorCode::kInvalidArgument, part);
  }
}

/// Experts [3, 2, 4] under two layouts: one by one, and gate and up of all in one tensor, [in, out], interleaved.
TensorSlot experts() {
  TensorSlot slot{.name = "experts.w", .shape = {3, 2, 4}};
  slot.sources = {{.name = "experts.{}.weight", .shape = {2, 4}, .is_one_by_one = true},
                  {.name = "experts.fused",
                   .shape = {3, 4, 4},
                   .rows = {.kind = RowMap::Kind::kPerHead, .first = 1, .d = 1, .stride = 2},
                   .is_transposed = true}};
  return slot;
}

TEST_F(BindTest, StackedPartsMayBeTensorsOfTheirOwn) {
  for (const char* name : {"experts.2.weight", "experts.0.weight", "experts.1.weight"}) add(name, DType::kBF16, {2, 4});
  const std::vector<TensorSlot> slots = {experts()};
  const auto bound = bind_tensors(open(), slots, {});
  ASSERT_TRUE(bound) << bound.error().message;
  ASSERT_EQ(bound->size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*bound)[i].part, static_cast<int64_t>(i));
    EXPECT_EQ((*bound)[i].entry->name, "experts." + std::to_string(i) + ".weight");
    EXPECT_EQ((*bound)[i].shape(), (Shape{2, 4}));
  }
  ThreadPool pool(1);
  expect_error(load_tensors(*checkpoint_, *bound, {}, pool), ErrorCode::kUnsupported, "'experts.w': stacked");
}

TEST_F(BindTest, StackedPartsMayBeOneTensor) {
  add("experts.fused", DType::kF32, {3, 4, 4});
  const std::vector<TensorSlot> slots = {experts()};
  const auto bound = bind_tensors(open(), slots, {});
  ASSERT_TRUE(bound) << bound.error().message;
  ASSERT_EQ(bound->size(), 1u);
  EXPECT_EQ((*bound)[0].shape(), (Shape{3, 2, 4}));
}

TEST_F(BindTest, AMissingPartIsNamed) {
  add("experts.0.weight", DType::kF32, {2, 4}).add("experts.2.weight", DType::kF32, {2, 5});
  const std::vector<TensorSlot> slots = {experts()};
  const auto bound = bind_tensors(open(), slots, {});
  expect_error(bound, ErrorCode::kInvalidArgument, "'experts.1.weight' [2, 4] is missing");
  expect_error(bound, ErrorCode::kInvalidArgument, "'experts.2.weight' has shape [2, 5], the description says [2, 4]");
}

TEST_F(BindTest, StackedShapesMustAgree) {
  add("experts.fused", DType::kF32, {2, 4, 4});
  const std::vector<TensorSlot> slots = {experts()};
  expect_error(bind_tensors(open(), slots, {}), ErrorCode::kInvalidArgument,
               "'experts.fused' has shape [2, 4, 4], the description says [3, 4, 4]");
  TensorSlot contradictory = experts();
  contradictory.sources[1].shape = {2, 4, 4};
  const std::vector<TensorSlot> wrong = {contradictory};
  expect_error(bind_tensors(*checkpoint_, wrong, {}), ErrorCode::kInvalidArgument,
               "the description contradicts itself");
}

TEST_F(BindTest, SkippedTensorsAreLeftAlone) {
  add("layers.0.w", DType::kF32, {2, 4}).add("layers.1.w", DType::kI64, {7}).add("layers.10.w", DType::kF32, {1});
  TensorSlot skipped{.name = "one layer more", .use = SlotUse::kSkipped, .is_optional = true};
  skipped.sources = {{.name = "layers.1."}};
  const std::vector<TensorSlot> slots = {matrix("w", {2, 4}, {"layers.0.w"}), skipped};
  const auto bound = bind_tensors(open(), slots, {});
  expect_error(bound, ErrorCode::kInvalidArgument, "'layers.10.w' [1] has no place");
  EXPECT_EQ(bound.error().message.find("layers.1.w"), std::string::npos) << bound.error().message;
}

TEST_F(BindTest, TypesAreTakenOrRefusedByName) {
  const std::set<std::string_view> taken = {"F32",  "F16",  "BF16", "Q4_0", "Q4_1", "Q5_0",   "Q5_1",   "Q8_0",
                                            "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4"};
  const std::vector<TensorSlot> slots = {matrix("w", {2, 256}, {"weight"})};
  for (const DType dtype : kAllDTypes) {
    const std::string name(dtype_info(dtype).name);
    const std::string data(static_cast<size_t>(*checked_bytes(dtype, {2, 256})), '\0');
    SafetensorsWriter safetensors;
    testing::GgufWriter gguf;
    const bool is_gguf = dtype_info(dtype).gguf_type >= 0;
    if (is_gguf) gguf.add("general.architecture", "llama").add_tensor("weight", dtype, {2, 256}, data);
    if (!is_gguf) safetensors.add("weight", dtype, {2, 256}, data);
    testing::write_file(folder_ / "model.safetensors", safetensors.bytes());
    testing::write_file(folder_ / "model.gguf", gguf.bytes());
    const auto checkpoint = Checkpoint::open(is_gguf ? folder_ / "model.gguf" : folder_);
    ASSERT_TRUE(checkpoint) << name << ": " << checkpoint.error().message;
    const auto bound = bind_tensors(*checkpoint, slots, {});
    EXPECT_EQ(bound.has_value(), taken.contains(name)) << name;
    if (taken.contains(name)) continue;
    expect_error(bound, ErrorCode::kInvalidArgument,
                 "'weight' has type " + name + ", which cannot be used for a weight matrix");
  }
}

TEST_F(BindTest, VectorsMayBeFloat64) {
  writer_.add("norm", DType::kF64, {3}, testing::bytes_of(std::vector<double>{1, 0x1p-30, 1 + 0x1p-24}));
  const std::vector<TensorSlot> slots = {vector("final_norm.gain", 3, {"norm"})};
  const Checkpoint& checkpoint = open();
  const auto bound = bind_tensors(checkpoint, slots, {});
  ASSERT_TRUE(bound) << bound.error().message;
  ThreadPool pool(1);
  const auto tensors = load_tensors(checkpoint, *bound, {}, pool);
  ASSERT_TRUE(tensors) << tensors.error().message;
  const auto values = tensors->vector("final_norm.gain");
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), (std::vector<float>{1, 0x1p-30F, 1}));  // ties to even
}

TEST_F(BindTest, AFusedTensorIsReportedOnce) {
  add("other", DType::kF32, {1});
  std::vector<TensorSlot> slots;
  for (const char* name : {"w_q", "w_k", "w_v"}) {
    slots.push_back(matrix(name, {2, 2}, {"qkv"}));
    slots.back().sources[0].shape = {6, 2};
  }
  const auto bound = bind_tensors(open(), slots, kIgnorable);
  expect_error(bound, ErrorCode::kInvalidArgument, "'qkv' [6, 2] is missing");
  EXPECT_EQ(bound.error().message.find("qkv"), bound.error().message.rfind("qkv"));
}

// Four heads of q out of a tensor that holds one KV head for all: head 2 and 3 would be read behind its end.
TEST_F(BindTest, RowsOutsideTheSourceAreRefused) {
  add("qkv", DType::kF32, {96, 8}).add("table", DType::kF32, {4, 8});
  TensorSlot q = matrix("attn.w_q", {64, 8}, {"qkv"});
  q.sources[0].shape = {96, 8};
  q.sources[0].rows = {.kind = RowMap::Kind::kPerHead, .first = 0, .d = 16, .stride = 48};
  TensorSlot wide = matrix("wide.w", {4, 9}, {"table"});
  wide.sources[0].shape = {4, 8};
  const auto bound = bind_tensors(open(), std::vector<TensorSlot>{q, wide}, {});
  expect_error(bound, ErrorCode::kInvalidArgument, "'attn.w_q' [64, 8] does not lie inside 'qkv' [96, 8]");
  expect_error(bound, ErrorCode::kInvalidArgument, "'wide.w' [4, 9] does not lie inside 'table' [4, 8]");
}

TEST_F(BindTest, EveryUseOfATensorIsChecked) {
  add("shared", DType::kF32, {4, 8});
  const std::vector<TensorSlot> slots = {matrix("a", {4, 8}, {"shared"}), matrix("b", {6, 8}, {"shared"})};
  expect_error(bind_tensors(open(), slots, {}), ErrorCode::kInvalidArgument,
               "'shared' has shape [4, 8], the description says [6, 8]");
}

TEST_F(BindTest, AFusedTensorOfTheWrongShapeIsReportedOnce) {
  add("qkv", DType::kF32, {5, 2});
  std::vector<TensorSlot> slots;
  for (const char* name : {"w_q", "w_k", "w_v"}) {
    slots.push_back(matrix(name, {2, 2}, {"qkv"}));
    slots.back().sources[0].shape = {6, 2};
  }
  const auto bound = bind_tensors(open(), slots, {});
  expect_error(bound, ErrorCode::kInvalidArgument, "'qkv' has shape [5, 2], the description says [6, 2]");
  EXPECT_EQ(bound.error().message.find("qkv"), bound.error().message.rfind("qkv"));
}

TEST_F(BindTest, LongListsAreCut) {
  add("other", DType::kF32, {1});
  std::vector<TensorSlot> slots;
  for (int i = 0; i < 500; ++i) slots.push_back(vector(fmt::format("v{}", i), 2, {fmt::format("missing{}", i)}));
  const auto bound = bind_tensors(open(), slots, kIgnorable);
  expect_error(bound, ErrorCode::kInvalidArgument, "'missing19' [2] is missing");
  expect_error(bound, ErrorCode::kInvalidArgument, "and 481 more");
  EXPECT_EQ(bound.error().message.find("missing20'"), std::string::npos);
}

}  // namespace
}  // namespace vitro
