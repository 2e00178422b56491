#include "formats/gguf.h"

#include <gtest/gtest.h>

#include <cmath>

#include "testing/expect_error.h"
#include "testing/gguf_writer.h"
#include "testing/index_rules.h"

namespace vitro {
namespace {

using testing::as_bytes;
using testing::GgufWriter;

GgufFile read(const std::string& bytes) {
  auto file = read_gguf(as_bytes(bytes), "test.gguf");
  EXPECT_TRUE(file.has_value()) << (file ? "" : file.error().message);
  return file ? std::move(*file) : GgufFile{};
}

TEST(Gguf, ReadsEveryScalarKind) {
  GgufWriter writer;
  writer.add("u8", uint8_t{200}).add("i8", int8_t{-100}).add("u16", uint16_t{60000}).add("i16", int16_t{-30000});
  writer.add("u32", uint32_t{4000000000}).add("i32", int32_t{-2000000000}).add("f32", 0.1f).add("bool", true);
  writer.add("string", "fünf").add("u64", uint64_t{INT64_MAX}).add("i64", int64_t{INT64_MIN}).add("f64", 0.1);
  const std::string bytes = writer.bytes();
  const GgufFile file = read(bytes);

  EXPECT_EQ(file.version, 3u);
  EXPECT_EQ(file.metadata.size(), 12u);
  EXPECT_EQ(*file.find_int("u8"), 200);
  EXPECT_EQ(*file.find_int("i8"), -100);
  EXPECT_EQ(*file.find_int("u16"), 60000);
  EXPECT_EQ(*file.find_int("i16"), -30000);
  EXPECT_EQ(*file.find_int("u32"), 4000000000);
  EXPECT_EQ(*file.find_int("i32"), -2000000000);
  EXPECT_EQ(*file.find_int("u64"), INT64_MAX);
  EXPECT_EQ(*file.find_int("i64"), INT64_MIN);
  EXPECT_EQ(*file.find_real("f32"), static_cast<double>(0.1f));
  EXPECT_EQ(*file.find_real("f64"), 0.1);
  EXPECT_EQ(*file.find_bool("bool"), true);
  EXPECT_EQ(*file.find_string("string"), "fünf");
}

TEST(Gguf, LooksUpByKeyAndKind) {
  GgufWriter writer;
  writer.add("n", uint32_t{7});
  const std::string bytes = writer.bytes();
  const GgufFile file = read(bytes);
  EXPECT_EQ(file.find("n")->type, GgufType::kU32);
  EXPECT_EQ(file.find("m"), nullptr);
  EXPECT_EQ(file.find_string("n"), nullptr);
  EXPECT_EQ(file.find_real("n"), nullptr);
  EXPECT_EQ(file.find_bool("n"), nullptr);
  EXPECT_EQ(file.find_array("n"), nullptr);
  EXPECT_EQ(file.find_int("m"), nullptr);
}

TEST(Gguf, ReadsEveryArrayKind) {
  GgufWriter writer;
  writer.add("u8", std::vector<uint8_t>{1, 255}).add("i8", std::vector<int8_t>{-1, 2});
  writer.add("u16", std::vector<uint16_t>{65535}).add("i16", std::vector<int16_t>{-2, -3});
  writer.add("u32", std::vector<uint32_t>{1, 4294967295}).add("i32", std::vector<int32_t>{-5});
  writer.add("u64", std::vector<uint64_t>{9}).add("i64", std::vector<int64_t>{-9, 8});
  writer.add("f32", std::vector<float>{0.5f, -2.0f}).add("f64", std::vector<double>{0.25});
  writer.add("bool", GgufWriter::array({GgufWriter::scalar(true), GgufWriter::scalar(false)}));
  writer.add("strings", std::vector<std::string>{"a", "", "ccc"}).add("empty", std::vector<float>{});
  const std::string bytes = writer.bytes();
  const GgufFile file = read(bytes);

  EXPECT_EQ(file.find_array("u8")->int_at(1), 255);
  EXPECT_EQ(file.find_array("i8")->int_at(0), -1);
  EXPECT_EQ(file.find_array("u16")->int_at(0), 65535);
  EXPECT_EQ(file.find_array("i16")->int_at(1), -3);
  EXPECT_EQ(file.find_array("u32")->int_at(1), 4294967295);
  EXPECT_EQ(file.find_array("i32")->int_at(0), -5);
  EXPECT_EQ(file.find_array("u64")->int_at(0), 9);
  EXPECT_EQ(file.find_array("i64")->int_at(0), -9);
  EXPECT_EQ(file.find_array("f32")->real_at(1), -2.0);
  EXPECT_EQ(file.find_array("f64")->real_at(0), 0.25);
  EXPECT_EQ(file.find_array("bool")->int_at(0), 1);
  EXPECT_EQ(file.find_array("strings")->strings, (std::vector<std::string_view>{"a", "", "ccc"}));
  EXPECT_EQ(file.find_array("empty")->count, 0u);
  EXPECT_EQ(file.find_array("empty")->element, GgufType::kF32);
}

TEST(Gguf, ArraysAnswerZeroForOtherKindsAndPlaces) {
  GgufWriter writer;
  writer.add("ints", std::vector<int32_t>{3}).add("reals", std::vector<float>{1.5f});
  writer.add("strings", std::vector<std::string>{"x"});
  const std::string bytes = writer.bytes();
  const GgufFile file = read(bytes);
  EXPECT_EQ(file.find_array("ints")->int_at(1), 0);
  EXPECT_EQ(file.find_array("ints")->real_at(0), 0.0);
  EXPECT_EQ(file.find_array("reals")->int_at(0), 0);
  EXPECT_EQ(file.find_array("strings")->int_at(0), 0);
  EXPECT_TRUE(file.find_array("ints")->is_integer());
  EXPECT_FALSE(file.find_array("reals")->is_integer());
  EXPECT_TRUE(file.find_array("reals")->is_real());
  EXPECT_FALSE(file.find_array("strings")->is_integer());
}

TEST(Gguf, ReadsNestedArrays) {
  const auto row = [](int32_t a) { return GgufWriter::array({GgufWriter::scalar(a), GgufWriter::scalar(a + 1)}); };
  GgufWriter writer;
  writer.add("rows", GgufWriter::array({row(10), row(20)}));
  const std::string bytes = writer.bytes();
  const GgufFile file = read(bytes);
  const GgufArray& rows = *file.find_array("rows");
  ASSERT_EQ(rows.arrays.size(), 2u);
  EXPECT_EQ(rows.arrays[1].int_at(1), 21);
}

TEST(Gguf, ReadsTensorsOfEveryType) {
  GgufWriter writer;
  std::vector<std::pair<std::string, DType>> added;
  for (int i = 0; i <= static_cast<int>(DType::kF8E5M2); ++i) {
    const auto dtype = static_cast<DType>(i);
    const DTypeInfo& info = dtype_info(dtype);
    if (info.gguf_type < 0) continue;
    const Shape shape{3, 2 * info.block_elements};
    writer.add_tensor(info.name, dtype, shape, std::string(static_cast<size_t>(6 * info.block_bytes), 'x'));
    added.emplace_back(info.name, dtype);
  }
  const std::string bytes = writer.bytes();
  const GgufFile file = read(bytes);
  ASSERT_EQ(file.tensors.size(), added.size());
  EXPECT_EQ(testing::broken_rule(file.tensors, bytes.size()), "");
  std::sort(added.begin(), added.end());
  for (size_t i = 0; i < added.size(); ++i) {
    EXPECT_EQ(file.tensors[i].name, added[i].first);
    EXPECT_EQ(file.tensors[i].dtype, added[i].second);
    EXPECT_EQ(file.tensors[i].begin % 32, 0u);
  }
}

TEST(Gguf, UndoesTheReversedOrderOfDimensions) {
  GgufWriter writer;
  const std::vector<float> values = {0, 1, 2, 3, 4, 5};
  writer.add_tensor("m", DType::kF32, {3, 1, 2}, testing::bytes_of(values));
  writer.add_tensor("scalar", DType::kF32, {}, testing::bytes_of(std::vector<float>{7}));
  writer.add_tensor("none", DType::kF32, {0, 4}, "");
  const std::string bytes = writer.bytes();
  const GgufFile file = read(bytes);
  ASSERT_EQ(file.tensors.size(), 3u);
  EXPECT_EQ(file.tensors[0].shape, (Shape{3, 1, 2}));
  EXPECT_EQ(bytes.substr(file.tensors[0].begin, 24), testing::bytes_of(values));
  EXPECT_EQ(file.tensors[1].shape, (Shape{0, 4}));
  EXPECT_EQ(file.tensors[2].shape, Shape{});
}

TEST(Gguf, ReadsVersion2AndOtherAlignments) {
  for (const uint32_t alignment : {8u, 16u, 64u, 65536u}) {
    GgufWriter writer;
    writer.version = 2;
    writer.align_to(alignment).add_tensor("a", DType::kI8, {3}, "abc").add_tensor("b", DType::kI8, {2}, "de");
    const std::string bytes = writer.bytes();
    const GgufFile file = read(bytes);
    EXPECT_EQ(file.version, 2u);
    EXPECT_EQ(file.alignment, alignment);
    ASSERT_EQ(file.tensors.size(), 2u);
    EXPECT_EQ(bytes.substr(file.tensors[1].begin, 2), "de");
    EXPECT_EQ(file.tensors[1].begin - file.tensors[0].begin, alignment);
  }
}

TEST(Gguf, PaddingAfterTheLastTensorMayBeMissing) {
  GgufWriter writer;
  writer.add_tensor("a", DType::kI8, {3}, "abc");
  const std::string bytes = writer.bytes();
  const uint64_t end = read(bytes).tensors[0].end;
  EXPECT_LT(end, bytes.size());
  read(bytes.substr(0, end));
  testing::expect_error(read_gguf(as_bytes(bytes.substr(0, end - 1)), "f"), ErrorCode::kCorrupt,
                        "tensor 'a': needs 3 B");
  testing::expect_error(read_gguf(as_bytes(bytes + "abc"), "f"), ErrorCode::kCorrupt, "bytes follow the last tensor");
}

TEST(Gguf, HeaderOnlyNeedsNoTensorData) {
  GgufWriter writer;
  writer.add("general.architecture", "llama").add_tensor("w", DType::kF16, {4, 8}, std::string(64, 'x'));
  const std::string header = writer.header();
  auto file = read_gguf(as_bytes(header), "h.gguf", true);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->tensors[0].end - file->tensors[0].begin, 64u);
  testing::expect_error(read_gguf(as_bytes(header), "h.gguf"), ErrorCode::kCorrupt, "the download may be incomplete");
  testing::expect_error(read_gguf(as_bytes(header.substr(0, header.size() - 1)), "h.gguf", true), ErrorCode::kCorrupt,
                        "[gguf] h.gguf: tensor 'w': offset at offset");
}

TEST(Gguf, ConfigLeavesTheTokenizerOut) {
  GgufWriter writer;
  writer.add("general.architecture", "llama").add("llama.block_count", uint32_t{3}).add("llama.eps", 0.5f);
  writer.add("tokenizer.ggml.tokens", std::vector<std::string>{"a"}).add("llama.is_on", true);
  writer.add("llama.windows", std::vector<int32_t>{1, -2}).add("tags", std::vector<std::string>{"x", "y"});
  const std::string bytes = writer.bytes();
  const Value config = gguf_config(read(bytes));
  EXPECT_EQ(to_string(config),
            R"({"general.architecture":"llama","llama.block_count":3,"llama.eps":0.5,"llama.is_on":true,)"
            R"("llama.windows":[1,-2],"tags":["x","y"]})");
}

}  // namespace
}  // namespace vitro
