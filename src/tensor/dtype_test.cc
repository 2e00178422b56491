// The table of element types against the gguf package's numbers, and shapes and sizes that come from untrusted files.
#include "tensor/dtype.h"

#include <gtest/gtest.h>

#include <limits>

#include "tensor/shape.h"

namespace vitro {
namespace {

TEST(DType, GgufNumbersAndBlocks) {
  struct Row {
    uint32_t gguf;
    DType dtype;
    const char* name;
    int elements, bytes;
  };
  // From gguf.constants: GGMLQuantizationType and GGML_QUANT_SIZES.
  const Row rows[] = {{0, DType::kF32, "F32", 1, 4},         {1, DType::kF16, "F16", 1, 2},
                      {3, DType::kQ4_1, "Q4_1", 32, 20},     {6, DType::kQ5_0, "Q5_0", 32, 22},
                      {8, DType::kQ8_0, "Q8_0", 32, 34},     {12, DType::kQ4_K, "Q4_K", 256, 144},
                      {14, DType::kQ6_K, "Q6_K", 256, 210},  {20, DType::kIQ4_NL, "IQ4_NL", 32, 18},
                      {29, DType::kIQ1_M, "IQ1_M", 256, 56}, {30, DType::kBF16, "BF16", 1, 2},
                      {39, DType::kMXFP4, "MXFP4", 32, 17}};
  for (const Row& row : rows) {
    EXPECT_EQ(dtype_from_gguf(row.gguf), row.dtype) << row.name;
    EXPECT_EQ(dtype_info(row.dtype).name, row.name);
    EXPECT_EQ(dtype_info(row.dtype).block_elements, row.elements) << row.name;
    EXPECT_EQ(dtype_info(row.dtype).block_bytes, row.bytes) << row.name;
  }
}

TEST(DType, UnknownNumbersAndNamesAreNothing) {
  for (const uint32_t removed : {4U, 5U, 31U, 33U, 1000U, 0xFFFFFFFFU}) EXPECT_FALSE(dtype_from_gguf(removed));
  EXPECT_EQ(dtype_from_name("BF16"), DType::kBF16);
  EXPECT_EQ(dtype_from_name("F8_E4M3"), DType::kF8E4M3);
  for (const char* name : {"bf16", "", "F33"}) EXPECT_FALSE(dtype_from_name(name)) << name;
}

TEST(DType, RowBytes) {
  EXPECT_EQ(row_bytes(DType::kF32, 7), 28U);
  EXPECT_EQ(row_bytes(DType::kQ4_1, 64), 40U);
  EXPECT_EQ(row_bytes(DType::kQ6_K, 0), 0U);
  EXPECT_FALSE(row_bytes(DType::kQ4_1, 33));
  EXPECT_FALSE(row_bytes(DType::kF64, std::numeric_limits<uint64_t>::max() / 8 + 1));
}

TEST(Shape, ElementsAndBytes) {
  EXPECT_EQ((Shape{3, 4}.n_elements()), 12);
  EXPECT_EQ(Shape{}.n_elements(), 1);
  EXPECT_EQ((Shape{3, 64}.last()), 64);
  EXPECT_EQ(to_string(Shape{4096, 11008}), "[4096, 11008]");
  EXPECT_EQ(checked_bytes(DType::kQ8_0, Shape{3, 64}), 3 * 68);
  EXPECT_EQ(checked_bytes(DType::kF16, Shape{2, 3, 5}), 60);
}

TEST(Shape, SizesThatDoNotFitAreNothing) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  EXPECT_FALSE(checked_elements(Shape{kHuge, kHuge}));
  EXPECT_FALSE(checked_bytes(DType::kF32, Shape{kHuge, int64_t{1} << 22}));
  EXPECT_FALSE(checked_bytes(DType::kQ4_K, Shape{2, 255}));
}

}  // namespace
}  // namespace vitro
