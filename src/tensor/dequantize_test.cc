// De-quantisation against the gguf package, and plain numbers against NumPy's conversion:
// tests/data/tensor/quant_blocks.bin (tools/make_quant_expectations.py).
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "tensor/half.h"
#include "tensor/panel.h"
#include "testing/shared_data.h"

namespace vitro {
namespace {

/// A row of random blocks and its values by the gguf package or NumPy.
struct Expectation {
  DType dtype;
  std::vector<std::byte> row;
  std::vector<float> values;
};

template <class T>
std::vector<T> take(const std::string& bytes, size_t& at, size_t count) {
  std::vector<T> out(count);
  EXPECT_LE(at + count * sizeof(T), bytes.size());
  std::memcpy(out.data(), bytes.data() + at, count * sizeof(T));
  at += count * sizeof(T);
  return out;
}

std::vector<Expectation> read_expectations() {
  std::ifstream file(testing::repo_path("tests/data/tensor/quant_blocks.bin"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<Expectation> all;
  for (size_t at = 0; at < bytes.size();) {
    std::vector<char> name = take<char>(bytes, at, 8);
    name.push_back('\0');
    const DType dtype = dtype_from_name(name.data()).value();
    const size_t n_elements = take<uint32_t>(bytes, at, 1)[0];
    std::vector<std::byte> row = take<std::byte>(bytes, at, row_bytes(dtype, n_elements).value());
    all.push_back({dtype, std::move(row), take<float>(bytes, at, n_elements)});
  }
  return all;
}

/// Bit for bit, so that -0 differs from 0.
void expect_same_bits(const std::vector<float>& actual, const std::vector<float>& expected, DType dtype) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(actual[i]), std::bit_cast<uint32_t>(expected[i]))
        << dtype_info(dtype).name << " element " << i << ": " << actual[i] << ", expected " << expected[i];
  }
}

TEST(Dequantize, MatchesTheGgufPackageAndNumPyBitForBit) {
  for (const Expectation& expected : read_expectations()) {
    ASSERT_TRUE(can_dequantize(expected.dtype)) << dtype_info(expected.dtype).name;
    std::vector<float> out(expected.values.size());
    dequantize_row(expected.dtype, expected.row.data(), static_cast<int64_t>(out.size()), out.data());
    expect_same_bits(out, expected.values, expected.dtype);
  }
}

TEST(Dequantize, ReadsRowsAtAnyAddress) {
  for (const Expectation& expected : read_expectations()) {
    std::vector<std::byte> shifted(expected.row.size() + 1);
    std::memcpy(shifted.data() + 1, expected.row.data(), expected.row.size());
    std::vector<float> out(expected.values.size());
    dequantize_row(expected.dtype, shifted.data() + 1, static_cast<int64_t>(out.size()), out.data());
    expect_same_bits(out, expected.values, expected.dtype);
  }
}

TEST(Dequantize, KnowsTheTypesThatHaveExpectationsAndNoOthers) {
  std::set<std::string_view> expected, known;
  for (const Expectation& expectation : read_expectations()) expected.insert(dtype_info(expectation.dtype).name);
  for (const DType dtype : kAllDTypes) {
    if (can_dequantize(dtype)) known.insert(dtype_info(dtype).name);
  }
  EXPECT_EQ(known, expected);
  EXPECT_EQ(expected.size(), 26U);
}

TEST(Half, SpecialValues) {
  EXPECT_EQ(f16_to_f32(0x3C00), 1.0F);
  EXPECT_EQ(f16_to_f32(0xC000), -2.0F);
  EXPECT_EQ(f16_to_f32(0x0001), 0x1p-24F);
  EXPECT_EQ(f16_to_f32(0x03FF), 1023 * 0x1p-24F);
  EXPECT_EQ(f16_to_f32(0x7BFF), 65504.0F);
  EXPECT_TRUE(std::signbit(f16_to_f32(0x8000)));
  EXPECT_EQ(f16_to_f32(0xFC00), -INFINITY);
  EXPECT_TRUE(std::isnan(f16_to_f32(0x7E00)));
  EXPECT_EQ(bf16_to_f32(0x3F80), 1.0F);
  EXPECT_EQ(bf16_to_f32(0xFF80), -INFINITY);
}

}  // namespace
}  // namespace vitro
